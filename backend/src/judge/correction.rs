//! A value that a person puts in a model's place.

use std::fmt;

use super::{Judge, Kind};
use crate::{findings::Unfit, report::Finding, schema::Invalid};

/// A person's value, found valid.
#[derive(Clone, PartialEq, Eq)]
pub struct Correction {
    /// Canonical JSON.
    pub value: String,
    /// What it lists, where its pipeline makes findings.
    pub findings: Option<Vec<Finding>>,
}

/// Why a person's value is not taken: places and rules, never a text of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unacceptable {
    /// It is not what the schema asks for.
    #[error("{0}")]
    Schema(Invalid),
    /// A finding of it is not what the pipeline asks for.
    #[error("{0}")]
    Findings(Unfit),
}

impl fmt::Debug for Correction {
    /// Leaves the value out: it may hold prose about the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Correction")
            .field("value_bytes", &self.value.len())
            .field("findings", &self.findings.as_ref().map(Vec::len))
            .finish()
    }
}

impl Judge {
    /// Holds a person's value to the schema and its findings to their rules, and to nothing else:
    /// what a policy asks of a model is no rule for people.
    ///
    /// # Errors
    /// [`Unacceptable`]
    pub fn correct(&self, text: &str, input: &[u8]) -> Result<Correction, Unacceptable> {
        let report = self.schema.read(text).map_err(Unacceptable::Schema)?;
        let findings = match &self.kind {
            // Where nothing is wrong, there is no place to be held to.
            Kind::Findings(rules) if rules.lists_nothing(report.value()) => Ok(Some(Vec::new())),
            Kind::Findings(_) | Kind::Classification => self.findings(&report, input),
        };
        Ok(Correction {
            findings: findings.map_err(Unacceptable::Findings)?,
            value: report.canonical().to_owned(),
        })
    }
}
