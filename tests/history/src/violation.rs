//! What must never be found, one variant each.

use crate::words::JobState;

/// Something that the rows say and that no run may leave behind.
///
/// Numbers of attempts, decisions and events are those within the report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(
    missing_docs,
    reason = "the message of each variant says what its data are"
)]
pub enum Violation {
    // What was promised.
    #[error("report {report}: acknowledged {times} times, and not there")]
    Lost { report: String, times: usize },
    #[error("report {report}: {rows} rows under one key")]
    ReportTwice { report: String, rows: usize },
    #[error("report {report}: {what} without the row that it belongs to")]
    Orphan { report: String, what: String },
    #[error("report {report}: one of {versions} current versions of the same thing")]
    CurrentVersions { report: String, versions: usize },
    #[error("report {report}: names no job of its own as its current one")]
    NoCurrentJob { report: String },

    // Grants.
    #[error("report {report}: attempts are numbered {numbers:?}")]
    AttemptNumbers { report: String, numbers: Vec<i64> },
    #[error("report {report}: attempt {attempt} has token {token} after token {before}")]
    TokenDidNotGrow {
        report: String,
        attempt: i64,
        token: i64,
        before: i64,
    },
    #[error("report {report}: its fence is {fence}, behind token {token} that was granted")]
    FenceBehind {
        report: String,
        fence: i64,
        token: i64,
    },
    #[error("report {report}: attempt {attempt} is open, and job {job} is not running under it")]
    OpenAttempt {
        report: String,
        attempt: i64,
        job: i64,
    },
    #[error("report {report}: job {job} is running without an open attempt")]
    NoOpenAttempt { report: String, job: i64 },
    #[error("report {report}: job {job} says {says} of its {counted}, which are {are}")]
    Miscounted {
        report: String,
        job: i64,
        counted: &'static str,
        says: i64,
        are: i64,
    },
    #[error("report {report}: job {job} has {charged} charged attempts of {allowed}")]
    TooManyCharged {
        report: String,
        job: i64,
        charged: i64,
        allowed: i64,
    },
    #[error("report {report}: job {job} was given back {given_back} attempts of {allowed}")]
    TooManyGivenBack {
        report: String,
        job: i64,
        given_back: i64,
        allowed: i64,
    },

    // Model calls.
    #[error("call {call_key}: asked {calls} times, and no grant is for that question")]
    CallWithoutGrant { call_key: String, calls: i64 },
    #[error("report {report}: {calls} calls {call_key} under {grants} grants that may have asked")]
    MoreCallsThanGrants {
        report: String,
        call_key: String,
        calls: i64,
        grants: i64,
    },

    // Commits.
    #[error("report {report}: {rows} results under the key {result}")]
    ResultKeyTwice {
        report: String,
        result: String,
        rows: usize,
    },
    #[error("report {report}: {rows} results of schema version {schema_version}")]
    SchemaVersionTwice {
        report: String,
        schema_version: String,
        rows: usize,
    },
    #[error("report {report}: {rows} current results")]
    CurrentTwice { report: String, rows: usize },
    #[error("report {report}: names {named:?} as its result, and {current:?} is current")]
    CurrentElsewhere {
        report: String,
        named: Option<String>,
        current: Option<String>,
    },
    #[error("report {report}: job {job} has its result, and none is current")]
    SettledWithoutResult { report: String, job: i64 },
    #[error("report {report}: attempt {attempt} was committed, and there is no result of it")]
    CommitWithoutResult { report: String, attempt: i64 },
    #[error(
        "report {report}: result {result} names attempt {attempt:?} under token {token}, \
             which committed no such thing"
    )]
    ResultOfNoCommit {
        report: String,
        result: String,
        attempt: Option<i64>,
        token: i64,
    },
    #[error("report {report}: result {result} has attempt {attempt} as candidate, which is none")]
    CandidateOfNoCommit {
        report: String,
        result: String,
        attempt: i64,
    },
    #[error("report {report}: result {result} has token {token}, and {newest} was committed")]
    StaleResult {
        report: String,
        result: String,
        token: i64,
        newest: i64,
    },
    #[error("report {report}: attempt {attempt} was committed after attempt {newer} was granted")]
    CommittedUnderOldToken {
        report: String,
        attempt: i64,
        newer: i64,
    },
    #[error(
        "report {report}: attempt {attempt} was committed, and attempt {next} of the same \
             job followed though nobody asked for it"
    )]
    WentOn {
        report: String,
        attempt: i64,
        next: i64,
    },
    #[error("report {report}: attempt {attempt} was committed, and job {job} is {state}")]
    ResultAndUnfinished {
        report: String,
        attempt: i64,
        job: i64,
        state: JobState,
    },

    // Findings.
    #[error("report {report}: {rows} findings under the key {finding}")]
    FindingTwice {
        report: String,
        finding: String,
        rows: usize,
    },
    #[error("report {report}: finding {finding} is of a result that is not there, or is no list")]
    FindingOfNoResult { report: String, finding: String },
    #[error("report {report}: finding {finding} is present, and not in the answer")]
    FindingNotListed { report: String, finding: String },
    #[error("report {report}: finding {finding} is withdrawn, and in the answer")]
    WithdrawnYetListed { report: String, finding: String },
    #[error("report {report}: {says} findings of result {result}, whose answer has no such list")]
    FindingsMissing {
        report: String,
        result: String,
        says: i64,
    },
    #[error("report {report}: finding {finding} came with attempt {attempt:?}, unlike its result")]
    FindingOfNoCommit {
        report: String,
        finding: String,
        attempt: Option<i64>,
    },
    #[error("report {report}: findings of result {result} are numbered {positions:?}")]
    FindingPositions {
        report: String,
        result: String,
        positions: Vec<i64>,
    },
    #[error("report {report}: findings of result {result} were withdrawn, and nobody was told")]
    WithdrawalUntold { report: String, result: String },
    #[error("report {report}: event {event} withdraws findings of a result that has none")]
    WithdrawalOfNothing { report: String, event: i64 },

    // Reviews.
    #[error("report {report}: has its result for good, and an open review item")]
    ResultAndOpenReview { report: String },
    #[error("report {report}: job {job} is ready for review, and no review item is open")]
    ReviewMissing { report: String, job: i64 },
    #[error("report {report}: a review item is open, and job {job} is {state}")]
    ReviewForNothing {
        report: String,
        job: i64,
        state: JobState,
    },
    #[error("report {report}: {items} open review items")]
    OpenReviews { report: String, items: usize },
    #[error("report {report}: a review item has revision {revision}")]
    Revision { report: String, revision: i64 },
    #[error("report {report}: decisions are numbered {numbers:?}")]
    DecisionNumbers { report: String, numbers: Vec<i64> },
    #[error("report {report}: decision {decision} names revision {revision}, which never was")]
    DecisionOnNothing {
        report: String,
        decision: i64,
        revision: i64,
    },

    // Events.
    #[error("report {report}: events are numbered {numbers:?}")]
    EventNumbers { report: String, numbers: Vec<i64> },
    #[error("report {report}: its acceptance was announced {times} times")]
    AcceptedAnnounced { report: String, times: usize },
    #[error("report {report}: result {result} was announced as final {times} times")]
    FinalTwice {
        report: String,
        result: String,
        times: usize,
    },
    #[error("report {report}: result {result} is final, and nobody was told")]
    FinalMissing { report: String, result: String },
    #[error("report {report}: event {event} announces a result that is not there")]
    FinalOfNothing { report: String, event: i64 },

    // Endings.
    #[error("report {report}: erased, and job {job} is {state}")]
    ErasedAndUnfinished {
        report: String,
        job: i64,
        state: JobState,
    },
    #[error("report {report}: job {job} is {state}, and everything should be finished")]
    Unfinished {
        report: String,
        job: i64,
        state: JobState,
    },
    #[error("report {report}: job {job} was set aside")]
    SetAside { report: String, job: i64 },
}

impl Violation {
    /// The report whose rows say it, where they are of one.
    #[must_use]
    pub fn report(&self) -> Option<&str> {
        match self {
            Self::CallWithoutGrant { .. } => None,
            Self::Lost { report, .. }
            | Self::ReportTwice { report, .. }
            | Self::Orphan { report, .. }
            | Self::CurrentVersions { report, .. }
            | Self::NoCurrentJob { report }
            | Self::AttemptNumbers { report, .. }
            | Self::TokenDidNotGrow { report, .. }
            | Self::FenceBehind { report, .. }
            | Self::OpenAttempt { report, .. }
            | Self::NoOpenAttempt { report, .. }
            | Self::Miscounted { report, .. }
            | Self::TooManyCharged { report, .. }
            | Self::TooManyGivenBack { report, .. }
            | Self::MoreCallsThanGrants { report, .. }
            | Self::ResultKeyTwice { report, .. }
            | Self::SchemaVersionTwice { report, .. }
            | Self::CurrentTwice { report, .. }
            | Self::CurrentElsewhere { report, .. }
            | Self::SettledWithoutResult { report, .. }
            | Self::CommitWithoutResult { report, .. }
            | Self::ResultOfNoCommit { report, .. }
            | Self::CandidateOfNoCommit { report, .. }
            | Self::StaleResult { report, .. }
            | Self::CommittedUnderOldToken { report, .. }
            | Self::WentOn { report, .. }
            | Self::ResultAndUnfinished { report, .. }
            | Self::FindingTwice { report, .. }
            | Self::FindingOfNoResult { report, .. }
            | Self::FindingNotListed { report, .. }
            | Self::WithdrawnYetListed { report, .. }
            | Self::FindingsMissing { report, .. }
            | Self::FindingOfNoCommit { report, .. }
            | Self::FindingPositions { report, .. }
            | Self::WithdrawalUntold { report, .. }
            | Self::WithdrawalOfNothing { report, .. }
            | Self::ResultAndOpenReview { report }
            | Self::ReviewMissing { report, .. }
            | Self::ReviewForNothing { report, .. }
            | Self::OpenReviews { report, .. }
            | Self::Revision { report, .. }
            | Self::DecisionNumbers { report, .. }
            | Self::DecisionOnNothing { report, .. }
            | Self::EventNumbers { report, .. }
            | Self::AcceptedAnnounced { report, .. }
            | Self::FinalTwice { report, .. }
            | Self::FinalMissing { report, .. }
            | Self::FinalOfNothing { report, .. }
            | Self::ErasedAndUnfinished { report, .. }
            | Self::Unfinished { report, .. }
            | Self::SetAside { report, .. } => Some(report),
        }
    }
}
