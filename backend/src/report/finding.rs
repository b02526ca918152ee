//! One of the things that a list of findings says.

use std::fmt;

/// A finding that was found valid, without keys: those depend on where it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Finding {
    /// What tells it from others of its result and recognizes it in the next one, in the order that
    /// its pipeline names: never its prose.
    pub fingerprint: Vec<String>,
    /// The finding as it was answered: canonical JSON.
    pub value: String,
    /// How many more with the same fingerprint the answer held; this is the most severe of them.
    pub collapsed: u32,
}

impl fmt::Debug for Finding {
    /// Leaves the value out: it holds prose about the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finding")
            .field("value_bytes", &self.value.len())
            .field("collapsed", &self.collapsed)
            .finish_non_exhaustive()
    }
}
