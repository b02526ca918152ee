//! Secrets that stand in the code.

mod assigned;
mod token;

use self::{assigned::Assigned, token::Tokens};
use super::{finding::Hit, spot::Spot};

/// Those of a known form, and those that are given to something with a telling name.
#[derive(Debug)]
pub(super) struct Secrets {
    tokens: Tokens,
    assigned: Assigned,
}

pub(super) fn patterns() -> Vec<&'static str> {
    let mut patterns = token::patterns();
    patterns.extend(assigned::patterns());
    patterns
}

impl Secrets {
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            tokens: Tokens::new()?,
            assigned: Assigned::new()?,
        })
    }

    pub(super) fn look(&self, spot: &Spot<'_>) -> Option<Hit> {
        let found = self.tokens.look(spot);
        found.or_else(|| self.assigned.look(spot))
    }
}
