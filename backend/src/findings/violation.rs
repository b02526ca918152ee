//! The rules that findings break, all of them.

use std::fmt;

use fencepost_identity::pointer::Pointer;

use crate::revision::BadPath;

/// The most findings of one answer.
pub const FINDINGS_MAX: usize = 1_000;
/// The most violations that are named.
const NAMED_MAX: usize = 100;

/// What is wrong with the findings of an answer: places and rules, and never a text of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    named: Vec<Violation>,
    /// How many more there are.
    more: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Violation {
    /// A pointer into the answer: names of the configuration, and numbers.
    place: String,
    fault: Fault,
}

/// A rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("is no list")]
    NoList,
    #[error("has more than {FINDINGS_MAX} findings")]
    TooMany,
    #[error("is missing")]
    Missing,
    #[error("is no word of the list")]
    NoWord,
    #[error("is refused: {0}")]
    Path(BadPath),
    #[error("is not in the revision")]
    NotInRevision,
    #[error("is no line that the revision shows")]
    NotShown,
    #[error("is before the line where it begins")]
    BeforeLine,
}

/// Violations as they are found.
#[derive(Default)]
pub(super) struct Noted {
    named: Vec<Violation>,
    more: usize,
}

impl Noted {
    pub(super) fn no_list(&mut self, list: &Pointer) {
        self.note(list.as_str().to_owned(), Fault::NoList);
    }

    pub(super) fn too_many(&mut self, list: &Pointer) {
        self.note(list.as_str().to_owned(), Fault::TooMany);
    }

    pub(super) fn note(&mut self, place: String, fault: Fault) {
        if self.named.len() < NAMED_MAX {
            self.named.push(Violation { place, fault });
        } else {
            self.more += 1;
        }
    }

    /// Nothing, or all that was noted.
    pub(super) fn none(self) -> Result<(), Violations> {
        if self.named.is_empty() {
            return Ok(());
        }
        Err(Violations {
            named: self.named,
            more: self.more,
        })
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer's ")?;
        for (index, Violation { place, fault }) in self.named.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{place} {fault}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
