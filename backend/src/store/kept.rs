//! Answers as they came, once they have been judged: how long they are kept, and which is judged
//! again.

use std::{fmt, time::Duration};

use fencepost_identity::key::{CallKey, ReportKey};

use super::Corruption;
use crate::{
    clock::UnixMillis,
    report::{AttemptNumber, AttemptOutcome},
};

/// How long a pipeline keeps answers that have been judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keeping {
    /// The pipeline's name.
    pub pipeline: String,
    /// How long, from the end of the attempt that brought the answer.
    pub kept_for: Duration,
}

/// A place among a pipeline's judged answers, in the order in which their attempts ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPlace {
    pub(super) ended: UnixMillis,
    /// Bytes, since it may be a row's that can't be understood.
    pub(super) report: Vec<u8>,
    pub(super) number: i64,
}

/// Answers that have been kept long enough, as many as are looked up at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiredAnswers {
    /// Those.
    pub answers: Vec<ExpiredAnswer>,
    /// Rows that can't be understood, left out of `answers`.
    pub unreadable: Vec<Corruption>,
    /// Where more may be, if this was as many as are looked up at a time.
    pub next: Option<KeptPlace>,
}

/// An answer that has been kept long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiredAnswer {
    /// The report.
    pub report: ReportKey,
    /// The attempt that brought it.
    pub attempt: AttemptNumber,
}

/// What became of an answer that was to be emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptied {
    /// It is empty now.
    Done,
    /// It is not there any more, or nobody has judged it.
    Left,
}

/// What is left of the last answer that the attempts of a version brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastAnswer {
    /// All of it.
    Kept(Box<KeptAnswer>),
    /// It had been kept long enough.
    Emptied {
        /// When it was emptied.
        at: UnixMillis,
    },
}

/// An answer, with all that it takes to judge it again.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The attempt that brought it.
    pub attempt: AttemptNumber,
    /// The answer as it came.
    pub raw: Vec<u8>,
    /// The key of the question.
    pub call_key: CallKey,
    /// The report's input.
    pub input: Vec<u8>,
    /// The verdict on it; none as long as nobody has judged it.
    pub verdict: Option<PastVerdict>,
}

impl fmt::Debug for KeptAnswer {
    /// Leaves the texts of the report and of the model out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptAnswer")
            .field("attempt", &self.attempt)
            .field("raw_bytes", &self.raw.len())
            .field("input_bytes", &self.input.len())
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}

/// A verdict that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastVerdict {
    /// What it was.
    pub outcome: AttemptOutcome,
    /// More of it.
    pub reason: Option<String>,
    /// The version that the answer was judged by.
    pub schema_version: String,
}
