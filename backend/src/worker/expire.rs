//! Answers that were kept as long as their pipelines say are emptied, beside all other work.

use std::{sync::Arc, time::Duration};

use tracing::{debug, error, info, warn};

use super::{StopSignal, Timer};
use crate::store::{Emptied, ExpiredAnswer, Keeping, Store, StoreError};

/// How often it is looked for answers that have been kept long enough.
pub const EXPIRY_INTERVAL: Duration = Duration::from_secs(60);

/// Empties what has been kept long enough.
pub struct Expiry {
    /// Where the answers are.
    pub store: Arc<dyn Store>,
    /// The pipelines that say how long, each once.
    pub keepings: Vec<Keeping>,
    /// What it waits with.
    pub timer: Arc<dyn Timer>,
    /// When to end.
    pub stop: StopSignal,
}

impl Expiry {
    /// Looks again and again until the stop signal comes; not at all where every pipeline keeps
    /// its answers for ever.
    pub async fn run(self) {
        while !self.keepings.is_empty() && !self.stop.is_stopping() {
            self.pass().await;
            tokio::select! {
                () = self.timer.sleep(EXPIRY_INTERVAL) => {}
                () = self.stop.stopping() => {}
            }
        }
    }

    /// Empties all that has been kept long enough by now, and says how many answers that were.
    /// What fails is told and left to the next pass: neither a row nor a pipeline holds up others.
    pub async fn pass(&self) -> u64 {
        let mut emptied = 0;
        for keeping in &self.keepings {
            if let Err(error) = self.expire(keeping, &mut emptied).await {
                let pipeline = keeping.pipeline.as_str();
                warn!(pipeline, %error, "answers that were kept long enough are still there");
            }
        }
        if emptied > 0 {
            info!(emptied, "answers were kept long enough");
        }
        emptied
    }

    async fn expire(&self, keeping: &Keeping, emptied: &mut u64) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let expired = self.store.expired_answers(keeping.clone(), after).await?;
            for row in &expired.unreadable {
                error!(%row, "a row can't be understood: its answer is kept");
            }
            for answer in expired.answers {
                if self.stop.is_stopping() {
                    return Ok(());
                }
                *emptied += self.empty(answer).await?;
            }
            after = expired.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn empty(&self, answer: ExpiredAnswer) -> Result<u64, StoreError> {
        match self.store.empty_answer(answer).await {
            Ok(Emptied::Done) => Ok(1),
            Ok(Emptied::Left) => {
                debug!(report = %answer.report, "the answer was gone already");
                Ok(0)
            }
            Err(error @ (StoreError::Corrupt(_) | StoreError::Contradiction(_))) => {
                error!(report = %answer.report, %error, "an answer can't be emptied: it is kept");
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}
