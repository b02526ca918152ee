//! A pipeline as a worker runs it.

use std::{sync::Arc, time::Duration};

use super::settle::Verdict;
use crate::{
    extractor::Extractor,
    failpoint::point,
    judge::{Judgement, Rule, judge},
    report::{AttemptOutcome, ReviewReason},
    schema::{Invalid, Schema},
    store::{AfterRejection, CredentialName, PipelineTerms, PipelineVersions, ReviewNeed},
};

/// What is done with the reports of a pipeline.
#[derive(Clone)]
pub struct Pipeline {
    /// Its name, its versions, and what these stand for.
    pub versions: PipelineVersions,
    /// What is asked of the model.
    pub prompt: String,
    /// Who is asked.
    pub extractor: Arc<dyn Extractor>,
    /// What is presented to them: where it is refused, all that present it wait.
    pub credential: CredentialName,
    /// What an answer has to be.
    pub schema: Arc<Schema>,
    /// When a person has to see a valid answer.
    pub review_when: Vec<Rule>,
    /// How many charged attempts a job has.
    pub max_attempts: u32,
    /// How long a lease is, from the grant and from each heartbeat on.
    pub lease: Duration,
    /// How long one call may take, whatever the heartbeats.
    pub call_timeout: Duration,
    /// How long a job may take in all.
    pub max_elapsed: Duration,
    /// Whether answers are kept as they came.
    pub keep: Keep,
}

/// Whether answers are kept as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Stored before they are judged: a crash after the call costs no second one.
    Raw,
    /// Only the value is stored.
    Nothing,
}

impl Pipeline {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.versions.pipeline
    }

    pub(super) fn terms(&self) -> PipelineTerms {
        PipelineTerms {
            pipeline: self.versions.pipeline.clone(),
            classifier_version: self.versions.classifier_version.clone(),
            schema_version: self.versions.schema_version.clone(),
            credential: self.credential.clone(),
            lease: self.lease,
            max_attempts: self.max_attempts,
            max_elapsed: self.max_elapsed,
        }
    }

    /// Judges an answer. An invalid one is asked for again at once: waiting would not mend it.
    pub(super) fn judge(&self, text: &str) -> Verdict {
        point!("judged.before");
        let verdict = self.verdict(text);
        point!("judged.after");
        verdict
    }

    fn verdict(&self, text: &str) -> Verdict {
        let report = match self.schema.read(text) {
            Ok(report) => report,
            Err(invalid) => {
                let outcome = match &invalid {
                    Invalid::Syntax(_) => AttemptOutcome::SyntaxInvalid,
                    Invalid::Schema(_) => AttemptOutcome::SchemaInvalid,
                };
                let next = AfterRejection::Again(Duration::ZERO);
                return Verdict::Reject {
                    outcome,
                    reason: invalid.to_string(),
                    next,
                };
            }
        };
        let review = match judge(&self.review_when, &report) {
            Judgement::Final => None,
            Judgement::Review(rule) => Some(ReviewNeed {
                reason: ReviewReason::Policy,
                note: Some(rule.to_string()),
            }),
        };
        Verdict::Commit {
            value: report.canonical().to_owned(),
            review,
        }
    }
}
