//! What the end of an attempt teaches, in the transaction that settles its job.

use std::time::Duration;

use async_trait::async_trait;

use super::{Change, Lesson, learn};
use crate::{
    report::AttemptOutcome,
    store::{
        Commit, Rejected, Released, StoreError,
        lease::Hold,
        operation::{CommitJob, Lane, Operation, RejectJob, ReleaseJob, Tx},
    },
};

/// An operation that settles a job.
pub(in crate::store) trait Settlement: Operation {
    /// The lease that it settles under.
    fn hold(&self) -> &Hold;

    /// What there is to learn of it.
    fn lesson(&self) -> Lesson<'_>;

    /// Whether the lease no longer stood, so that nothing was written.
    fn is_lost(done: &Self::Done) -> bool;
}

/// The answer to who settled a job, and what it changed for others.
pub(in crate::store) struct Settled<T> {
    pub(in crate::store) answer: T,
    pub(in crate::store) changes: Vec<Change>,
}

/// Settles a job, and draws the consequences for what is paused.
pub(in crate::store) struct Learning<O>(pub(in crate::store) O);

#[async_trait]
impl<O: Settlement> Operation for Learning<O> {
    type Done = Settled<O::Done>;
    const LANE: Lane = O::LANE;

    fn rank(&self) -> [u8; 32] {
        self.0.rank()
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Done, StoreError> {
        let Self(settlement) = self;
        let answer = settlement.run(tx).await?;
        let changes = if O::is_lost(&answer) {
            Vec::new()
        } else {
            learn(tx, settlement.hold(), settlement.lesson()).await?
        };
        Ok(Settled { answer, changes })
    }
}

impl Settlement for CommitJob {
    fn hold(&self) -> &Hold {
        &self.hold
    }

    fn lesson(&self) -> Lesson<'_> {
        Lesson {
            outcome: AttemptOutcome::Committed,
            refused: None,
            call: self.value.call.as_ref(),
            wait: Duration::ZERO,
        }
    }

    fn is_lost(done: &Commit) -> bool {
        matches!(done, Commit::Lost(_))
    }
}

impl Settlement for RejectJob {
    fn hold(&self) -> &Hold {
        &self.hold
    }

    fn lesson(&self) -> Lesson<'_> {
        Lesson {
            outcome: self.rejection.outcome,
            refused: None,
            call: self.rejection.call.as_ref(),
            wait: Duration::ZERO,
        }
    }

    fn is_lost(done: &Rejected) -> bool {
        matches!(done, Rejected::Lost(_))
    }
}

impl Settlement for ReleaseJob {
    fn hold(&self) -> &Hold {
        &self.hold
    }

    fn lesson(&self) -> Lesson<'_> {
        Lesson {
            outcome: self.release.outcome,
            refused: self.release.refused.as_ref(),
            call: self.release.call.as_ref(),
            wait: self.release.after,
        }
    }

    fn is_lost(done: &Released) -> bool {
        matches!(done, Released::Lost(_))
    }
}
