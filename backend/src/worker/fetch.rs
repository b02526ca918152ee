//! Fetching the input of a report whose delivery brought only a reference: under the lease, before
//! anything else, and once.

use std::{sync::Arc, time::Duration};

use tracing::debug;

use super::{Pipeline, Step, Worker, released, settle::Verdict};
use crate::{
    failpoint::point,
    fetch::{Consequence, FetchError, Fetcher},
    report::{AttemptOutcome, ReviewReason},
    store::{
        AfterRejection, Charge, CredentialName, Fetched, Grant, KeptInput, Lease, Release,
        ReviewNeed, StoreError,
    },
};

/// For how long a report is left to others whose source this worker does not know: a newer
/// configuration may be on its way.
const ELSEWHERE: Duration = Duration::from_secs(60);

/// How the inputs of one source's reports are fetched.
#[derive(Clone, Debug)]
pub struct Source {
    /// Who fetches them.
    pub fetcher: Arc<Fetcher>,
    /// What is presented: where it is refused, all that present it wait.
    pub credential: CredentialName,
}

/// A grant whose input was looked after.
pub(super) enum Complete {
    /// The input is there.
    Yes(Box<Grant>),
    /// It is not, and this is what came of it.
    Ended(Step),
}

/// How a fetch ended that brought nothing.
enum Ended {
    /// With a verdict on the job.
    Settled(Verdict),
    /// The lease was lost, so it was dropped.
    Lost(crate::store::Lost),
}

impl Worker {
    /// Fetches the input, where it is not there yet.
    pub(super) async fn complete(
        &self,
        pipeline: &Pipeline,
        mut grant: Grant,
    ) -> Result<Complete, StoreError> {
        let Some(links) = grant.unfetched.take() else {
            return Ok(Complete::Yes(Box::new(grant)));
        };
        let fetched = self.fetch(pipeline, &grant, &links).await;
        let key = grant.lease.report();
        match fetched {
            Ok(fetched) => match self.keep_input(&grant.lease, fetched).await? {
                KeptInput::Kept(input) => {
                    debug!(report = %key, input_bytes = input.len(), "the input was fetched");
                    grant.input = input;
                    Ok(Complete::Yes(Box::new(grant)))
                }
                KeptInput::Lost(lost) => Ok(Complete::Ended(Step::Superseded { key, lost })),
            },
            Err(Ended::Lost(lost)) => Ok(Complete::Ended(Step::Superseded { key, lost })),
            Err(Ended::Settled(verdict)) => {
                let step = self.settle(grant.lease, verdict, None).await?;
                Ok(Complete::Ended(step))
            }
        }
    }

    /// Fetches once. Whatever ends it first drops the rest: the request, its timer and the
    /// heartbeats.
    async fn fetch(
        &self,
        pipeline: &Pipeline,
        grant: &Grant,
        links: &[(String, String)],
    ) -> Result<Fetched, Ended> {
        if self.parts.stop.is_stopping() {
            let reason = "the worker stopped before the input was fetched";
            return Err(Ended::Settled(released(reason, Charge::GiveBack)));
        }
        let Some(source) = pipeline.sources.get(&grant.source) else {
            let reason = format!(
                "this worker does not know how the content of source `{}` is fetched",
                grant.source
            );
            let (outcome, wait) = (AttemptOutcome::Released, Some(ELSEWHERE));
            let put_off = self.put_off(grant, outcome, reason, wait, Charge::GiveBack);
            return Err(Ended::Settled(put_off));
        };
        let fetcher = &source.fetcher;
        point!("fetch.before");
        let fetched = tokio::select! {
            biased;
            fetched = fetcher.fetch(&grant.identity, links) => fetched,
            () = self.parts.timer.sleep(fetcher.timeout()) => Err(FetchError::Timeout),
            lost = self.hold(&grant.lease) => return Err(Ended::Lost(lost)),
            () = self.parts.stop.halted() => {
                let reason = "the worker stopped while the input was fetched";
                return Err(Ended::Settled(released(reason, Charge::GiveBack)));
            }
        };
        point!("fetch.after");
        match fetched {
            Ok(input) => Ok(Fetched {
                input: input.into(),
                with: source.credential.clone(),
            }),
            Err(error) => Err(Ended::Settled(self.without_input(&error, source, grant))),
        }
    }

    /// What follows from a fetch that brought nothing. No inference can have begun.
    fn without_input(&self, error: &FetchError, source: &Source, grant: &Grant) -> Verdict {
        let reason = format!("the input was not fetched: {error}");
        tracing::warn!(report = %grant.lease.report(), source.name = grant.source, "{reason}");
        match error.consequence() {
            Consequence::Review => for_a_person(reason),
            Consequence::Later { retry_after } => {
                let outcome = outcome_of(error);
                self.put_off(grant, outcome, reason, retry_after, Charge::GiveBack)
            }
            Consequence::PauseCredential => Verdict::Release(Release {
                refused: Some(source.credential.clone()),
                outcome: outcome_of(error),
                reason: Some(reason),
                call: None,
                after: Duration::ZERO,
                charge: Charge::GiveBack,
            }),
        }
    }

    /// Keeps an input. Tried until the database takes it.
    async fn keep_input(&self, lease: &Lease, fetched: Fetched) -> Result<KeptInput, StoreError> {
        let mut failures = 0;
        loop {
            match self.parts.store.keep_input(lease, fetched.clone()).await {
                Ok(kept) => return Ok(kept),
                Err(error) => self.wait_after(error, &mut failures).await?,
            }
        }
    }
}

/// What the attempt of a fetch that brought nothing is called.
pub(super) fn outcome_of(error: &FetchError) -> AttemptOutcome {
    match error {
        FetchError::Credential(_) => AttemptOutcome::Auth,
        FetchError::RateLimited { .. } => AttemptOutcome::RateLimited,
        FetchError::Overloaded { .. } => AttemptOutcome::Overloaded,
        FetchError::Transport => AttemptOutcome::Transport,
        FetchError::Timeout => AttemptOutcome::Timeout,
        FetchError::Unplaceable(_)
        | FetchError::NotAnAddress
        | FetchError::Elsewhere
        | FetchError::Private
        | FetchError::Redirects
        | FetchError::NoContent(_)
        | FetchError::TooLarge(_)
        | FetchError::NotText
        | FetchError::Compressed => AttemptOutcome::InvalidRequest,
    }
}

/// A person is asked, who sees why.
fn for_a_person(reason: String) -> Verdict {
    Verdict::Reject {
        outcome: AttemptOutcome::InvalidRequest,
        next: AfterRejection::Review(ReviewNeed {
            reason: ReviewReason::InvalidRequest,
            note: Some(reason.clone()),
        }),
        reason,
    }
}
