//! The reviewed revision in a report's input.

use fencepost_identity::{canonical, json};

use super::FindingsRules;
use crate::revision::{Revision, Unreadable};

/// Where an input holds the reviewed revision, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevisionForm {
    /// A unified diff.
    Diff(String),
    /// An object from paths to texts.
    Files(String),
}

/// Why nothing can be held against an input. It names places, and never a text of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableInput {
    /// It is no object of JSON.
    #[error("the input is no object")]
    NoObject,
    /// The revision is not in it.
    #[error("the input has no `{0}`")]
    Missing(String),
    /// What should be a diff is something else.
    #[error("the input's `{0}` is no text")]
    NoText(String),
    /// It is there and can't be read.
    #[error("the input's `{name}`: {why}")]
    Unreadable {
        /// The name in the input.
        name: String,
        /// What was expected where.
        why: Unreadable,
    },
}

impl RevisionForm {
    /// The name in the input.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Diff(name) | Self::Files(name) => name,
        }
    }

    /// The word of the configuration.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Diff(_) => "diff",
            Self::Files(_) => "files",
        }
    }

    fn read(&self, input: &[u8]) -> Result<Revision, UnreadableInput> {
        let input = json::parse(input).map_err(|_| UnreadableInput::NoObject)?;
        let name = self.name().to_owned();
        let value = match input.get(&name) {
            None | Some(json::Value::Null) => return Err(UnreadableInput::Missing(name)),
            Some(value) => value,
        };
        let revision = match (self, value) {
            (Self::Diff(_), json::Value::String(text)) => Revision::of_diff(text.to_str_lossy()),
            (Self::Diff(_), _) => return Err(UnreadableInput::NoText(name)),
            (Self::Files(_), value) => {
                // What is no number of a usual size is no text, either, and is told as that.
                let plain = canonical::to_canonical(value);
                let plain = plain.map(|text| serde_json::from_str(&text).unwrap_or_default());
                Revision::of_files(&plain.unwrap_or_default())
            }
        };
        revision.map_err(|why| UnreadableInput::Unreadable { name, why })
    }
}

impl FindingsRules {
    /// The reviewed revision that an input shows; none where the pipeline has none.
    ///
    /// # Errors
    /// [`UnreadableInput`]: no model is at fault, and none needs to be asked.
    pub fn revision(&self, input: &[u8]) -> Result<Option<Revision>, UnreadableInput> {
        let location = self.location.as_ref();
        location
            .map(|location| location.revision.read(input))
            .transpose()
    }
}
