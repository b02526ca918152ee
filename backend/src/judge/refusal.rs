//! Inputs that nobody is asked about.

use super::{Judge, Kind};
use crate::report::{AttemptOutcome, ReviewReason};

/// Why no model is asked about an input: a person looks at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What the attempt is called.
    pub outcome: AttemptOutcome,
    /// What the person is told of it.
    pub review: ReviewReason,
    /// Numbers, names and places, never a text of it.
    pub reason: String,
}

impl Refusal {
    /// The input is not what the pipeline needs.
    const fn invalid(reason: String) -> Self {
        Self {
            outcome: AttemptOutcome::InvalidRequest,
            review: ReviewReason::InvalidRequest,
            reason,
        }
    }

    const fn too_long(reason: String) -> Self {
        Self {
            outcome: AttemptOutcome::ContextTooLong,
            review: ReviewReason::ContextTooLong,
            reason,
        }
    }
}

impl Judge {
    /// Why nobody is asked about an input: it is longer than a model is shown, or no answer could
    /// be held against it.
    #[must_use]
    pub fn refuse(&self, input: &[u8]) -> Option<Refusal> {
        if let Some(reason) = self.policy.too_long(input) {
            return Some(Refusal::too_long(reason));
        }
        match &self.kind {
            Kind::Classification => None,
            Kind::Findings(rules) => {
                let unreadable = rules.revision(input).err()?;
                Some(Refusal::invalid(unreadable.to_string()))
            }
        }
    }
}
