//! What comes in, and what is bound on first use.

use std::{collections::BTreeMap, fmt};

use fencepost_identity::{
    identity::Identity,
    key::{InputHash, MappingDigest, ReportKey},
    mapping::Input,
};

use crate::report::{State, words};

/// A report as an envelope brought it, checked.
#[derive(Clone, PartialEq, Eq)]
pub struct NewReport {
    /// What it is; its key follows from it.
    pub identity: Identity,
    /// The immutable input; none where it is fetched before a model is asked.
    pub input: Option<NewInput>,
    /// For people, and what the input is fetched by: name and address.
    pub links: Vec<(String, String)>,
    /// The source that it came from.
    pub source: String,
    /// The mapping that its identity was read with.
    pub mapping_digest: MappingDigest,
    /// What tells which version is current, where the source has it.
    pub order: Option<String>,
    /// The pipeline that its source feeds.
    pub pipeline: String,
}

/// The immutable input of a report.
#[derive(Clone, PartialEq, Eq)]
pub struct NewInput {
    /// Canonical JSON.
    pub canonical: Vec<u8>,
    /// SHA-256 over it.
    pub hash: InputHash,
}

impl NewInput {
    /// What stands in the place of an input that is not there yet.
    pub(super) fn none_yet() -> Self {
        Self {
            canonical: Vec::new(),
            hash: InputHash::from_bytes([0; 32]),
        }
    }
}

impl From<Input> for NewInput {
    fn from(input: Input) -> Self {
        Self {
            hash: input.hash(),
            canonical: input.as_str().as_bytes().to_vec(),
        }
    }
}

impl fmt::Debug for NewInput {
    /// Only the length: it is the report's text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewInput({} bytes)", self.canonical.len())
    }
}

impl fmt::Debug for NewReport {
    /// Leaves the report's texts out, so that no log can show them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewReport")
            .field("report_key", &self.identity.report_key())
            .field("input", &self.input)
            .field("source", &self.source)
            .field("pipeline", &self.pipeline)
            .finish_non_exhaustive()
    }
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ingested {
    /// It is the first of its report: stored, and as durable as it gets.
    Accepted {
        /// The report.
        key: ReportKey,
        /// Its state.
        state: State,
    },
    /// The report was stored before; nothing was written but the record of a new conflict.
    Duplicate {
        /// The report.
        key: ReportKey,
        /// Its present state.
        state: State,
        /// Whether it brought the same content.
        content: Content,
    },
    /// The source is bound to another mapping; nothing was written.
    MappingChanged {
        /// What it is bound to.
        bound: MappingDigest,
    },
}

/// The content of a duplicate, compared with what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The same.
    Same,
    /// Another: the first one stays.
    Conflict {
        /// How often this other content was seen, this time included.
        seen: u64,
    },
}

/// A pipeline's versions, and the digests of what they stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineVersions {
    /// The pipeline's name.
    pub pipeline: String,
    /// The name of pipeline, extractor, model, parameters, prompt and built-in instructions.
    pub classifier_version: String,
    /// SHA-256 over these.
    pub classifier_digest: [u8; 32],
    /// The name of the schema.
    pub schema_version: String,
    /// SHA-256 over the schema.
    pub schema_digest: [u8; 32],
}

impl PipelineVersions {
    /// Both versions, each with its kind and the digest of what it stands for.
    #[must_use]
    pub fn each(&self) -> [(VersionKind, &str, [u8; 32]); 2] {
        let classifier = (&self.classifier_version, self.classifier_digest);
        let schema = (&self.schema_version, self.schema_digest);
        [
            (VersionKind::Classifier, classifier.0, classifier.1),
            (VersionKind::Schema, schema.0, schema.1),
        ]
    }
}

/// Whether versions stand for what they stood for at their first use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// They do, or this was their first use.
    Bound,
    /// Some don't; nothing was bound.
    Conflict(Vec<VersionConflict>),
}

/// A version that stood for something else before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionConflict {
    /// The pipeline that must not claim for it.
    pub pipeline: String,
    /// Which of the two.
    pub kind: VersionKind,
    /// Its name.
    pub version: String,
    /// The digest of what it stood for.
    pub bound: [u8; 32],
}

impl VersionConflict {
    /// The name to write instead: the number at the end raised by one, or a second one begun.
    #[must_use]
    pub fn next_version(&self) -> String {
        let stem = self
            .version
            .trim_end_matches(|end: char| end.is_ascii_digit());
        let number = self.version.get(stem.len()..).unwrap_or_default();
        match number {
            "" => format!("{stem}-2"),
            digits => format!("{stem}{}", raised(digits)),
        }
    }
}

/// A decimal number of any length, one more. It keeps its width while it can.
fn raised(digits: &str) -> String {
    let stem = digits.trim_end_matches('9');
    let nines = digits.len() - stem.len();
    let mut raised = stem.to_owned();
    let last = raised
        .pop()
        .and_then(|digit| digit.to_digit(10))
        .unwrap_or(0);
    raised.push_str(&(last + 1).to_string());
    raised.push_str(&"0".repeat(nines));
    raised
}

impl fmt::Display for VersionConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pipeline,
            kind,
            version,
            ..
        } = self;
        write!(
            f,
            "pipeline `{pipeline}` does not claim: its {kind}_version `{version}` stood for \
             something else before; give it a new name, under [pipeline.{pipeline}]: \
             {kind}_version = \"{}\"",
            self.next_version()
        )
    }
}

/// All that is bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    /// The mapping of each source.
    pub sources: BTreeMap<String, MappingDigest>,
    /// What each version stands for, by kind, pipeline and name.
    pub versions: BTreeMap<(VersionKind, String, String), [u8; 32]>,
}

impl Bindings {
    /// Whether both of a pipeline's versions are bound to what they stand for.
    #[must_use]
    pub fn hold(&self, wanted: &PipelineVersions) -> bool {
        wanted.each().into_iter().all(|(kind, version, digest)| {
            let key = (kind, wanted.pipeline.clone(), version.to_owned());
            self.versions.get(&key) == Some(&digest)
        })
    }

    /// Which of a pipeline's versions stood for something else before.
    #[must_use]
    pub fn conflicts(&self, wanted: &PipelineVersions) -> Vec<VersionConflict> {
        let conflict = |(kind, version, digest): (VersionKind, &str, [u8; 32])| {
            let key = (kind, wanted.pipeline.clone(), version.to_owned());
            let bound = self.versions.get(&key).filter(|bound| **bound != digest)?;
            Some(VersionConflict {
                pipeline: wanted.pipeline.clone(),
                kind,
                version: version.to_owned(),
                bound: *bound,
            })
        };
        wanted.each().into_iter().filter_map(conflict).collect()
    }
}

/// What a look at a database found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// All that is bound.
    Bindings(Bindings),
    /// An older schema, or none yet, which the next start of this program brings up.
    OlderSchema {
        /// The schema of the database.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
}

words! {
    /// What a version is one of.
    VersionKind {
        /// `classifier_version`.
        Classifier = "classifier",
        /// `schema_version`.
        Schema = "schema",
    }
}

/// What became of the wish to bind a source anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebound {
    /// It is bound to the new mapping now.
    Changed {
        /// What it was bound to.
        from: MappingDigest,
    },
    /// It was bound to that mapping already.
    Same,
    /// It was not bound to any yet; it is now.
    First,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_version_has_the_number_at_its_end_raised() {
        for (version, next) in [
            ("moderation-7", "moderation-8"),
            ("moderation-v3", "moderation-v4"),
            ("v9", "v10"),
            ("v1099", "v1100"),
            ("v007", "v008"),
            ("2", "3"),
            ("999", "1000"),
            ("99999999999999999999999", "100000000000000000000000"),
            ("tickets", "tickets-2"),
            ("v1-beta", "v1-beta-2"),
        ] {
            let conflict = VersionConflict {
                pipeline: "tickets".to_owned(),
                kind: VersionKind::Schema,
                version: version.to_owned(),
                bound: [0; 32],
            };
            assert_eq!(conflict.next_version(), next);
            let told = conflict.to_string();
            let written = format!("under [pipeline.tickets]: schema_version = \"{next}\"");
            assert!(told.ends_with(&written), "{told}");
        }
    }
}
