//! What follows from an answer or from a failure, and how it gets into the database.

use std::time::Duration;

use fencepost_identity::key::ReportKey;
use tracing::warn;

use super::{Step, Worker};
use crate::{
    extractor::{Call, Disposition, ExtractError, Failure, Inference},
    report::{AttemptOutcome, Finding, ReviewReason},
    retry::Chance,
    store::{
        AfterRejection, CallRecord, Charge, Commit, Commitment, Grant, Held, Lease, Lost,
        RawAnswer, Rejected, Rejection, Release, Released, ReviewNeed, StoreError, Unsettled,
    },
};

/// What is to be written about a job; the call is added when it is.
#[derive(Clone)]
pub(super) enum Verdict {
    /// A valid value.
    Commit {
        /// Canonical JSON.
        value: String,
        /// What it lists.
        findings: Option<Vec<Finding>>,
        /// Why a person has to see it.
        review: Option<ReviewNeed>,
        /// What the attempt tells of the answer.
        remark: Option<String>,
    },
    /// The attempt failed for good.
    Reject {
        /// How.
        outcome: AttemptOutcome,
        /// What was wrong.
        reason: String,
        /// What follows.
        next: AfterRejection,
    },
    /// The job is put off.
    Release(Release),
}

impl Worker {
    /// What follows from a call that brought nothing to judge.
    pub(super) fn verdict_on(&self, failed: &ExtractError, grant: &Grant) -> Verdict {
        let outcome = outcome_of(failed.failure);
        let reason = failed.to_string();
        let review = |need: ReviewReason| Verdict::Reject {
            outcome,
            reason: reason.clone(),
            next: AfterRejection::Review(need.into()),
        };
        match failed.disposition() {
            Disposition::Review => review(review_reason(failed.failure)),
            Disposition::LargerCap => match grant.last_verdict {
                Some(AttemptOutcome::Truncated) => review(ReviewReason::Truncated),
                Some(_) | None => Verdict::Reject {
                    outcome,
                    reason,
                    next: AfterRejection::Again(Duration::ZERO),
                },
            },
            Disposition::Snooze {
                retry_after,
                inference,
            } => {
                let charge = match inference {
                    Inference::NotBegun => Charge::GiveBack,
                    Inference::MayHaveBegun => Charge::Keep,
                };
                self.put_off(grant, outcome, reason, retry_after, charge)
            }
            // Nothing was begun. The job need not wait besides: its credential does.
            Disposition::PauseCredential { retry_after } => Verdict::Release(Release {
                outcome,
                reason: Some(reason),
                call: None,
                refused: None,
                after: retry_after.unwrap_or_default(),
                charge: Charge::GiveBack,
            }),
        }
    }

    pub(super) fn put_off(
        &self,
        grant: &Grant,
        outcome: AttemptOutcome,
        reason: String,
        retry_after: Option<Duration>,
        charge: Charge,
    ) -> Verdict {
        let failures = grant.failures.saturating_add(1);
        let after = self
            .parts
            .backoff
            .wait(failures, retry_after, Chance(rand::random()));
        Verdict::Release(Release {
            outcome,
            reason: Some(reason),
            call: None,
            refused: None,
            after,
            charge,
        })
    }

    /// Keeps an answer. Tried until the database takes it: it is paid for.
    pub(super) async fn store_raw(
        &self,
        lease: &Lease,
        raw: RawAnswer,
    ) -> Result<Held, StoreError> {
        let mut failures = 0;
        loop {
            match self.parts.store.store_raw(lease, raw.clone()).await {
                Ok(held) => return Ok(held),
                Err(error) => self.wait_after(error, &mut failures).await?,
            }
        }
    }

    /// Settles a job. When the database fails, whether it was settled is not known: the same
    /// verdict is written again under the same lease, which finds out; the model is not asked.
    pub(super) async fn settle(
        &self,
        lease: Lease,
        verdict: Verdict,
        call: Option<CallRecord>,
    ) -> Result<Step, StoreError> {
        let mut lease = lease;
        let mut failures = 0;
        loop {
            match self.write(lease, verdict.clone(), call.clone()).await {
                Ok(step) => return Ok(step),
                Err(unsettled) => {
                    lease = *unsettled.lease;
                    self.wait_after(unsettled.error, &mut failures).await?;
                }
            }
        }
    }

    async fn write(
        &self,
        lease: Lease,
        verdict: Verdict,
        call: Option<CallRecord>,
    ) -> Result<Step, Unsettled> {
        let key = lease.report();
        let store = &self.parts.store;
        Ok(match verdict {
            Verdict::Commit {
                value,
                findings,
                review,
                remark,
            } => {
                match store
                    .commit(
                        lease,
                        Commitment {
                            value,
                            findings,
                            review,
                            remark,
                            call,
                        },
                    )
                    .await?
                {
                    Commit::Final(_) | Commit::Candidate(_) => Step::Committed(key),
                    Commit::InReview(_) => Step::SentToReview(key),
                    Commit::Superseded(_) => Step::Outdated(key),
                    Commit::Lost(lost) => lost_at(key, lost),
                }
            }
            Verdict::Reject {
                outcome,
                reason,
                next,
            } => {
                let reason = Some(reason);
                match store
                    .reject(
                        lease,
                        Rejection {
                            outcome,
                            reason,
                            call,
                            next,
                        },
                    )
                    .await?
                {
                    Rejected::Again { due } => Step::Rejected { key, due },
                    Rejected::SentToReview(_) => Step::SentToReview(key),
                    Rejected::Superseded => Step::Outdated(key),
                    Rejected::Lost(lost) => lost_at(key, lost),
                }
            }
            Verdict::Release(release) => {
                match store.release(lease, Release { call, ..release }).await? {
                    Released::Rescheduled { due, charge } => Step::Rescheduled { key, due, charge },
                    Released::SentToReview(_) => Step::SentToReview(key),
                    Released::Superseded => Step::Outdated(key),
                    Released::Lost(lost) => lost_at(key, lost),
                }
            }
        })
    }

    /// Waits before the database is asked again, unless that can't help or the process ends.
    pub(super) async fn wait_after(
        &self,
        error: StoreError,
        failures: &mut u32,
    ) -> Result<(), StoreError> {
        if !passes(&error) {
            return Err(error);
        }
        *failures = failures.saturating_add(1);
        warn!(%error, failures, "the database failed; what is known is written again");
        let wait = self
            .parts
            .backoff
            .wait(*failures, None, Chance(rand::random()));
        tokio::select! {
            biased;
            () = self.parts.stop.halted() => Err(error),
            () = self.parts.timer.sleep(wait) => Ok(()),
        }
    }
}

/// Whether the same request may succeed later.
fn passes(error: &StoreError) -> bool {
    match error {
        StoreError::Busy
        | StoreError::Full
        | StoreError::Unavailable(_)
        | StoreError::Refused(_) => true,
        StoreError::Corrupt(_)
        | StoreError::Contradiction(_)
        | StoreError::Damaged
        | StoreError::NewerSchema { .. }
        | StoreError::Foreign
        | StoreError::Url
        | StoreError::Pooler
        | StoreError::Forgetful
        | StoreError::NotHere(_)
        | StoreError::Fault(_) => false,
    }
}

/// A job that was settled under this very lease was settled by us: the reply had got lost.
fn lost_at(key: ReportKey, lost: Lost) -> Step {
    match lost {
        Lost::Settled { state } => Step::AlreadySettled { key, state },
        Lost::Superseded { .. } | Lost::GrantedTwice | Lost::Gone => Step::Superseded { key, lost },
    }
}

pub(super) fn outcome_of(failure: Failure) -> AttemptOutcome {
    match failure {
        Failure::Refused => AttemptOutcome::Refused,
        Failure::Truncated => AttemptOutcome::Truncated,
        Failure::Transport(_) => AttemptOutcome::Transport,
        Failure::RateLimited { .. } => AttemptOutcome::RateLimited,
        Failure::Overloaded { .. } => AttemptOutcome::Overloaded,
        Failure::Timeout => AttemptOutcome::Timeout,
        Failure::Auth => AttemptOutcome::Auth,
        Failure::Quota { .. } => AttemptOutcome::Quota,
        Failure::InvalidRequest => AttemptOutcome::InvalidRequest,
        Failure::ContextTooLong => AttemptOutcome::ContextTooLong,
    }
}

fn review_reason(failure: Failure) -> ReviewReason {
    match failure {
        Failure::Refused => ReviewReason::Refused,
        Failure::Truncated => ReviewReason::Truncated,
        Failure::ContextTooLong => ReviewReason::ContextTooLong,
        Failure::InvalidRequest => ReviewReason::InvalidRequest,
        Failure::Transport(_)
        | Failure::RateLimited { .. }
        | Failure::Overloaded { .. }
        | Failure::Timeout
        | Failure::Auth
        | Failure::Quota { .. } => ReviewReason::AttemptsSpent,
    }
}

impl From<Call> for CallRecord {
    fn from(call: Call) -> Self {
        Self {
            provider: call.provider,
            model: call.model,
            request_id: call.request_id.map(|id| id.as_str().to_owned()),
            tokens_in: call.usage.tokens_in,
            tokens_out: call.usage.tokens_out,
            latency_ms: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::State;

    #[test]
    fn a_settlement_whose_reply_got_lost_is_found_to_be_done() {
        let key = ReportKey::from_bytes([7; 32]);
        let state = State::ReadyForReview;
        let settled = lost_at(key, Lost::Settled { state });
        assert_eq!(settled, Step::AlreadySettled { key, state });
        let lost = Lost::Gone;
        assert_eq!(lost_at(key, lost), Step::Superseded { key, lost });
    }

    #[test]
    fn what_time_can_not_mend_is_not_tried_again() {
        for error in [
            StoreError::Busy,
            StoreError::Full,
            StoreError::Unavailable(String::new()),
        ] {
            assert!(passes(&error), "{error}");
        }
        for error in [
            StoreError::Damaged,
            StoreError::Url,
            StoreError::Fault(String::new()),
        ] {
            assert!(!passes(&error), "{error}");
        }
    }
}
