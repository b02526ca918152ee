//! The loop, too dumb to test: it steps, and waits when there is nothing to do.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use tokio::task::JoinSet;
use tracing::{error, warn};

use super::{Step, Timer, Worker};
use crate::{retry::Chance, store::StoreError};

/// How a process works.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How many steps may be under way at once.
    pub concurrency: NonZeroUsize,
    /// How long until an idle worker looks again without being woken: how late it may learn of
    /// what another process stored.
    pub poll: Duration,
}

/// Works until the stop signal comes and what is under way is settled.
pub async fn run(worker: Arc<Worker>, pace: Pace) {
    // They end with this function.
    let mut heralds = JoinSet::new();
    for limiter in worker.limiters() {
        let timer = Arc::clone(&worker.parts.timer);
        heralds.spawn(async move { limiter.herald(&*timer).await });
    }
    let mut loops = JoinSet::new();
    for _ in 0..pace.concurrency.get() {
        loops.spawn(work(Arc::clone(&worker), pace.poll));
    }
    while let Some(ended) = loops.join_next().await {
        if let Err(ended) = ended
            && ended.is_panic()
        {
            // Its job's lease runs out and the attempt stays charged, so that this ends too.
            error!("a step panicked; its job is taken over later");
            loops.spawn(work(Arc::clone(&worker), pace.poll));
        }
    }
}

async fn work(worker: Arc<Worker>, poll: Duration) {
    let mut failures = 0;
    while !worker.parts.stop.is_stopping() {
        let step = worker.step().await;
        failures = failures_after(&step, failures);
        let pause = match step {
            Ok(Step::Idle { wait }) => Some(wait.map_or(poll, |wait| wait.min(poll))),
            // What frees an extractor wakes, too.
            Ok(Step::AtLimits) => None,
            Ok(
                Step::Committed(_)
                | Step::SentToReview(_)
                | Step::Outdated(_)
                | Step::Rejected { .. }
                | Step::Rescheduled { .. }
                | Step::Superseded { .. }
                | Step::AlreadySettled { .. }
                | Step::SetAside(_),
            ) => continue,
            Err(error) => {
                warn!(%error, failures, "the database failed");
                let chance = Chance(rand::random());
                Some(worker.parts.backoff.wait(failures, None, chance))
            }
        };
        tokio::select! {
            () = worker.parts.wake.notified() => {}
            () = sleep(&*worker.parts.timer, pause) => {}
            () = worker.parts.stop.stopping() => {}
        }
    }
}

/// Comes back after a time, or never.
async fn sleep(timer: &dyn Timer, wait: Option<Duration>) {
    match wait {
        Some(wait) => timer.sleep(wait).await,
        None => std::future::pending().await,
    }
}

/// How often in a row the database failed. One that has nothing to do for us works all the same.
fn failures_after(step: &Result<Step, StoreError>, before: u32) -> u32 {
    match step {
        Ok(_) => 0,
        Err(_) => before.saturating_add(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_only_in_a_row() {
        let failed = Err(StoreError::Busy);
        let idle = Ok(Step::Idle { wait: None });
        let steps = [&failed, &failed, &idle, &failed];
        let counts = steps.into_iter().scan(0, |failures, step| {
            *failures = failures_after(step, *failures);
            Some(*failures)
        });
        assert_eq!(counts.collect::<Vec<_>>(), [1, 2, 0, 1]);
    }
}
