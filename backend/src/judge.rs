//! The one judge of answers, of those that have just come and of those that were kept: strict
//! JSON, the pipeline's schema, its policy, what each finding of a list is held to, and whether a
//! person has to look.

mod correction;
mod refusal;
mod rule;

use std::{fmt, sync::Arc};

use fencepost_identity::{json, key::CallKey};

pub use self::{
    correction::{Correction, Unacceptable},
    refusal::Refusal,
    rule::{Rule, Test},
};
use crate::{
    findings::{FindingsRules, Unfit},
    policy::{Answered, Policy},
    report::{AttemptOutcome, Finding},
    schema::{Invalid, Schema, ValidReport, Wrapping},
};

/// What a pipeline makes of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One record.
    Classification,
    /// A list, each entry of which has a key of its own.
    Findings(Box<FindingsRules>),
}

impl Kind {
    /// The word of the configuration.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Classification => "classification",
            Self::Findings(_) => "findings",
        }
    }
}

/// What a pipeline judges by.
#[derive(Clone, Debug)]
pub struct Judge {
    /// What an answer is made into.
    pub kind: Kind,
    /// What an answer has to be.
    pub schema: Arc<Schema>,
    /// What is asked of the model, which an answer must not repeat.
    pub prompt: String,
    /// What is ruled beyond the schema.
    pub policy: Policy,
    /// When a person has to see a valid answer.
    pub review_when: Vec<Rule>,
}

/// An answer, and what it was asked about.
#[derive(Clone, Copy)]
pub struct Answer<'a> {
    /// The answer as it came.
    pub text: &'a str,
    /// The key of the question.
    pub call_key: CallKey,
    /// The report's input.
    pub input: &'a [u8],
}

/// What an answer is worth. Nothing follows from it by itself.
#[derive(Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It may be committed.
    Valid {
        /// Canonical JSON.
        value: String,
        /// What it lists, where its pipeline makes findings.
        findings: Option<Vec<Finding>>,
        /// Why a person has to see it: rules and numbers, never a text of it.
        doubt: Option<String>,
        /// What is told of how the value stood in the answer.
        remark: Option<String>,
    },
    /// It is not taken.
    Invalid {
        /// One of the three kinds; or `invalid_request`, where the report's input is what nothing
        /// can be held against.
        outcome: AttemptOutcome,
        /// Places and rules, never a text of it.
        reason: String,
    },
}

impl fmt::Debug for Judgement {
    /// Leaves the value out: a member may hold prose about the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid {
                value,
                findings,
                doubt,
                remark,
            } => f
                .debug_struct("Valid")
                .field("value_bytes", &value.len())
                .field("findings", &findings.as_ref().map(Vec::len))
                .field("doubt", doubt)
                .field("remark", remark)
                .finish(),
            Self::Invalid { outcome, reason } => f
                .debug_struct("Invalid")
                .field("outcome", outcome)
                .field("reason", reason)
                .finish(),
        }
    }
}

impl Judge {
    /// Judges an answer. It depends on nothing but its arguments: no time, no database, no model.
    #[must_use]
    pub fn judge(&self, answer: Answer<'_>) -> Judgement {
        let invalid = |outcome, reason| Judgement::Invalid { outcome, reason };
        let report = match self.schema.read(answer.text) {
            Ok(report) => report,
            Err(wrong) => {
                let outcome = match &wrong {
                    Invalid::Syntax(_) => AttemptOutcome::SyntaxInvalid,
                    Invalid::Schema(_) => AttemptOutcome::SchemaInvalid,
                };
                return invalid(outcome, wrong.to_string());
            }
        };
        let answered = Answered {
            report: &report,
            schema: &self.schema,
            prompt: &self.prompt,
            call_key: answer.call_key,
        };
        if let Err(violation) = self.policy.check(answered) {
            return invalid(AttemptOutcome::PolicyInvalid, violation.to_string());
        }
        let findings = match self.findings(&report, answer.input) {
            Ok(findings) => findings,
            Err(unfit) => {
                let outcome = match &unfit {
                    Unfit::Rules(_) => AttemptOutcome::PolicyInvalid,
                    Unfit::Input(_) => AttemptOutcome::InvalidRequest,
                    Unfit::Json(_) => AttemptOutcome::SyntaxInvalid,
                };
                return invalid(outcome, unfit.to_string());
            }
        };
        let ruled = rule::first_that_holds(&self.review_when, &self.kind, &report);
        let doubts = [ruled.map(Rule::to_string), self.policy.doubt(answer.input)];
        let notes: Vec<String> = doubts.into_iter().flatten().collect();
        Judgement::Valid {
            value: report.canonical().to_owned(),
            findings,
            doubt: (!notes.is_empty()).then(|| notes.join("; ")),
            remark: match report.wrapping() {
                Wrapping::Bare => None,
                Wrapping::Fenced => Some(Wrapping::FENCED.to_owned()),
            },
        }
    }

    /// What an answer lists, where the pipeline makes findings.
    fn findings(&self, report: &ValidReport, input: &[u8]) -> Result<Option<Vec<Finding>>, Unfit> {
        match &self.kind {
            Kind::Classification => Ok(None),
            Kind::Findings(rules) => rules.read(report.canonical(), input).map(Some),
        }
    }

    /// What the findings of two values are compared by; none where there are none to compare.
    #[must_use]
    pub fn marks(&self, value: &json::Value<'_>, input: &[u8]) -> Option<Vec<Vec<String>>> {
        match &self.kind {
            Kind::Classification => None,
            Kind::Findings(rules) => rules.marks(value, input).ok(),
        }
    }
}
