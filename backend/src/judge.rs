//! The one judge of answers, of those that have just come and of those that were kept: strict
//! JSON, the pipeline's schema, its policy, and whether a person has to look.

mod rule;

use std::{fmt, sync::Arc};

use fencepost_identity::key::CallKey;

pub use self::rule::{Rule, Test};
use crate::{
    policy::{Answered, Policy},
    report::{AttemptOutcome, Finding},
    schema::{Invalid, Schema, Wrapping},
};

/// What a pipeline judges by.
#[derive(Clone, Debug)]
pub struct Judge {
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
        /// One of the three kinds.
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
        let ruled = rule::first_that_holds(&self.review_when, &report).map(Rule::to_string);
        let doubts = [ruled, self.policy.doubt(answer.input)];
        let notes: Vec<String> = doubts.into_iter().flatten().collect();
        Judgement::Valid {
            value: report.canonical().to_owned(),
            findings: None,
            doubt: (!notes.is_empty()).then(|| notes.join("; ")),
            remark: match report.wrapping() {
                Wrapping::Bare => None,
                Wrapping::Fenced => Some(Wrapping::FENCED.to_owned()),
            },
        }
    }
}
