//! A pipeline as a worker runs it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use fencepost_identity::key::CallKey;

use super::{Limiter, Source, settle::Verdict, timer::Timer};
use crate::{
    extractor::{Draft, ExtractError, Extractor, Failure, OutputCap, Question},
    failpoint::point,
    judge::{Answer, Judge, Judgement},
    report::{AttemptOutcome, ReviewReason},
    store::{AfterRejection, CredentialName, Grant, PipelineTerms, PipelineVersions, ReviewNeed},
};

/// What is done with the reports of a pipeline.
#[derive(Clone)]
pub struct Pipeline {
    /// Its name, its versions, and what these stand for.
    pub versions: PipelineVersions,
    /// What an answer is judged by; what is asked of the model is part of it.
    pub judge: Judge,
    /// Who is asked.
    pub extractor: Arc<dyn Extractor>,
    /// How much they are asked: the same one for all pipelines that ask the same extractor.
    pub limiter: Arc<Limiter>,
    /// What is presented to them: where it is refused, all that present it wait.
    pub credential: CredentialName,
    /// How inputs are fetched, by the sources that leave it to the backend.
    pub sources: BTreeMap<String, Source>,
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
            fetched_with: self.fetched_with(),
            lease: self.lease,
            max_attempts: self.max_attempts,
            max_elapsed: self.max_elapsed,
        }
    }

    /// What is presented to those whom inputs are fetched from.
    fn fetched_with(&self) -> BTreeMap<String, CredentialName> {
        let sources = self.sources.iter();
        sources
            .map(|(name, source)| (name.clone(), source.credential.clone()))
            .collect()
    }

    /// The question about an input.
    pub(super) fn question<'a>(
        &'a self,
        call_key: CallKey,
        input: &'a [u8],
        cap: OutputCap,
    ) -> Question<'a> {
        Question {
            call_key,
            input,
            prompt: &self.judge.prompt,
            schema: self.judge.schema.document(),
            cap,
        }
    }

    /// Asks once, for no longer than a call may take, and says how long it took.
    pub(super) async fn call(
        &self,
        question: &Question<'_>,
        timer: &dyn Timer,
    ) -> (Result<Draft, ExtractError>, Duration) {
        let begun = timer.now();
        let answer = tokio::select! {
            // An answer that is there is paid for, whatever else happened at the same moment.
            biased;
            answer = self.extractor.extract(question) => answer,
            () = timer.sleep(self.call_timeout) => Err(ExtractError {
                failure: Failure::Timeout,
                call: self.extractor.addressee(),
            }),
        };
        (answer, timer.now().duration_since(begun))
    }

    /// What becomes of an input that nobody is asked about: a person looks at it.
    pub(super) fn refuse(&self, input: &[u8]) -> Option<Verdict> {
        let refusal = self.judge.refuse(input)?;
        Some(Verdict::Reject {
            outcome: refusal.outcome,
            reason: refusal.reason,
            next: AfterRejection::Review(refusal.review.into()),
        })
    }

    /// Judges the answer to a question. An invalid one is asked for again at once: waiting would
    /// not mend it.
    pub(super) fn judge(&self, grant: &Grant, text: &str) -> Verdict {
        point!("judged.before");
        let verdict = self.verdict(grant, text);
        point!("judged.after");
        verdict
    }

    fn verdict(&self, grant: &Grant, text: &str) -> Verdict {
        let answer = Answer {
            text,
            call_key: grant.lease.call_key(),
            input: &grant.input,
        };
        match self.judge.judge(answer) {
            Judgement::Valid {
                value,
                findings,
                doubt,
                remark,
            } => Verdict::Commit {
                value,
                findings,
                review: doubt.map(|note| ReviewNeed {
                    reason: ReviewReason::Policy,
                    note: Some(note),
                }),
                remark,
            },
            Judgement::Invalid { outcome, reason } => Verdict::Reject {
                outcome,
                reason,
                // Where the input is at fault, another answer would be no better.
                next: if outcome == AttemptOutcome::InvalidRequest {
                    AfterRejection::Review(ReviewReason::InvalidRequest.into())
                } else {
                    AfterRejection::Again(Duration::ZERO)
                },
            },
        }
    }
}
