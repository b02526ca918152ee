//! Claims a job, asks the model, judges the answer, settles the job.
//!
//! Two short transactions with the slow call between them: nothing of the database is held while a
//! model works. What decides is the store's fence; here it is only obeyed.

mod admission;
mod bind;
mod call;
mod expire;
mod fetch;
mod limit;
mod pipeline;
mod run;
mod settle;
mod stop;
mod timer;
mod trial;

use std::{sync::Arc, time::Duration};

use fencepost_identity::key::ReportKey;
use tokio::sync::Notify;
use tracing::{debug, error, info, warn};

pub use self::{
    bind::{Bindings, bind},
    expire::{EXPIRY_INTERVAL, Expiry},
    fetch::Source,
    limit::{Limiter, Limits},
    pipeline::{Keep, Pipeline},
    run::{Pace, run},
    stop::{Stop, StopSignal, stop},
    timer::{Timer, TokioTimer},
    trial::{FetchFailed, Trial},
};
use self::{call::Asked, fetch::Complete, limit::Permit, settle::Verdict};
use crate::{
    clock::UnixMillis,
    extractor::Draft,
    report::{AttemptOutcome, Nonce, State, WorkerId},
    retry::Backoff,
    store::{
        CallRecord, Charge, Claim, ClaimRequest, Corruption, Grant, Held, Lost, RawAnswer, Release,
        Store, StoreError, Turns,
    },
};

/// Works on the jobs of its pipelines, one per [`Worker::step`]; several steps may be under way.
pub struct Worker {
    parts: WorkerParts,
    turns: Arc<Turns>,
}

/// What a worker is made of.
pub struct WorkerParts {
    /// Unique per process start.
    pub id: WorkerId,
    /// Where the jobs are.
    pub store: Arc<dyn Store>,
    /// What it can work for: pipelines whose versions are bound, see [`bind()`].
    pub pipelines: Vec<Arc<Pipeline>>,
    /// How waits after failures grow.
    pub backoff: Backoff,
    /// What it waits with.
    pub timer: Arc<dyn Timer>,
    /// Told once for each report that is stored in this process.
    pub wake: Arc<Notify>,
    /// When to end.
    pub stop: StopSignal,
}

/// What a step came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing was due.
    Idle {
        /// How long until something is, as things stand.
        wait: Option<Duration>,
    },
    /// Nothing was claimed, since every extractor is at its limit. The worker is woken when one is
    /// not any more.
    AtLimits,
    /// A final result was committed.
    Committed(ReportKey),
    /// A person is asked, with a result or without one.
    SentToReview(ReportKey),
    /// The answer was not taken; another attempt is due.
    Rejected {
        /// The report.
        key: ReportKey,
        /// When.
        due: UnixMillis,
    },
    /// The job is claimed again later.
    Rescheduled {
        /// The report.
        key: ReportKey,
        /// When, at the earliest.
        due: UnixMillis,
        /// Whether the attempt counts.
        charge: Charge,
    },
    /// A newer version took the report's place, or a person decided: nothing follows.
    Outdated(ReportKey),
    /// The lease no longer stands; nothing was written.
    Superseded {
        /// The report.
        key: ReportKey,
        /// Why.
        lost: Lost,
    },
    /// The database failed, but what it was asked had been done: only the reply had got lost.
    AlreadySettled {
        /// The report.
        key: ReportKey,
        /// How the job was left.
        state: State,
    },
    /// A row can't be understood and was set aside.
    SetAside(Corruption),
}

impl Worker {
    /// A worker; it does nothing by itself.
    #[must_use]
    pub fn new(parts: WorkerParts) -> Self {
        Self {
            parts,
            turns: Arc::default(),
        }
    }

    /// Claims one job whose extractor may be asked now, and works on it until it is settled.
    ///
    /// # Errors
    /// The database failed. What was claimed is claimed again when its lease has run out; an answer
    /// that was stored by then is judged, not asked for again.
    pub async fn step(&self) -> Result<Step, StoreError> {
        let admission = self.admit();
        if admission.is_empty() && !self.parts.pipelines.is_empty() {
            return Ok(Step::AtLimits);
        }
        let request = ClaimRequest {
            worker: self.parts.id.clone(),
            nonce: Nonce::new(rand::random()),
            pipelines: admission.terms(),
            turns: Arc::clone(&self.turns),
        };
        match self.parts.store.claim(request).await? {
            Claim::Idle { wait } => Ok(Step::Idle { wait }),
            Claim::Exhausted(key) => {
                warn!(report = %key, "attempts spent: sent to review");
                Ok(Step::SentToReview(key))
            }
            Claim::Elapsed(key) => {
                warn!(report = %key, "time for the job is over: sent to review");
                Ok(Step::SentToReview(key))
            }
            Claim::Superseded(key) => Ok(Step::Outdated(key)),
            Claim::SetAside(corruption) => {
                error!(row = %corruption, "a row can't be understood: set aside");
                Ok(Step::SetAside(corruption))
            }
            Claim::Granted(grant) => {
                // Where one job was, there may be more, and one wake-up may have stood for several.
                self.parts.wake.notify_one();
                let key = grant.lease.report();
                let step = match admission.choose(&grant.pipeline) {
                    Some((pipeline, permit)) => self.work(&pipeline, permit, *grant).await,
                    None => {
                        let reason = "the worker does not have this pipeline";
                        let release = released(reason, Charge::GiveBack);
                        self.settle(grant.lease, release, None).await
                    }
                };
                match &step {
                    Ok(step) => info!(report = %key, ?step, "step"),
                    Err(error) => error!(report = %key, %error, "the job was not settled"),
                }
                step
            }
        }
    }

    async fn work(
        &self,
        pipeline: &Pipeline,
        permit: Permit,
        grant: Grant,
    ) -> Result<Step, StoreError> {
        let grant = match self.complete(pipeline, grant).await? {
            Complete::Yes(grant) => *grant,
            Complete::Ended(step) => return Ok(step),
        };
        if let Some(verdict) = self.without_asking(pipeline, &grant) {
            drop(permit);
            return self.settle(grant.lease, verdict, None).await;
        }
        match self.ask(pipeline, permit, &grant).await {
            Asked::Answered(draft, took) => self.judge(pipeline, grant, draft, took).await,
            Asked::Failed(failed, took) => {
                let verdict = self.verdict_on(&failed, &grant);
                let call = Some(CallRecord::from(failed.call).after(took));
                self.settle(grant.lease, verdict, call).await
            }
            Asked::Lost(lost) => Ok(Step::Superseded {
                key: grant.lease.report(),
                lost,
            }),
            Asked::Halted => {
                let release = released("the worker stopped during the call", Charge::Keep);
                self.settle(grant.lease, release, None).await
            }
        }
    }

    /// What follows where nobody is to be asked.
    fn without_asking(&self, pipeline: &Pipeline, grant: &Grant) -> Option<Verdict> {
        if let Some(stored) = &grant.stored {
            debug!(report = %grant.lease.report(), "a stored answer is judged, no call is made");
            let text = String::from_utf8_lossy(&stored.answer.raw).into_owned();
            return Some(pipeline.judge(grant, &text));
        }
        if let Some(verdict) = pipeline.refuse(&grant.input) {
            return Some(verdict);
        }
        let stopping = self.parts.stop.is_stopping();
        stopping.then(|| released("the worker stopped before the call", Charge::GiveBack))
    }

    async fn judge(
        &self,
        pipeline: &Pipeline,
        grant: Grant,
        draft: Draft,
        took: Duration,
    ) -> Result<Step, StoreError> {
        let call = CallRecord::from(draft.call).after(took);
        if pipeline.keep == Keep::Raw {
            let raw = RawAnswer {
                raw: draft.text.clone().into_bytes(),
                call: call.clone(),
            };
            if let Held::Lost(lost) = self.store_raw(&grant.lease, raw).await? {
                return Ok(Step::Superseded {
                    key: grant.lease.report(),
                    lost,
                });
            }
        }
        let verdict = pipeline.judge(&grant, &draft.text);
        self.settle(grant.lease, verdict, Some(call)).await
    }
}

/// A lease is given back as it is.
fn released(reason: &str, charge: Charge) -> Verdict {
    Verdict::Release(Release {
        outcome: AttemptOutcome::Released,
        reason: Some(reason.to_owned()),
        call: None,
        refused: None,
        after: Duration::ZERO,
        charge,
    })
}
