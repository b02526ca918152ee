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

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    };

    use sqlx::{Connection as _, Executor as _, SqliteConnection};

    use super::*;
    use crate::store::session::statement;

    const BOUNDS: Bounds = Bounds {
        begin: "BEGIN IMMEDIATE",
        commit: "COMMIT",
        rollback: "ROLLBACK",
    };

    /// Puts a number where each may stand once, and answers how many there are then.
    struct Put(i64);

    #[async_trait]
    impl Operation for Put {
        type Done = i64;

        fn rank(&self) -> [u8; 32] {
            [u8::try_from(self.0).unwrap(); 32]
        }

        async fn run(&self, tx: &mut Tx<'_>) -> Result<i64, StoreError> {
            let put = statement("INSERT INTO number VALUES ($1)").bind(self.0);
            tx.session().execute(put).await?;
            let count = statement(r#"SELECT count(*) AS "number.n" FROM number"#);
            let row = tx.session().one(count).await?;
            crate::store::row::Row::new(&row, "").number("number.n")
        }
    }

    struct Database {
        connection: SqliteConnection,
        commits: Arc<AtomicU32>,
        refuse: Arc<AtomicBool>,
    }

    async fn database() -> Database {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let table = "CREATE TABLE number (n INTEGER NOT NULL PRIMARY KEY) STRICT";
        connection.execute(table).await.unwrap();
        let (commits, refuse) = (Arc::default(), Arc::default());
        let (count, gate): (Arc<AtomicU32>, Arc<AtomicBool>) =
            (Arc::clone(&commits), Arc::clone(&refuse));
        let mut handle = connection.lock_handle().await.unwrap();
        handle.set_commit_hook(move || {
            count.fetch_add(1, Ordering::Relaxed);
            !gate.load(Ordering::Relaxed)
        });
        drop(handle);
        Database {
            connection,
            commits,
            refuse,
        }
    }

    impl Database {
        async fn put(&mut self, numbers: &[i64]) -> (Condition, Vec<Result<i64, StoreError>>) {
            let (batch, answers): (Vec<_>, Vec<_>) =
                numbers.iter().map(|n| Pending::queue(Put(*n))).unzip();
            let mut session = Session::Sqlite(&mut self.connection);
            let condition = carry_out(batch, &mut session, BOUNDS).await;
            let mut answered = Vec::new();
            for answer in answers {
                answered.push(answer.await.unwrap());
            }
            (condition, answered)
        }

        async fn numbers(&mut self) -> Vec<i64> {
            sqlx::query_scalar("SELECT n FROM number ORDER BY n")
                .fetch_all(&mut self.connection)
                .await
                .unwrap()
        }
    }

    #[tokio::test]
    async fn a_batch_is_one_transaction_sorted_and_each_gets_its_own_answer() {
        let mut database = database().await;
        let (condition, answers) = database.put(&[5, 3, 4]).await;
        assert_eq!(condition, Condition::Sound);
        assert_eq!(answers, [Ok(3), Ok(1), Ok(2)]);
        assert_eq!(database.commits.load(Ordering::Relaxed), 1);
        assert_eq!(database.numbers().await, [3, 4, 5]);
    }

    #[tokio::test]
    async fn one_that_fails_spoils_no_other() {
        let mut database = database().await;
        let (condition, answers) = database.put(&[1, 2, 2, 3]).await;
        assert_eq!(condition, Condition::Sound);
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 3);
        assert!(
            answers
                .iter()
                .any(|answer| matches!(answer, Err(StoreError::Contradiction(_)))),
            "{answers:?}"
        );
        assert_eq!(database.numbers().await, [1, 2, 3]);
    }

    #[tokio::test]
    async fn nobody_is_told_of_success_before_the_commit() {
        let mut database = database().await;
        database.refuse.store(true, Ordering::Relaxed);
        let (condition, answers) = database.put(&[1, 2]).await;
        assert_eq!(condition, Condition::InDoubt);
        assert!(answers.iter().all(Result::is_err), "{answers:?}");
        assert!(database.numbers().await.is_empty());
    }
}
