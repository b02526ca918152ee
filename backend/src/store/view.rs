//! What people are shown.

mod findings;

use std::{fmt, str::FromStr};

use fencepost_identity::{
    identity::Identity,
    key::{CallKey, ReportKey, ResultKey},
};

pub use self::findings::{FindingStatus, FindingView, FindingsView, Since};
use super::{CallRecord, Corruption, Pause};
use crate::{
    clock::UnixMillis,
    report::{
        AttemptNumber, AttemptOutcome, FencingToken, InputOrigin, ReviewReason, State, StateWord,
        VersionStatus, WorkerId, words,
    },
};

/// A report with all that hangs on it but its input and its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportView {
    /// What a list shows too.
    pub summary: ReportSummary,
    /// Where its input comes from, and whether it is there.
    pub input_from: InputOrigin,
    /// For people: name and address.
    pub links: Vec<(String, String)>,
    /// What tells which version is current.
    pub order: Option<String>,
    /// Which of the versions it is; none where they have no order.
    pub version_status: Option<VersionStatus>,
    /// The version that its job is bound to, since the first grant.
    pub classifier_version: Option<String>,
    /// The token of the last grant; 0 before the first.
    pub token: FencingToken,
    /// The one canonical result.
    pub result: Option<ResultView>,
    /// What that one lists, where it is a list.
    pub findings: Option<FindingsView>,
    /// The one review item.
    pub review: Option<ReviewView>,
    /// How many other contents came under the same identity.
    pub conflicts: u64,
}

/// A line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportSummary {
    /// Its key.
    pub key: ReportKey,
    /// What it is; none once it is erased.
    pub identity: Option<Identity>,
    /// Its state.
    pub state: State,
    /// The source that it came from.
    pub source: String,
    /// The pipeline that it is for.
    pub pipeline: String,
    /// When it was stored.
    pub received: UnixMillis,
    /// When its state last changed.
    pub updated: UnixMillis,
    /// How many attempts there were.
    pub attempts: u64,
    /// How many of them count.
    pub charged: u64,
}

/// A result.
#[derive(Clone, PartialEq, Eq)]
pub struct ResultView {
    /// Its key.
    pub key: ResultKey,
    /// The schema that it fits.
    pub schema_version: String,
    /// Canonical JSON.
    pub value: String,
    /// The attempt that brought it; none where a person wrote it and no machine had one before.
    pub attempt: Option<AttemptNumber>,
    /// What a machine found after a person had decided: canonical JSON.
    pub candidate: Option<String>,
    /// When it was committed first.
    pub created: UnixMillis,
}

impl fmt::Debug for ResultView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResultView")
            .field("key", &self.key)
            .field("schema_version", &self.schema_version)
            .finish_non_exhaustive()
    }
}

/// A review item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewView {
    /// Raised at each new need; decisions name the one that they saw.
    pub revision: u64,
    /// Whether a person is asked now.
    pub status: ReviewStatus,
    /// Why.
    pub reason: ReviewReason,
    /// More of it.
    pub note: Option<String>,
    /// When it was opened, the last time.
    pub opened: UnixMillis,
    /// When it was closed.
    pub closed: Option<UnixMillis>,
}

words! {
    /// Whether a person is asked.
    ReviewStatus {
        /// Yes.
        Open = "open",
        /// No longer.
        Closed = "closed",
    }
}

/// An attempt.
#[derive(Clone, PartialEq, Eq)]
pub struct AttemptView {
    /// Its number within the report.
    pub number: AttemptNumber,
    /// Whether it counts.
    pub charged: bool,
    /// Who made it.
    pub worker: WorkerId,
    /// The token that it was granted with.
    pub token: FencingToken,
    /// The version that it asked with.
    pub classifier_version: String,
    /// The version that it was judged by.
    pub schema_version: String,
    /// The call, where one is known of.
    pub call: Option<CallRecord>,
    /// The key of the question that the raw answer answers.
    pub call_key: Option<CallKey>,
    /// When it was granted.
    pub started: UnixMillis,
    /// When it ended; not yet, for a running one.
    pub ended: Option<UnixMillis>,
    /// How it ended.
    pub outcome: Option<AttemptOutcome>,
    /// More of it.
    pub reason: Option<String>,
    /// The answer as it came, where it is kept.
    pub raw: Option<Vec<u8>>,
    /// When the answer was emptied, having been kept long enough.
    pub raw_emptied: Option<UnixMillis>,
    /// The verdict on that answer, maybe by a later attempt.
    pub verdict: Option<AttemptOutcome>,
}

impl fmt::Debug for AttemptView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptView")
            .field("number", &self.number)
            .field("charged", &self.charged)
            .field("outcome", &self.outcome)
            .field("token", &self.token)
            .field("raw_bytes", &self.raw.as_ref().map(Vec::len))
            .field("raw_emptied", &self.raw_emptied)
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}

/// Which reports a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those in this state.
    pub state: Option<StateWord>,
    /// Only those of this tenant.
    pub tenant: Option<String>,
    /// Only those of this pipeline.
    pub pipeline: Option<String>,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The reports, the newest first.
    pub reports: Vec<ReportSummary>,
    /// Rows that can't be understood, left out of `reports`.
    pub unreadable: Vec<Corruption>,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

/// What a report has a model asked about.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredInput {
    /// The report.
    pub key: ReportKey,
    /// Canonical JSON; never empty.
    pub input: Vec<u8>,
}

impl fmt::Debug for StoredInput {
    /// Leaves the input out: it is the text of the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredInput")
            .field("key", &self.key)
            .field("input_bytes", &self.input.len())
            .finish()
    }
}

/// A page of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPage {
    /// The inputs, those of the newest reports first.
    pub inputs: Vec<StoredInput>,
    /// Rows that can't be understood, left out of `inputs`.
    pub unreadable: Vec<Corruption>,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

/// A report that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenReview {
    /// The report.
    pub summary: ReportSummary,
    /// What is asked.
    pub review: ReviewView,
}

/// A page of the reports that wait for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewPage {
    /// Those, the one that waits longest first.
    pub reviews: Vec<OpenReview>,
    /// Rows that can't be understood, left out of `reviews`.
    pub unreadable: Vec<Corruption>,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

/// A place in a list: right after this report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// What the list is sorted by first: when the report came, or when the question was asked.
    pub(super) at: UnixMillis,
    pub(super) key: ReportKey,
}

/// A text that is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of this list")]
pub struct NotACursor;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.get(), self.key)
    }
}

impl FromStr for Cursor {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let (at, key) = text.split_once('.').ok_or(NotACursor)?;
        let at = at.parse().map(UnixMillis::new).map_err(|_| NotACursor)?;
        Ok(Self {
            at,
            key: key.parse().map_err(|_| NotACursor)?,
        })
    }
}

/// Counts and ages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Reports by state and outcome, only those that there are.
    pub states: Vec<StateCount>,
    /// Results of all schema versions.
    pub results: u64,
    /// What results of all schema versions list.
    pub findings: u64,
    /// Attempts that count.
    pub charged: u64,
    /// Attempts of all kinds.
    pub attempts: u64,
    /// Open review items.
    pub reviews_open: u64,
    /// Other contents under a known identity, each once.
    pub conflicts: u64,
    /// Events that nobody has received yet.
    pub undelivered: u64,
    /// What is paused, counted.
    pub paused: u64,
    /// What is paused.
    pub pauses: Vec<Pause>,
    /// Jobs that can't be understood, or whose state can't.
    pub set_aside: u64,
    /// Unfinished jobs by version; those whose version no worker has are stranded.
    pub unfinished: Vec<VersionCount>,
}

/// How many reports are in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateCount {
    /// The state.
    pub state: State,
    /// How many.
    pub count: u64,
    /// How long the one that is in it longest is, in milliseconds.
    pub oldest_ms: u64,
}

/// How many unfinished jobs a version has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionCount {
    /// The pipeline.
    pub pipeline: String,
    /// The version that they are bound to; none before their first grant.
    pub classifier_version: Option<String>,
    /// How many.
    pub count: u64,
}

/// What became of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backup {
    /// The copy is complete and on the disk.
    Done {
        /// Its size.
        bytes: u64,
    },
    /// The file is there already; it was left alone.
    FileExists,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_from_its_text() {
        let key = ReportKey::from_bytes([7; 32]);
        let cursor = Cursor {
            at: UnixMillis::new(1_803_895_200_007),
            key,
        };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in ["", ".", "1", "1.07", "x.07"] {
            assert_eq!(text.parse::<Cursor>(), Err(NotACursor), "{text:?}");
        }
    }
}
