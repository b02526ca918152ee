//! Several operations in one transaction: the disk is waited for once.
//!
//! An operation is handed over as a value. Once it is in a batch it is carried out whole, even if
//! its caller has gone. Nobody is answered before the transaction is committed, not even who
//! brought a duplicate. Where one fails, the batch is undone and each is carried out alone, so that
//! none spoils another.

use async_trait::async_trait;
use tokio::sync::oneshot;

use super::{
    StoreError,
    operation::{Operation, Tx},
    session::Session,
};
use crate::failpoint::Written;

/// How many operations share a transaction at most.
pub(super) const BATCH_MAX: usize = 256;

/// How a kind of database begins and ends transactions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) begin: &'static str,
    pub(super) commit: &'static str,
    pub(super) rollback: &'static str,
}

/// What is known of a connection after a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// No transaction is open.
    Sound,
    /// One may still be.
    InDoubt,
}

/// An operation that waits, whatever its answer.
#[async_trait]
pub(super) trait Queued: Send + Sync {
    /// By what a batch is sorted.
    fn rank(&self) -> [u8; 32];

    /// Carries it out, and keeps the answer for later.
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError>;

    /// Answers what was kept: the transaction is committed.
    fn answer(self: Box<Self>);

    /// Answers that nothing was done, or that nobody knows.
    fn fail(self: Box<Self>, error: StoreError);
}

/// An operation and who waits for it.
pub(super) struct Pending<O: Operation> {
    operation: O,
    done: Option<O::Done>,
    reply: oneshot::Sender<Result<O::Done, StoreError>>,
}

/// Where the answer to an operation comes out.
pub(super) type Answer<O> = oneshot::Receiver<Result<<O as Operation>::Done, StoreError>>;

impl<O: Operation> Pending<O>
where
    O::Done: Sync,
{
    /// The operation, and where its answer comes out.
    pub(super) fn queue(operation: O) -> (Box<dyn Queued>, Answer<O>) {
        let (reply, answer) = oneshot::channel();
        let pending = Self {
            operation,
            done: None,
            reply,
        };
        (Box::new(pending), answer)
    }
}

#[async_trait]
impl<O: Operation> Queued for Pending<O>
where
    O::Done: Sync,
{
    fn rank(&self) -> [u8; 32] {
        self.operation.rank()
    }

    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        self.done = Some(self.operation.run(tx).await?);
        Ok(())
    }

    fn answer(self: Box<Self>) {
        let nothing = || StoreError::Fault("an operation was committed unrun".to_owned());
        // A caller that has gone needs no answer.
        self.reply.send(self.done.ok_or_else(nothing)).ok();
    }

    fn fail(self: Box<Self>, error: StoreError) {
        self.reply.send(Err(error)).ok();
    }
}

/// Carries a batch out in one transaction, or where that fails, each alone.
pub(super) async fn carry_out(
    mut batch: Vec<Box<dyn Queued>>,
    session: &mut Session<'_>,
    bounds: Bounds,
) -> Condition {
    batch.sort_by_key(|queued| queued.rank());
    match transact(&mut batch, session, bounds).await {
        Ended::Committed => {
            batch.into_iter().for_each(Queued::answer);
            Condition::Sound
        }
        Ended::Undone(_) if batch.len() > 1 => alone(batch, session, bounds).await,
        Ended::Undone(error) => {
            fail(batch, &error);
            Condition::Sound
        }
        Ended::Unknown(error) => {
            fail(batch, &error);
            Condition::InDoubt
        }
    }
}

async fn alone(
    batch: Vec<Box<dyn Queued>>,
    session: &mut Session<'_>,
    bounds: Bounds,
) -> Condition {
    let mut waiting = batch.into_iter();
    while let Some(queued) = waiting.next() {
        let mut one = vec![queued];
        match transact(&mut one, session, bounds).await {
            Ended::Committed => one.into_iter().for_each(Queued::answer),
            Ended::Undone(error) => fail(one, &error),
            Ended::Unknown(error) => {
                fail(one, &error);
                fail(waiting.collect(), &error);
                return Condition::InDoubt;
            }
        }
    }
    Condition::Sound
}

fn fail(batch: Vec<Box<dyn Queued>>, error: &StoreError) {
    for queued in batch {
        queued.fail(error.clone());
    }
}

/// How a transaction ended.
enum Ended {
    Committed,
    /// Nothing of it is left, and the connection is sound.
    Undone(StoreError),
    /// The connection is in doubt; whether a commit took place, too.
    Unknown(StoreError),
}

async fn transact(
    batch: &mut [Box<dyn Queued>],
    session: &mut Session<'_>,
    bounds: Bounds,
) -> Ended {
    if let Err(error) = session.run(bounds.begin).await {
        // Who only waited in vain began nothing.
        return if error == StoreError::Busy {
            Ended::Undone(error)
        } else {
            Ended::Unknown(error)
        };
    }
    match run_all(batch, session).await {
        Ok(written) => {
            written.before_commit();
            match session.run(bounds.commit).await {
                Ok(()) => {
                    written.after_commit();
                    Ended::Committed
                }
                Err(error) => Ended::Unknown(error),
            }
        }
        Err(error) => match session.run(bounds.rollback).await {
            Ok(()) => Ended::Undone(error),
            Err(_) => Ended::Unknown(error),
        },
    }
}

async fn run_all(
    batch: &mut [Box<dyn Queued>],
    session: &mut Session<'_>,
) -> Result<Written, StoreError> {
    let mut written = Written::default();
    for queued in batch {
        let mut tx = Tx::of(session.lend()).await?;
        queued.run(&mut tx).await?;
        written.add(tx.written);
    }
    Ok(written)
}
