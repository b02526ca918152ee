//! `GET /v1/reviews`, `POST /v1/reviews/{key}/decision` and `POST /v1/reports/{key}/replay`: what
//! people do.

use std::sync::Arc;

use axum::{
    Extension, Json,
    body::Bytes,
    extract::{
        Path, Query, State,
        rejection::{BytesRejection, QueryRejection},
    },
    http::StatusCode,
};
use fencepost_identity::key::ReportKey;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    auth::Actor,
    problem::Problem,
    reports::{AdminApi, key_of, page_length, parse, unreadable},
    wire::{DecidedWire, ReplayWire, ReplayWord, ReviewPageWire},
};
use crate::{
    findings::Unfit,
    judge::{Kind, Unacceptable},
    replay::{self, Replay},
    report::{self, InputOrigin},
    schema::ANSWER_BYTES_MAX,
    store::{Correction, Cursor, Decided, Decision, DecisionKind, Replayed},
};

/// The most bytes of a decision: a value may be written with escapes.
pub(super) const DECISION_BYTES_MAX: usize = 4 * ANSWER_BYTES_MAX;
/// The most bytes of a reason.
const WHY_BYTES_MAX: usize = 2_000;

/// `?cursor=&limit=`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    cursor: Option<String>,
    limit: Option<String>,
}

/// A page of the reports that wait for a person, the one that waits longest first.
pub(super) async fn list(
    State(api): State<Arc<AdminApi>>,
    parameters: Result<Query<Parameters>, QueryRejection>,
) -> Result<Json<ReviewPageWire>, Problem> {
    let Query(parameters) = parameters.map_err(|_| Problem::BadParameter {
        name: "query",
        expected: "made of cursor and limit, each once",
    })?;
    let cursor = parse::<Cursor>(parameters.cursor, "cursor", "the `next` of another page")?;
    let limit = page_length(parameters.limit)?;
    let page = api.store.reviews(cursor, limit).await.map_err(unreadable)?;
    Ok(Json(page.into()))
}

/// What a reviewer sends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionWire<'a> {
    decision: Word,
    revision: Revision,
    why: String,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Accept,
    Correct,
    Dismiss,
    Retry,
}

/// As the review item spells it, or as a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Revision {
    Number(u64),
    Text(String),
}

impl Revision {
    fn get(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Text(text) => text.parse().ok(),
        }
    }
}

/// Decides about a report.
pub(super) async fn decide(
    State(api): State<Arc<AdminApi>>,
    Extension(actor): Extension<Actor>,
    Path(key): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<DecidedWire>, Problem> {
    let key = key_of(&key)?;
    let body = body.map_err(refused)?;
    let malformed = Problem::BadParameter {
        name: "body",
        expected: "an object of decision (accept, correct, dismiss or retry), revision, why and, \
                   to correct, value",
    };
    let Ok(wire) = serde_json::from_slice::<DecisionWire<'_>>(&body) else {
        return Err(malformed);
    };
    if wire.why.trim().is_empty() || wire.why.len() > WHY_BYTES_MAX {
        return Err(Problem::BadParameter {
            name: "why",
            expected: "a reason of 1 to 2,000 bytes",
        });
    }
    let revision = wire.revision.get().ok_or(Problem::BadParameter {
        name: "revision",
        expected: "the revision of a review item",
    })?;
    let kind = match (wire.decision, wire.value) {
        (Word::Accept, None) => DecisionKind::Accept,
        (Word::Dismiss, None) => DecisionKind::Dismiss,
        (Word::Retry, None) => DecisionKind::Retry,
        (Word::Correct, Some(value)) => correction(&api, key, value).await?,
        (Word::Accept | Word::Dismiss | Word::Retry, Some(_)) | (Word::Correct, None) => {
            return Err(malformed);
        }
    };
    let decision = Decision {
        revision_seen: revision,
        who: actor.name().to_owned(),
        why: wire.why,
        kind,
    };
    match api.store.decide(key, decision).await.map_err(unreadable)? {
        Decided::Decided { state } => Ok(Json(DecidedWire::new(key, state))),
        Decided::Stale { revision } => Err(Problem::StaleRevision { revision }),
        Decided::NotInReview { state } => Err(Problem::NotInReview { state }),
        Decided::NothingToAccept => Err(Problem::NothingToAccept),
        Decided::OtherSchema => Err(Problem::OtherSchema),
        Decided::Unknown => Err(Problem::UnknownReport),
    }
}

/// A value that fits the schema of the report's pipeline, and whose findings fit the report.
async fn correction(
    api: &AdminApi,
    key: ReportKey,
    value: &RawValue,
) -> Result<DecisionKind, Problem> {
    let report = api.store.report(key).await.map_err(unreadable)?;
    let report = report.ok_or(Problem::UnknownReport)?;
    let judged = api.pipeline(&report.summary.pipeline)?;
    let input = match &judged.judge.kind {
        Kind::Classification => Vec::new(),
        Kind::Findings(_) => {
            let input = api.store.input(key).await.map_err(unreadable)?;
            match (input, report.input_from) {
                (Some(input), _) => input,
                // There is nothing that a finding could be held to; a list without any needs none.
                (None, InputOrigin::Reference) => Vec::new(),
                (None, InputOrigin::Forwarded | InputOrigin::Fetched) => {
                    return Err(Problem::Erased);
                }
            }
        }
    };
    let valid = judged.judge.correct(value.get(), &input);
    let valid = valid.map_err(|why| match (&why, report.input_from) {
        (Unacceptable::Findings(Unfit::Input(_)), InputOrigin::Reference) => Problem::NotFetched,
        // It names places and rules, and nothing of the value.
        (Unacceptable::Schema(_) | Unacceptable::Findings(_), _) => {
            Problem::InvalidValue(why.to_string())
        }
    })?;
    Ok(DecisionKind::Correct(Correction {
        value: valid.value,
        findings: valid.findings,
        schema_version: judged.schema_version.clone(),
        schema_digest: judged.schema_digest,
    }))
}

fn refused(rejection: BytesRejection) -> Problem {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        Problem::TooLarge {
            bytes_max: DECISION_BYTES_MAX,
        }
    } else {
        Problem::BadParameter {
            name: "body",
            expected: "complete",
        }
    }
}

/// Judges a report's last answer again; or has the report judged under the version that its
/// pipeline has now, if it never was. There is one job per version, so that the same request, with
/// an `Idempotency-Key` or without, makes no second one.
pub(super) async fn replay(
    State(api): State<Arc<AdminApi>>,
    Extension(actor): Extension<Actor>,
    Path(key): Path<String>,
) -> Result<(StatusCode, Json<ReplayWire>), Problem> {
    let key = key_of(&key)?;
    let report = api.store.report(key).await.map_err(unreadable)?;
    let report = report.ok_or(Problem::UnknownReport)?;
    let judged = api.pipeline(&report.summary.pipeline)?;
    let who = actor.name().to_owned();
    let replayed = replay::replay(&*api.store, report, judged.present(), who).await;
    let version = judged.classifier_version.clone();
    let document = |word, state| Json(ReplayWire::new(key, version.clone(), word, state));
    let accepted = report::State::Accepted;
    Ok(match replayed.map_err(unreadable)? {
        Replay::Judged(again) => {
            let schema_version = &judged.schema_version;
            let document = ReplayWire::judged(key, version, *again, schema_version);
            (StatusCode::OK, Json(document))
        }
        Replay::Job(Replayed::Made) => (StatusCode::ACCEPTED, document(ReplayWord::Made, accepted)),
        Replay::Job(Replayed::Already { state }) => {
            (StatusCode::OK, document(ReplayWord::Already, state))
        }
        Replay::Job(Replayed::Pending) => (StatusCode::OK, document(ReplayWord::Pending, accepted)),
        Replay::NothingKept { emptied } => return Err(Problem::NoAnswerKept { emptied }),
        Replay::Job(Replayed::Erased) => return Err(Problem::Erased),
        Replay::Job(Replayed::Superseded) => return Err(Problem::Outdated),
        Replay::Job(Replayed::Unknown) => return Err(Problem::UnknownReport),
    })
}
