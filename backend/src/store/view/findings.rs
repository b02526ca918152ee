//! What people are shown of a result that is a list.

use std::fmt;

use fencepost_identity::key::{FindingKey, LineageKey, ReportKey};

use crate::{
    clock::UnixMillis,
    report::{AttemptNumber, words},
};

/// What a result lists, compared with the version before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingsView {
    /// The first 1,000: what is present in the order of the answer, then what was withdrawn.
    pub findings: Vec<FindingView>,
    /// Whether there are more than those.
    pub more: bool,
    /// The version before this one: by its order where versions have one, else by time; none
    /// where no version before has a list.
    pub compared_with: Option<ReportKey>,
    /// What was present in that one and is not in this, in that one's order; the first 1,000.
    pub gone: Vec<LineageKey>,
}

/// One of the things that a result lists.
#[derive(Clone, PartialEq, Eq)]
pub struct FindingView {
    /// Its key.
    pub key: FindingKey,
    /// What it is recognized by in other versions.
    pub lineage: LineageKey,
    /// Whether the result lists it now.
    pub status: FindingStatus,
    /// Whether the version before listed it; none for what was withdrawn.
    pub since: Option<Since>,
    /// Canonical JSON.
    pub value: String,
    /// How many more with the same key the answer held.
    pub collapsed: u64,
    /// The attempt that brought it; none where a person wrote it.
    pub attempt: Option<AttemptNumber>,
    /// When it was committed first.
    pub created: UnixMillis,
    /// When it was committed last, or withdrawn.
    pub updated: UnixMillis,
}

impl fmt::Debug for FindingView {
    /// Leaves the value out: it holds prose about the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FindingView")
            .field("key", &self.key)
            .field("status", &self.status)
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}

words! {
    /// Whether a result lists a finding.
    FindingStatus {
        /// It does.
        Present = "present",
        /// It did; a newer answer no longer does.
        Withdrawn = "withdrawn",
    }
}

words! {
    /// Whether a finding was there in the version before.
    Since {
        /// It was not, or there is none.
        New = "new",
        /// It was.
        Still = "still",
    }
}
