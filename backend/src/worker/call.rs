//! The call, watched: by its time, by its lease, and by the end of the process.

use std::time::Duration;

use tracing::warn;

use super::{Pipeline, Worker, limit::Permit};
use crate::{
    extractor::{Draft, ExtractError, OutputCap},
    failpoint::point,
    report::AttemptOutcome,
    store::{Grant, Held, Lease, Lost},
};

/// How a question ended.
pub(super) enum Asked {
    /// With an answer that can be judged, after so long.
    Answered(Draft, Duration),
    /// With none, after so long.
    Failed(ExtractError, Duration),
    /// The lease was lost, so the call was dropped.
    Lost(Lost),
    /// The process ends, so the call was dropped.
    Halted,
}

impl Worker {
    /// Asks once. Whatever ends it first drops the rest: the call, its timer and the heartbeats,
    /// and then the permit.
    pub(super) async fn ask(
        &self,
        pipeline: &Pipeline,
        mut permit: Permit,
        grant: &Grant,
    ) -> Asked {
        let cap = match grant.last_verdict {
            Some(AttemptOutcome::Truncated) => OutputCap::Larger,
            Some(_) | None => OutputCap::Ordinary,
        };
        let question = pipeline.question(grant.lease.call_key(), &grant.input, cap);
        permit.begin();
        point!("call.before");
        let asked = tokio::select! {
            biased;
            (answer, took) = pipeline.call(&question, &*self.parts.timer) => match answer {
                Ok(draft) => Asked::Answered(draft, took),
                Err(failed) => Asked::Failed(failed, took),
            },
            lost = self.hold(&grant.lease) => Asked::Lost(lost),
            () = self.parts.stop.halted() => Asked::Halted,
        };
        point!("call.after");
        asked
    }

    /// Prolongs a lease at each third of its length, until it is lost.
    pub(super) async fn hold(&self, lease: &Lease) -> Lost {
        loop {
            self.parts.timer.sleep(lease.length() / 3).await;
            match self.parts.store.heartbeat(lease).await {
                Ok(Held::Yes { .. }) => {}
                Ok(Held::Lost(lost)) => return lost,
                // The lease may run out, but until another took it the answer can be committed.
                Err(error) => warn!(report = %lease.report(), %error, "a heartbeat failed"),
            }
        }
    }
}
