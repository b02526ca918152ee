//! The extractor for code that needs no model: patterns on the lines that a diff adds.
//!
//! It exists so that a pipeline of findings works, and can be tried, without a model. It knows a
//! handful of mistakes by how they are usually written and understands nothing;
//! docs/extractors.md says what it misses.

mod finding;
mod input;
mod place;
mod secret;
mod spot;
mod sql;
mod tls;

use std::fmt::Write as _;

use async_trait::async_trait;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub use self::finding::{Rule, Severity};
use self::{
    finding::Finding, input::Inputs, place::Place, secret::Secrets, spot::Spots, sql::Sql, tls::Tls,
};
use super::{Call, Draft, ExtractError, Extractor, Failure, Question, Unfit, Usage};
use crate::{revision::Revision, schema::Schema};

/// The provider that the records of this extractor name.
pub const PROVIDER: &str = "code-baseline";
/// The model that the records of this extractor name. Changed with the rules.
pub const MODEL: &str = "code-baseline-1 (patterns on added lines, no language model)";
/// The member of the input that holds the diff, where the configuration names none.
pub const DIFF_DEFAULT: &str = "diff";

/// The most findings of one answer. Where there are more, a person looks: a list that was cut would
/// say that the rest is in order.
pub const FINDINGS_MAX: usize = 500;

/// The checks. The same diff always gives the same findings; nothing is read or sent.
#[derive(Debug)]
pub struct CodeBaseline {
    diff: String,
    secrets: Secrets,
    tls: Tls,
    sql: Sql,
    inputs: Inputs,
}

/// Why no findings were answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unanswered {
    /// The input holds no diff that can be read.
    NoDiff,
    /// More than [`FINDINGS_MAX`].
    TooMany,
}

impl CodeBaseline {
    /// The checks, on the diff that this member of an input holds.
    ///
    /// # Errors
    /// When a built-in pattern is damaged.
    pub fn new(diff: &str) -> Result<Self, regex::Error> {
        Ok(Self {
            diff: diff.to_owned(),
            secrets: Secrets::new()?,
            tls: Tls::new()?,
            sql: Sql::new()?,
            inputs: Inputs::new()?,
        })
    }

    /// What shapes its answers, without making it.
    #[must_use]
    pub fn fingerprint_of(diff: &str) -> Value {
        let mut digest = Sha256::new();
        let rooms = [
            secret::patterns(),
            tls::patterns(),
            sql::patterns(),
            input::patterns(),
        ];
        for pattern in rooms.into_iter().flatten() {
            digest.update(pattern);
            digest.update("\n");
        }
        let sha256 = digest
            .finalize()
            .iter()
            .fold(String::new(), |mut hex, byte| {
                // Writing to a string cannot fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            });
        json!({ "provider": PROVIDER, "model": MODEL, "diff": diff, "sha256": sha256 })
    }

    fn answer(&self, input: &[u8]) -> Result<String, Unanswered> {
        // Causes are dropped: they could quote the report.
        let input: Value = serde_json::from_slice(input).map_err(|_| Unanswered::NoDiff)?;
        let diff = input.get(&self.diff).and_then(Value::as_str);
        let revision = Revision::of_diff(diff.ok_or(Unanswered::NoDiff)?);
        let revision = revision.map_err(|_| Unanswered::NoDiff)?;
        let findings = self.findings(&revision);
        match findings.len() > FINDINGS_MAX {
            true => Err(Unanswered::TooMany),
            false => Ok(finding::answer(&findings).to_string()),
        }
    }

    /// What the added lines show, by path and line; of one rule on one line the most severe alone.
    fn findings<'r>(&self, revision: &'r Revision) -> Vec<Finding<'r>> {
        let mut findings = Vec::new();
        for (path, file) in revision.files() {
            let place = Place::of(path);
            for spot in Spots::of(file, place).added() {
                let found = [
                    self.secrets.look(&spot),
                    self.tls.look(&spot),
                    self.sql.look(&spot),
                    self.inputs.look(&spot),
                ];
                let line = spot.number;
                findings.extend(
                    found
                        .into_iter()
                        .flatten()
                        .map(|hit| Finding { path, line, hit }),
                );
            }
        }
        findings
    }
}

#[async_trait]
impl Extractor for CodeBaseline {
    /// The digest covers the patterns; what is made of them is covered by the model's name.
    fn fingerprint(&self) -> Value {
        Self::fingerprint_of(&self.diff)
    }

    fn addressee(&self) -> Call {
        Call {
            provider: PROVIDER.to_owned(),
            model: MODEL.to_owned(),
            request_id: None,
            usage: Usage::default(),
        }
    }

    /// Its answers have one form, so each of its rules is tried on the schema.
    fn check_schema(&self, schema: &Value) -> Result<(), Unfit> {
        let compiled = Schema::compile(schema.to_string().as_bytes());
        let refused = |what: String| Unfit::Answers(what);
        let schema = compiled.map_err(|error| refused(error.to_string()))?;
        let read = |findings: &[Finding<'_>]| {
            let read = schema.read(&finding::answer(findings).to_string());
            read.map_err(|error| refused(format!("{error}, as {PROVIDER} answers")))
        };
        read(&[])?;
        for finding in Rule::ALL.into_iter().flat_map(finding::samples) {
            read(&[finding])?;
        }
        Ok(())
    }

    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError> {
        let call = self.addressee();
        let failure = match self.answer(question.input) {
            Ok(text) => return Ok(Draft { text, call }),
            Err(Unanswered::NoDiff) => Failure::InvalidRequest,
            // Of what others write nothing may follow for those who wrote something else.
            Err(Unanswered::TooMany) => Failure::Refused,
        };
        Err(ExtractError { failure, call })
    }
}

#[cfg(test)]
mod tests;
