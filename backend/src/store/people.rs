//! What people do to a report, and what they are answered.

use std::fmt;

use crate::report::{Finding, State};

/// What a reviewer decides.
#[derive(Clone, PartialEq, Eq)]
pub struct Decision {
    /// The revision of the review item that was looked at: another one is another question.
    pub revision_seen: u64,
    /// Who decides.
    pub who: String,
    /// Why.
    pub why: String,
    /// What.
    pub kind: DecisionKind,
}

impl fmt::Debug for Decision {
    /// Leaves out what was written about the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decision")
            .field("revision_seen", &self.revision_seen)
            .field("who", &self.who)
            .field("kind", &self.kind.as_str())
            .finish_non_exhaustive()
    }
}

/// What can be decided.
#[derive(Clone, PartialEq, Eq)]
pub enum DecisionKind {
    /// The report's current result is right.
    Accept,
    /// This is the result.
    Correct(Correction),
    /// The report needs no result.
    Dismiss,
    /// Another attempt is wanted, with a budget of its own.
    Retry,
}

/// A result that a reviewer wrote. Whoever asks has found it valid.
#[derive(Clone, PartialEq, Eq)]
pub struct Correction {
    /// Canonical JSON.
    pub value: String,
    /// What it lists, where the report's pipeline makes findings.
    pub findings: Option<Vec<Finding>>,
    /// The version of the schema that it fits.
    pub schema_version: String,
    /// What that version stands for, to whoever found it valid.
    pub schema_digest: [u8; 32],
}

impl DecisionKind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Correct(_) => "correct",
            Self::Dismiss => "dismiss",
            Self::Retry => "retry",
        }
    }
}

/// What became of a decision. Where it is none of the first kind, nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// It counts.
    Decided {
        /// The report's state now.
        state: State,
    },
    /// The question changed after it was looked at.
    Stale {
        /// The revision that counts.
        revision: u64,
    },
    /// Nobody is asked about the report.
    NotInReview {
        /// Its state.
        state: State,
    },
    /// There is no result that could be accepted.
    NothingToAccept,
    /// The version of the schema stands for another one than the value was held to.
    OtherSchema,
    /// No such report.
    Unknown,
}

/// What became of the wish to have a report judged again under a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// A job was made.
    Made,
    /// There is a job of that version, whoever wanted it first: it is not run twice.
    Already {
        /// That job's state.
        state: State,
    },
    /// A job waits for its first grant, and will have the version then.
    Pending,
    /// The report was erased: there is nothing to judge.
    Erased,
    /// A newer version took the report's place: nothing more is begun for it.
    Superseded,
    /// No such report.
    Unknown,
}

/// What became of the wish to have a report erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erasure {
    /// It is erased now.
    Erased,
    /// It was before.
    Already,
    /// No such report.
    Unknown,
}
