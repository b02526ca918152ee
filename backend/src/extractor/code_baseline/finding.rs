//! What is found, in the form of an answer.

use serde_json::{Value, json};

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A key or a password stands in it.
    Secret,
    /// Whoever answers is believed to be the right one.
    Tls,
    /// Values become part of a statement's text.
    Sql,
    /// What comes from outside can end the program.
    Input,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look.
    Low,
    /// Often a mistake.
    Medium,
    /// Mostly a mistake, and one that is used against people.
    High,
    /// Something is open now.
    Critical,
}

/// What a rule says of a line. Its summary is a fixed text and never quotes the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) rule: Rule,
    pub(super) severity: Severity,
    pub(super) summary: &'static str,
}

/// A hit and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finding<'r> {
    pub(super) path: &'r str,
    pub(super) line: u32,
    pub(super) hit: Hit,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Secret, Self::Tls, Self::Sql, Self::Input];

    /// The name that a result uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "hardcoded_secret",
            Self::Tls => "disabled_tls_verification",
            Self::Sql => "sql_injection",
            Self::Input => "unchecked_input",
        }
    }
}

impl Severity {
    const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The name that a result uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// Findings as a model would answer them.
pub(super) fn answer(findings: &[Finding<'_>]) -> Value {
    let findings = findings.iter().map(|finding| {
        json!({
            "rule": finding.hit.rule.as_str(),
            "severity": finding.hit.severity.as_str(),
            "path": finding.path,
            "line": finding.line,
            "summary": finding.hit.summary,
        })
    });
    json!({ "findings": findings.collect::<Vec<_>>() })
}

/// What a rule could answer, once in each severity.
pub(super) fn samples(rule: Rule) -> impl Iterator<Item = Finding<'static>> {
    Severity::ALL.into_iter().map(move |severity| Finding {
        path: "a",
        line: 1,
        hit: Hit {
            rule,
            severity,
            summary: "A summary.",
        },
    })
}
