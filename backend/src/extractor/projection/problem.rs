//! Why a schema can't be said in a provider's words, and what to write instead.

use std::fmt;

use super::{Dialect, Limit};

/// A place of a schema that a provider can't take: a mistake of configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unprojectable {
    dialect: Dialect,
    /// A JSON pointer into the schema; empty at the top level.
    place: String,
    problem: Problem,
}

/// What is wrong there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The provider wants one object.
    #[error("a choice stands at the top level; put `anyOf` or `oneOf` into a member")]
    ChoiceAtTheTop,
    /// Any value would do.
    #[error("nothing says of which type it is; give it `type`, `enum`, `const` or `anyOf`")]
    NoType,
    /// An array of anything.
    #[error("nothing says what stands in the array; give it `items`")]
    NoItems,
    /// A member may be absent, which the provider does not know.
    #[error(
        "the member may be absent; list it in `required`, and let it be null where it is unknown"
    )]
    OptionalMember,
    /// A map from names to values.
    #[error(
        "its members are not listed; list them in `properties`, or make it an array of objects \
         with a name and a value"
    )]
    OpenMembers,
    /// `required` names what the provider would never write.
    #[error("`required` names a member that `properties` does not list; list it")]
    UnlistedMember,
    /// It is not known, and what it says would be lost.
    #[error("`{0}` is not known there; write the schema without it")]
    Keyword(&'static str),
    /// Two choices can't be made one.
    #[error("`anyOf` and `oneOf` stand side by side; leave one of them")]
    TwoChoices,
    /// Closed, the object could hold no member of the choice.
    #[error("a choice stands beside `properties`; write each choice as an object of its own")]
    ChoiceBesideMembers,
    /// The reference would hide them.
    #[error("rules stand beside `$ref`; put them where it leads to")]
    BesideReference,
    /// Only the top level and `$defs` can be referred to.
    #[error("`$ref` has to lead into `$defs`, or be \"#\"")]
    ReferenceElsewhere,
    /// There is too much of it.
    #[error("{0}")]
    Limit(Limit),
}

impl Unprojectable {
    pub(super) fn new(dialect: Dialect, path: &[String], problem: Problem) -> Self {
        let escaped = path
            .iter()
            .map(|token| token.replace('~', "~0").replace('/', "~1"));
        let place = escaped.map(|token| format!("/{token}")).collect();
        Self {
            dialect,
            place,
            problem,
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> Problem {
        self.problem
    }

    /// Where: a JSON pointer into the schema.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }
}

impl fmt::Display for Unprojectable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place.as_str() {
            "" => "its top level",
            place => place,
        };
        write!(
            f,
            "{} can't take the schema at {place}: {}",
            self.dialect, self.problem
        )
    }
}

impl std::error::Error for Unprojectable {}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenAiStrict => "OpenAI",
            Self::Lenient => "the server",
            Self::Anthropic => "Anthropic",
            Self::Bedrock => "Bedrock",
            Self::Gemini => "Gemini",
        })
    }
}
