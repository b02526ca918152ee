//! `POST /v1/reports`: the ingress fence, as the edge sees it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    Json,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use fencepost_identity::{
    config::{InputForm, Source},
    envelope::{
        EdgeSecret, Envelope, EnvelopeError, HEADER_KEY_ID, HEADER_SIGNATURE, HEADER_TIME, Seal,
        SealError, bytes_max, open,
    },
    key::ReportKey,
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Serialize;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use super::problem::Problem;
use crate::{
    clock::UnixMillis,
    store::{Content, Ingested, NewInput, NewReport, Store, StoreError},
};

/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of a body that is refused is still read and dropped. A sender that is cut off while it
/// writes sees a broken connection instead of the answer.
const DISCARDED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How much the ingest listener takes at once.
#[derive(Clone, Copy, Debug)]
pub struct IngestLimits {
    /// The most bytes of an envelope.
    pub envelope_bytes_max: usize,
    /// The most reports that are read and written at once; beyond it a sender is told to wait.
    pub in_flight_max: usize,
}

impl IngestLimits {
    /// Limits for deliveries of up to `body_bytes_max`.
    #[must_use]
    pub const fn for_bodies(body_bytes_max: usize) -> Self {
        Self {
            envelope_bytes_max: bytes_max(body_bytes_max),
            in_flight_max: 256,
        }
    }
}

/// What the ingest listener works with.
pub struct IngestParts {
    /// Where reports are written.
    pub store: Arc<dyn Store>,
    /// The live secrets of the edge.
    pub secrets: Vec<EdgeSecret>,
    /// The sources.
    pub sources: BTreeMap<String, Arrival>,
    /// This machine's clock, against which the edge's is held.
    pub clock: fn() -> UnixMillis,
    /// Told once for each report that is stored.
    pub wake: Arc<Notify>,
    /// How much is taken at once.
    pub limits: IngestLimits,
}

/// How the reports of a source arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The pipeline that they go to.
    pub pipeline: String,
    /// What their envelopes carry.
    pub carries: Carries,
}

/// What an envelope carries of a report's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// The whole input.
    Input,
    /// Nothing: it is fetched.
    Reference,
}

impl From<&Source> for Arrival {
    fn from(source: &Source) -> Self {
        Self {
            pipeline: source.pipeline.clone(),
            carries: match source.input {
                InputForm::Forwarded(_) => Carries::Input,
                InputForm::Reference(_) => Carries::Reference,
            },
        }
    }
}

/// The ingest listener's side of the ingress fence.
pub struct IngestApi {
    parts: IngestParts,
    slots: Arc<Semaphore>,
}

impl std::fmt::Debug for IngestApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IngestApi")
            .field("limits", &self.parts.limits)
            .finish_non_exhaustive()
    }
}

impl IngestApi {
    /// Nothing is under way yet.
    #[must_use]
    pub fn new(parts: IngestParts) -> Self {
        let slots = Arc::new(Semaphore::new(parts.limits.in_flight_max));
        Self { parts, slots }
    }

    fn open(&self, headers: &HeaderMap, body: &[u8]) -> Result<Envelope, Problem> {
        let seal = Seal {
            time: single(headers, HEADER_TIME)?,
            key_id: single(headers, HEADER_KEY_ID)?,
            signature: single(headers, HEADER_SIGNATURE)?,
        };
        let now = u64::try_from((self.parts.clock)().get() / 1000).unwrap_or(0);
        open(&self.parts.secrets, seal, now, body).map_err(|error| {
            tracing::warn!(%error, body.bytes = body.len(), "Refused an envelope: {error}");
            Problem::from(error)
        })
    }

    /// Writes the report in a task of its own: when the edge hangs up, the report is stored or it
    /// is not, and nothing in between.
    async fn store(
        &self,
        envelope: Envelope,
        slot: OwnedSemaphorePermit,
    ) -> Result<Receipt, Problem> {
        let Some(arrival) = self.parts.sources.get(&envelope.source) else {
            tracing::error!("Refused an envelope: its source is not in this configuration");
            return Err(Problem::UnknownSource);
        };
        let carries = match envelope.input {
            Some(_) => Carries::Input,
            None => Carries::Reference,
        };
        if carries != arrival.carries {
            tracing::error!(
                source.name = envelope.source,
                "Refused an envelope: the edge and this configuration differ in whether its source \
                 forwards the content"
            );
            return Err(Problem::InputForm);
        }
        let source = envelope.source.clone();
        let report = NewReport {
            input: envelope.input.map(NewInput::from),
            identity: envelope.identity,
            links: envelope.links,
            source: envelope.source,
            mapping_digest: envelope.mapping_digest,
            order: envelope.order,
            pipeline: arrival.pipeline.clone(),
        };
        let store = Arc::clone(&self.parts.store);
        let wake = Arc::clone(&self.parts.wake);
        let task = tokio::spawn(async move {
            let ingested = store.ingest(report).await;
            drop(slot);
            if let Ok(Ingested::Accepted { .. }) = ingested {
                wake.notify_one();
            }
            ingested
        });
        match task.await {
            Ok(Ok(ingested)) => receipt(&source, ingested),
            Ok(Err(error)) => {
                tracing::error!(source.name = source, %error, "Did not store a report: {error}");
                Err(match error {
                    StoreError::Busy => Problem::Busy,
                    StoreError::Full
                    | StoreError::Unavailable(_)
                    | StoreError::Corrupt(_)
                    | StoreError::Contradiction(_)
                    | StoreError::Damaged
                    | StoreError::NewerSchema { .. }
                    | StoreError::Foreign
                    | StoreError::Url
                    | StoreError::Refused(_)
                    | StoreError::Pooler
                    | StoreError::Forgetful
                    | StoreError::NotHere(_)
                    | StoreError::Fault(_) => Problem::NotStored,
                })
            }
            Err(error) => {
                tracing::error!(%error, "A defect: the task that stores a report ended early");
                Err(Problem::Internal)
            }
        }
    }
}

fn receipt(source: &str, ingested: Ingested) -> Result<Receipt, Problem> {
    match ingested {
        Ingested::Accepted { key, state } => {
            tracing::debug!(report.key = %key, source.name = source, "Accepted report {key}");
            let state = state.as_str();
            Ok(Receipt {
                report_key: key,
                state,
                duplicate: false,
                conflict: None,
            })
        }
        Ingested::Duplicate {
            key,
            state,
            content,
        } => {
            let conflict = match content {
                Content::Same => None,
                Content::Conflict { seen } => {
                    tracing::warn!(
                        report.key = %key, source.name = source, conflict.seen = seen,
                        "Report {key} came again with another content; the first one stays"
                    );
                    Some(true)
                }
            };
            Ok(Receipt {
                report_key: key,
                state: state.as_str(),
                duplicate: true,
                conflict,
            })
        }
        Ingested::MappingChanged { bound } => {
            tracing::error!(
                source.name = source, mapping.bound = %bound,
                "The mapping of source `{source}` is not the one that it is bound to"
            );
            Err(Problem::MappingChanged)
        }
    }
}

/// What the edge passes on to the sender.
#[derive(Serialize)]
struct Receipt {
    report_key: ReportKey,
    state: &'static str,
    duplicate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict: Option<bool>,
}

impl IntoResponse for Receipt {
    fn into_response(self) -> Response {
        let status = if self.duplicate {
            StatusCode::OK
        } else {
            StatusCode::ACCEPTED
        };
        (status, Json(self)).into_response()
    }
}

/// The value of a header that stands exactly once.
fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<&'h str, Problem> {
    let mut values = headers.get_all(name).iter();
    match (values.next().map(HeaderValue::to_str), values.next()) {
        (Some(Ok(value)), None) => Ok(value),
        (Some(_) | None, _) => Err(Problem::Unauthorized),
    }
}

impl From<SealError> for Problem {
    fn from(error: SealError) -> Self {
        match error {
            SealError::Unauthorized => Self::Unauthorized,
            SealError::Stale { .. } => Self::StaleEnvelope,
            SealError::Envelope(EnvelopeError::KeyMismatch) => Self::KeyMismatch,
            SealError::Envelope(EnvelopeError::HashMismatch) => Self::HashMismatch,
            SealError::Envelope(
                EnvelopeError::Unreadable(_)
                | EnvelopeError::Malformed(_)
                | EnvelopeError::UnknownMember(_)
                | EnvelopeError::Identity(_),
            ) => Self::BadEnvelope,
        }
    }
}

/// Takes one report in.
pub(super) async fn post(State(api): State<Arc<IngestApi>>, request: Request) -> Response {
    match take_in(&api, request).await {
        Ok(receipt) => receipt.into_response(),
        Err(problem) => problem.into_response(),
    }
}

async fn take_in(api: &IngestApi, request: Request) -> Result<Receipt, Problem> {
    let slot = Arc::clone(&api.slots)
        .try_acquire_owned()
        .map_err(|_| Problem::Busy)?;
    let (parts, body) = request.into_parts();
    let body = read(&parts.headers, body, api.parts.limits.envelope_bytes_max).await?;
    let envelope = api.open(&parts.headers, &body)?;
    api.store(envelope, slot).await
}

/// Reads a bounded body in a bounded time.
async fn read(headers: &HeaderMap, mut body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    let deadline = Instant::now() + BODY_TIMEOUT;
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    let length = length.and_then(|length| length.parse::<usize>().ok());
    if length.is_none_or(|length| length <= bytes_max) {
        let read = Limited::new(&mut body, bytes_max).collect();
        match timeout_at(deadline, read).await {
            Ok(Ok(body)) => return Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {}
            Ok(Err(_)) => return Err(Problem::BadEnvelope),
            Err(_) => return Err(Problem::RequestTimeout),
        }
    }
    // A sender that asks before it sends has sent nothing: reading would tell it to go on.
    if !headers.contains_key(header::EXPECT) {
        drop(timeout_at(deadline, discard(body)).await);
    }
    Err(Problem::TooLarge { bytes_max })
}

/// Reads what is left of a body that is refused, up to a bound.
async fn discard(mut body: Body) {
    let mut discarded = 0_usize;
    while discarded < DISCARDED_BYTES_MAX {
        let Some(Ok(frame)) = body.frame().await else {
            return;
        };
        discarded = discarded.saturating_add(frame.data_ref().map_or(0, Bytes::len));
    }
}
