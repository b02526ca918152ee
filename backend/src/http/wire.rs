//! The documents that reports, attempts and counts are shown as: by the API, and by the command
//! line's `--json`. Keys are 64 hexadecimal digits, numbers that may pass 2^53 are strings, times
//! are RFC 3339 in UTC.

mod findings;
mod people;
mod replay;
mod stats;

use std::collections::BTreeMap;

use fencepost_identity::{
    identity::{Identity, Version},
    key::{CallKey, ContentHash, ReportKey, ResultKey},
};
use serde::Serialize;
use serde_json::value::RawValue;

pub use self::{
    findings::{FindingWire, FindingsWire},
    people::{DecidedWire, OpenReviewWire, ReviewPageWire},
    replay::{ReplayWire, ReplayWord, verdict_word},
    stats::{PauseWire, StatsWire, SubjectWire},
};
use crate::{
    clock::UnixMillis,
    report::{
        AttemptNumber, AttemptOutcome, FencingToken, InputOrigin, Outcome, ReviewReason,
        VersionStatus, WorkerId,
    },
    store::{
        AttemptView, CallRecord, Page, ReportSummary, ReportView, ResultView, ReviewStatus,
        ReviewView,
    },
};

/// An identity; unlike where it is read, a revision is a string.
#[derive(Debug, Serialize)]
pub struct IdentityWire {
    tenant: String,
    namespace: String,
    report_id: String,
    version: VersionWire,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum VersionWire {
    Revision(String),
    Content(ContentHash),
    Event,
}

impl From<Identity> for IdentityWire {
    fn from(identity: Identity) -> Self {
        Self {
            tenant: identity.tenant.to_string(),
            namespace: identity.namespace.to_string(),
            report_id: identity.report_id.to_string(),
            version: match identity.version {
                Version::Revision(revision) => VersionWire::Revision(revision.get().to_string()),
                Version::Content(hash) => VersionWire::Content(hash),
                Version::Event => VersionWire::Event,
            },
        }
    }
}

/// A report in a list.
#[derive(Debug, Serialize)]
pub struct SummaryWire {
    report_key: ReportKey,
    /// Null once it is erased.
    identity: Option<IdentityWire>,
    state: &'static str,
    outcome: Option<Outcome>,
    source: String,
    pipeline: String,
    received_at: UnixMillis,
    updated_at: UnixMillis,
    attempt_count: String,
    charged_count: String,
}

impl From<ReportSummary> for SummaryWire {
    fn from(summary: ReportSummary) -> Self {
        Self {
            report_key: summary.key,
            identity: summary.identity.map(IdentityWire::from),
            state: summary.state.as_str(),
            outcome: summary.state.outcome(),
            source: summary.source,
            pipeline: summary.pipeline,
            received_at: summary.received,
            updated_at: summary.updated,
            attempt_count: summary.attempts.to_string(),
            charged_count: summary.charged.to_string(),
        }
    }
}

/// A report with all that hangs on it but its input and its attempts.
#[derive(Debug, Serialize)]
pub struct ReportWire {
    #[serde(flatten)]
    summary: SummaryWire,
    /// What its job is bound to; the schema's version stands in the result.
    classifier_version: Option<String>,
    token: FencingToken,
    order: Option<String>,
    /// `forwarded`, `reference` while it is not fetched yet, or `fetched`.
    input_from: InputOrigin,
    /// `current` or `superseded`; null where versions have no order.
    version_status: Option<VersionStatus>,
    links: BTreeMap<String, String>,
    result: Option<ResultWire>,
    /// For pipelines whose result is a list of them.
    #[serde(flatten)]
    findings: FindingsWire,
    review: Option<ReviewWire>,
    conflict_count: String,
}

impl From<ReportView> for ReportWire {
    fn from(report: ReportView) -> Self {
        Self {
            summary: report.summary.into(),
            classifier_version: report.classifier_version,
            token: report.token,
            order: report.order,
            input_from: report.input_from,
            version_status: report.version_status,
            links: report.links.into_iter().collect(),
            result: report.result.map(ResultWire::from),
            findings: report.findings.map(FindingsWire::from).unwrap_or_default(),
            review: report.review.map(ReviewWire::from),
            conflict_count: report.conflicts.to_string(),
        }
    }
}

/// The canonical result.
#[derive(Debug, Serialize)]
pub struct ResultWire {
    result_key: ResultKey,
    schema_version: String,
    /// As it was committed, digit for digit; null where it can't be read.
    value: Option<Box<RawValue>>,
    /// Null where a person wrote it and no machine had one before.
    attempt: Option<AttemptNumber>,
    /// What a machine found after a person had decided; it replaces nothing.
    candidate: Option<Box<RawValue>>,
    created_at: UnixMillis,
}

impl From<ResultView> for ResultWire {
    fn from(result: ResultView) -> Self {
        Self {
            result_key: result.key,
            schema_version: result.schema_version,
            value: RawValue::from_string(result.value).ok(),
            attempt: result.attempt,
            candidate: result
                .candidate
                .and_then(|value| RawValue::from_string(value).ok()),
            created_at: result.created,
        }
    }
}

/// The review item.
#[derive(Debug, Serialize)]
pub struct ReviewWire {
    revision: String,
    status: ReviewStatus,
    reason: ReviewReason,
    note: Option<String>,
    opened_at: UnixMillis,
    closed_at: Option<UnixMillis>,
}

impl From<ReviewView> for ReviewWire {
    fn from(review: ReviewView) -> Self {
        Self {
            revision: review.revision.to_string(),
            status: review.status,
            reason: review.reason,
            note: review.note,
            opened_at: review.opened,
            closed_at: review.closed,
        }
    }
}

/// An attempt.
#[derive(Debug, Serialize)]
pub struct AttemptWire {
    number: AttemptNumber,
    charged: bool,
    outcome: Option<AttemptOutcome>,
    reason: Option<String>,
    started_at: UnixMillis,
    ended_at: Option<UnixMillis>,
    worker: WorkerId,
    token: FencingToken,
    classifier_version: String,
    schema_version: String,
    call: Option<CallWire>,
    call_key: Option<CallKey>,
    verdict: Option<AttemptOutcome>,
    /// The answer as it came, where it is kept; U+FFFD for what is not UTF-8.
    raw: Option<String>,
    /// When the answer was emptied, having been kept as long as its pipeline says.
    raw_emptied_at: Option<UnixMillis>,
}

#[derive(Debug, Serialize)]
struct CallWire {
    provider: String,
    model: String,
    request_id: Option<String>,
    tokens_in: Option<String>,
    tokens_out: Option<String>,
    /// Milliseconds, whatever came of the call.
    latency_ms: Option<u64>,
}

impl From<AttemptView> for AttemptWire {
    fn from(attempt: AttemptView) -> Self {
        Self {
            number: attempt.number,
            charged: attempt.charged,
            outcome: attempt.outcome,
            reason: attempt.reason,
            started_at: attempt.started,
            ended_at: attempt.ended,
            worker: attempt.worker,
            token: attempt.token,
            classifier_version: attempt.classifier_version,
            schema_version: attempt.schema_version,
            call: attempt.call.map(CallWire::from),
            call_key: attempt.call_key,
            verdict: attempt.verdict,
            raw: attempt
                .raw
                .map(|raw| String::from_utf8_lossy(&raw).into_owned()),
            raw_emptied_at: attempt.raw_emptied,
        }
    }
}

impl From<CallRecord> for CallWire {
    fn from(call: CallRecord) -> Self {
        Self {
            provider: call.provider,
            model: call.model,
            request_id: call.request_id,
            tokens_in: call.tokens_in.map(|tokens| tokens.to_string()),
            tokens_out: call.tokens_out.map(|tokens| tokens.to_string()),
            latency_ms: call.latency_ms,
        }
    }
}

/// All attempts on a report, the first one first.
#[derive(Debug, Serialize)]
pub struct AttemptsWire {
    attempts: Vec<AttemptWire>,
}

impl From<Vec<AttemptView>> for AttemptsWire {
    fn from(attempts: Vec<AttemptView>) -> Self {
        Self {
            attempts: attempts.into_iter().map(AttemptWire::from).collect(),
        }
    }
}

/// A page of reports, the newest first.
#[derive(Debug, Serialize)]
pub struct PageWire {
    reports: Vec<SummaryWire>,
    /// Rows that can't be understood: table, column and key.
    unreadable: Vec<String>,
    /// What `cursor` is for the next page; null on the last one.
    next: Option<String>,
}

impl From<Page> for PageWire {
    fn from(page: Page) -> Self {
        Self {
            reports: page.reports.into_iter().map(SummaryWire::from).collect(),
            unreadable: page.unreadable.iter().map(ToString::to_string).collect(),
            next: page.next.map(|cursor| cursor.to_string()),
        }
    }
}
