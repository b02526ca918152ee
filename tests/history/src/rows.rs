//! What a run left behind, as plain rows. Keys are 64 hexadecimal digits.

use crate::words::{
    AttemptOutcome, DecisionKind, Ending, EventKind, FindingStatus, JobState, ResultStatus,
    ReviewStatus,
};

/// Everything that is known of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// What clients were answered.
    pub acknowledgements: Vec<Acknowledgement>,
    /// What the model was asked.
    pub model_calls: Vec<ModelCall>,
    /// What the model answered. Only shown: a call without one was cut off, which is no fault.
    pub model_answers: Vec<ModelCall>,
    /// `report`.
    pub reports: Vec<Report>,
    /// `job`.
    pub jobs: Vec<Job>,
    /// `attempt`: one row per grant.
    pub attempts: Vec<Attempt>,
    /// `result`.
    pub results: Vec<ResultRow>,
    /// `finding`.
    pub findings: Vec<Finding>,
    /// `review`.
    pub reviews: Vec<Review>,
    /// `decision`.
    pub decisions: Vec<Decision>,
    /// `outbox`.
    pub events: Vec<Event>,
}

/// An answer that a client got for a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The report key that the answer named.
    pub key: String,
    /// The HTTP status. Only a 2xx is a promise.
    pub status: u16,
    /// When, by the client's clock.
    pub at_ms: i64,
}

impl Acknowledgement {
    /// Whether the answer promised that the report is stored.
    #[must_use]
    pub const fn is_promise(&self) -> bool {
        matches!(self.status, 200..=299)
    }
}

/// A question that reached a model, or its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// The call key that came with it.
    pub call_key: String,
    /// When, by the model's clock.
    pub at_ms: i64,
}

/// A row of `report`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `report_key`.
    pub key: String,
    /// The token that was granted last.
    pub fence: i64,
    /// The job whose state is the report's.
    pub current_job: Option<i64>,
    /// The key of the one canonical result.
    pub current_result: Option<String>,
    /// What it is a version of: tenant, namespace and report id.
    pub thing: [String; 3],
    /// Whether it is the current version, where versions have an order.
    pub is_current: Option<bool>,
    /// When it was stored.
    pub received_ms: i64,
}

/// A row of `job`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// `job_id`.
    pub id: i64,
    /// `report_key`.
    pub report: String,
    /// Where it stands.
    pub state: JobState,
    /// `outcome`, where it came to rest.
    pub ending: Option<Ending>,
    /// The token of its last grant.
    pub token: Option<i64>,
    /// How often it was granted.
    pub grants: i64,
    /// How many grants were charged when they were made.
    pub charged: i64,
    /// How many of those were given back.
    pub given_back: i64,
    /// How many budgets of attempts it has had.
    pub rounds: i64,
    /// Why no worker takes it, if none does.
    pub set_aside: Option<String>,
}

impl Job {
    /// Whether it came to rest like this.
    #[must_use]
    pub fn ended(&self, ending: Ending) -> bool {
        self.state == JobState::Terminal && self.ending == Some(ending)
    }
}

/// A row of `attempt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// `report_key`.
    pub report: String,
    /// Its number within the report.
    pub number: i64,
    /// The job that was granted.
    pub job: i64,
    /// Whether it counts; false once it was given back.
    pub charged: bool,
    /// Its fencing token.
    pub token: i64,
    /// What it was asked with.
    pub classifier_version: String,
    /// What its answer had to fit.
    pub schema_version: String,
    /// When it was granted.
    pub started_ms: i64,
    /// When it ended, if it did.
    pub ended_ms: Option<i64>,
    /// How it ended, if it did.
    pub outcome: Option<AttemptOutcome>,
}

impl Attempt {
    /// Whether its answer was committed.
    #[must_use]
    pub fn committed(&self) -> bool {
        self.outcome == Some(AttemptOutcome::Committed)
    }
}

/// A row of `result`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultRow {
    /// `result_key`.
    pub key: String,
    /// `report_key`.
    pub report: String,
    /// What the value fits.
    pub schema_version: String,
    /// The answer; none where it was erased.
    pub value: Option<String>,
    /// Whether it lists findings.
    pub is_list: bool,
    /// The token that it was committed under.
    pub token: i64,
    /// The attempt that it came from; none where a person put a value and no model had.
    pub attempt: Option<i64>,
    /// The attempt of a later answer that did not replace what a person decided.
    pub candidate_attempt: Option<i64>,
    /// Whether it is the canonical one.
    pub status: ResultStatus,
    /// When it was written last.
    pub updated_ms: i64,
}

/// A row of `finding`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `finding_key`.
    pub key: String,
    /// `report_key`.
    pub report: String,
    /// The result that lists it, or did.
    pub result: String,
    /// Its number within the answer that listed it last.
    pub position: i64,
    /// What it says.
    pub value: String,
    /// How many more of the answer had its key.
    pub collapsed: i64,
    /// Whether the result lists it.
    pub status: FindingStatus,
    /// The attempt whose answer listed it last; none where a person did.
    pub attempt: Option<i64>,
}

/// A row of `review`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// `report_key`.
    pub report: String,
    /// How often it was opened.
    pub revision: i64,
    /// Whether somebody has to decide.
    pub status: ReviewStatus,
    /// When it was opened last.
    pub opened_ms: i64,
    /// When it was closed, if it is.
    pub closed_ms: Option<i64>,
}

/// A row of `decision`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// `report_key`.
    pub report: String,
    /// Its number within the report.
    pub number: i64,
    /// The revision of the review item that the person saw.
    pub revision_seen: i64,
    /// What was decided.
    pub kind: DecisionKind,
    /// When.
    pub decided_ms: i64,
}

/// A row of `outbox`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `report_key`.
    pub report: String,
    /// Its number within the report.
    pub sequence: i64,
    /// What it tells.
    pub kind: EventKind,
    /// The result that it tells of.
    pub result: Option<String>,
    /// When it was written.
    pub created_ms: i64,
}
