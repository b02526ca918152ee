//! How a pipeline's list is read.

use std::fmt;

use fencepost_identity::pointer::Pointer;
use serde_json::{Value, json};

use super::RevisionForm;

/// How a pipeline's list is read. Pointers but the first lead into a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingsRules {
    /// Where in the answer the list stands.
    pub list: Pointer,
    /// Which rule a finding is about.
    pub rule: Pointer,
    /// How severe it is.
    pub severity: Pointer,
    /// The words for that, the least severe first.
    pub severities: Vec<String>,
    /// Where it stands in the reviewed revision; none where the input has no revision.
    pub location: Option<Location>,
    /// What it is recognized by, in this order.
    pub key: Vec<KeyField>,
}

/// Where a finding says that it stands, and what that is held to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: Pointer,
    /// The line where it begins.
    pub line: Pointer,
    /// The line where it ends, which a finding may leave out; none where the schema has none.
    pub end_line: Option<Pointer>,
    /// Where the input holds the revision.
    pub revision: RevisionForm,
}

/// A part of what a finding is recognized by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyField {
    /// The word of its rule.
    Rule,
    /// Its path in the one spelling that paths have.
    Path,
    /// SHA-256 of the trimmed line where it begins, as the revision has it.
    SourceLine,
    /// Which of the equal lines of its file that line is.
    Occurrence,
    /// A member of it: canonical JSON, and nothing where it is absent.
    Member(Pointer),
}

impl FindingsRules {
    /// What a schema version is bound to beside the schema: other rules would give the same answer
    /// other keys, or take other answers.
    pub fn fingerprint(&self) -> Value {
        let mut document = json!({
            "list": self.list.as_str(),
            "rule": self.rule.as_str(),
            "severity": self.severity.as_str(),
            "key": self.key.iter().map(KeyField::to_string).collect::<Vec<_>>(),
        });
        if let (Some(members), Some(location)) = (document.as_object_mut(), &self.location) {
            let end_line = location.end_line.as_ref().map(Pointer::as_str);
            let location = json!({
                "path": location.path.as_str(),
                "line": location.line.as_str(),
                "end_line": end_line,
                "revision": { location.revision.word(): location.revision.name() },
            });
            members.insert("location".to_owned(), location);
        }
        document
    }
}

impl KeyField {
    /// Reads a word of the configuration, or a pointer.
    ///
    /// # Errors
    /// What stands here.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        match text {
            "rule" => Ok(Self::Rule),
            "path" => Ok(Self::Path),
            "source_line" => Ok(Self::SourceLine),
            "occurrence" => Ok(Self::Occurrence),
            _ => Pointer::new(text)
                .ok()
                .filter(|pointer| !pointer.as_str().is_empty())
                .map(Self::Member)
                .ok_or(
                    "`rule`, `path`, `source_line`, `occurrence` or a JSON Pointer into the \
                     finding",
                ),
        }
    }

    /// Whether it is taken from the reviewed revision.
    #[must_use]
    pub const fn needs_revision(&self) -> bool {
        match self {
            Self::Path | Self::SourceLine | Self::Occurrence => true,
            Self::Rule | Self::Member(_) => false,
        }
    }
}

impl fmt::Display for KeyField {
    /// As the configuration has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rule => "rule",
            Self::Path => "path",
            Self::SourceLine => "source_line",
            Self::Occurrence => "occurrence",
            Self::Member(pointer) => pointer.as_str(),
        })
    }
}
