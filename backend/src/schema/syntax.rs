//! An answer's text, up to where it is one JSON value.
//!
//! One fence around the whole answer is taken away: models put it there whatever they are told, and
//! what is inside is what they said. Nothing else is mended.

mod place;

use std::fmt;

use fencepost_identity::{json, refusal::Refusal};

pub use self::place::Place;
use self::place::{Finding, find};

/// The most bytes of an answer: far above any result's size, far below what hurts.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// The most containers inside one another in an answer.
pub const ANSWER_DEPTH_MAX: usize = 32;

const FENCE: &str = "```";

/// Why an answer is not one JSON value, and where. The place is by line and column, since a name
/// could quote the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub fault: Syntax,
    /// Where; absent where no single place is at fault.
    pub place: Option<Place>,
}

/// Why an answer is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Syntax {
    /// Nothing but white space.
    #[error("the answer is empty")]
    Empty,
    /// More than [`ANSWER_BYTES_MAX`].
    #[error("the answer has more than {ANSWER_BYTES_MAX} bytes")]
    TooLong,
    /// More than [`ANSWER_DEPTH_MAX`] containers inside one another.
    #[error("the answer has more than {ANSWER_DEPTH_MAX} levels")]
    TooDeep,
    /// Text around the value, a second value, comments, a comma too few or too many.
    #[error("the answer is not one JSON value")]
    NotJson,
    /// Two parsers would read two answers.
    #[error("the answer names a member twice")]
    DuplicateMember,
    /// A number that no finite double stands for.
    #[error("a number of the answer is out of range")]
    NumberOutOfRange,
    /// Half of a surrogate pair, which is no character.
    #[error("a string of the answer holds half of a surrogate pair")]
    LoneSurrogate,
}

/// How an answer stood in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapping {
    /// By itself.
    Bare,
    /// Inside one fence, which was taken away.
    Fenced,
}

impl Wrapping {
    /// How an attempt's row tells of it.
    pub const FENCED: &str = "the answer stood in a fence, which was taken away";
}

/// What there is of an answer's text without what stands around it.
pub(super) struct Inside<'a> {
    text: &'a str,
    pub(super) wrapping: Wrapping,
    /// How many lines of the answer stand above it.
    lines_above: usize,
}

impl<'a> Inside<'a> {
    pub(super) fn of(answer: &'a str) -> Result<Self, SyntaxError> {
        if answer.len() > ANSWER_BYTES_MAX {
            return Err(Syntax::TooLong.nowhere());
        }
        let inside = unfenced(answer).unwrap_or(Self {
            text: answer,
            wrapping: Wrapping::Bare,
            lines_above: 0,
        });
        match inside.text.trim().is_empty() {
            true => Err(Syntax::Empty.nowhere()),
            false => Ok(inside),
        }
    }

    /// The value, unless two readers could take it for two, or none could hold it.
    pub(super) fn parse(&self) -> Result<json::Value<'a>, SyntaxError> {
        if let Some(place) = place::too_deep(self.text, ANSWER_DEPTH_MAX) {
            return Err(self.error(Syntax::TooDeep, Some(place)));
        }
        let value = json::parse(self.text.as_bytes()).map_err(|refusal| self.refused(refusal))?;
        match holds_half_a_pair(&value) {
            true => Err(self.found(Syntax::LoneSurrogate, Finding::Unreadable)),
            false => Ok(value),
        }
    }

    /// What a refusal of the reader, or of a number, means here.
    pub(super) fn refused(&self, refusal: Refusal) -> SyntaxError {
        match refusal {
            Refusal::DuplicateMember => self.found(Syntax::DuplicateMember, Finding::Unreadable),
            Refusal::NumberOutOfRange => self.found(Syntax::NumberOutOfRange, Finding::Unreadable),
            Refusal::InvalidJson
            | Refusal::MissingField
            | Refusal::EmptyField
            | Refusal::FieldTooLong
            | Refusal::ControlCharacter
            | Refusal::LoneSurrogate
            | Refusal::NotAnIdentifier
            | Refusal::NotARevision => self.found(Syntax::NotJson, Finding::NotJson),
        }
    }

    fn found(&self, fault: Syntax, finding: Finding) -> SyntaxError {
        self.error(fault, find(self.text, finding))
    }

    fn error(&self, fault: Syntax, place: Option<Place>) -> SyntaxError {
        let place = place.map(|place| place.below(self.lines_above));
        SyntaxError { fault, place }
    }
}

/// What one fence encloses, if it is around the whole answer: a line of it and perhaps one word,
/// and a line of it alone.
fn unfenced(answer: &str) -> Option<Inside<'_>> {
    let answer = answer.strip_prefix('\u{feff}').unwrap_or(answer);
    let (opening, text) = answer.trim_start().strip_prefix(FENCE)?.split_once('\n')?;
    let word = opening.trim();
    if !word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let text = text.trim_end().strip_suffix(FENCE)?;
    let ends_a_line = text.trim_end_matches([' ', '\t']).ends_with('\n');
    let above = answer.len() - answer.trim_start().len();
    let blank = answer.get(..above).unwrap_or_default();
    ends_a_line.then(|| Inside {
        text,
        wrapping: Wrapping::Fenced,
        lines_above: blank.matches('\n').count() + 1,
    })
}

fn holds_half_a_pair(value: &json::Value<'_>) -> bool {
    match value {
        json::Value::Null | json::Value::Bool(_) | json::Value::Number(_) => false,
        json::Value::String(text) => text.as_str().is_none(),
        json::Value::Array(items) => items.iter().any(holds_half_a_pair),
        json::Value::Object(members) => members
            .iter()
            .any(|(name, value)| name.as_str().is_none() || holds_half_a_pair(value)),
    }
}

impl Syntax {
    fn nowhere(self) -> SyntaxError {
        SyntaxError {
            fault: self,
            place: None,
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(place) => write!(f, "{}: {place}", self.fault),
            None => write!(f, "{}", self.fault),
        }
    }
}

impl std::error::Error for SyntaxError {}
