//! The one connection that writes, in a task of its own.
//!
//! An operation is handed over as a value. Once it is in the queue it is carried out whole, even
//! if its caller has gone; before, nothing of it happens.

use async_trait::async_trait;
use sqlx::{ConnectOptions, Connection, Executor, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::sync::{mpsc, oneshot};

use super::{classify::classify, dialect, now};
use crate::{clock::UnixMillis, store::StoreError};

/// How many operations may wait; further ones wait with their callers.
const QUEUE_LENGTH: usize = 1024;

/// What is done in one transaction. An error leaves nothing of it behind.
#[async_trait]
pub(super) trait Write: Send + Sync + 'static {
    /// What it answers.
    type Done: Send + 'static;

    /// Does it.
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Done, StoreError>;
}

/// A transaction that holds the right to write.
pub(super) struct Tx<'c> {
    /// Where statements go.
    pub(super) connection: &'c mut SqliteConnection,
    /// The database's time, read after the right to write was had.
    pub(super) now: UnixMillis,
}

/// Takes operations.
#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Box<dyn Queued>>,
}

impl Writer {
    /// Starts the task, which ends when the last sender is gone and the queue is empty.
    pub(super) fn start(options: SqliteConnectOptions) -> Self {
        let (queue, operations) = mpsc::channel(QUEUE_LENGTH);
        tokio::spawn(work(options, operations));
        Self { queue }
    }

    /// Has an operation carried out.
    pub(super) async fn submit<W: Write>(&self, operation: W) -> Result<W::Done, StoreError> {
        let (reply, answer) = oneshot::channel();
        let queued = Box::new(Pending { operation, reply });
        let gone = || StoreError::Unavailable("the writer ended".to_owned());
        self.queue.send(queued).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Has the connection closed after what waits already, with nothing left in the log if others
    /// allow that.
    pub(super) async fn close(&self) {
        let (closing, closed) = oneshot::channel();
        // A writer that ended has nothing to close.
        if self.queue.send(Box::new(Closing(closing))).await.is_ok() {
            drop(closed.await);
        }
    }
}

async fn work(options: SqliteConnectOptions, mut operations: mpsc::Receiver<Box<dyn Queued>>) {
    let mut held = None;
    while let Some(operation) = operations.recv().await {
        let opened = match held.take() {
            Some(connection) => Ok(connection),
            None => options.connect().await.map_err(classify),
        };
        held = match opened {
            Ok(connection) => operation.carry_out(connection).await,
            Err(error) => {
                operation.fail(error);
                None
            }
        };
    }
}

/// An operation in the queue, whatever its answer.
#[async_trait]
trait Queued: Send {
    /// Carries it out and answers. The connection comes back unless it is in doubt: dropping it
    /// rolls back what is left, and the next operation gets a new one.
    async fn carry_out(self: Box<Self>, connection: SqliteConnection) -> Option<SqliteConnection>;

    /// Answers that it was not begun.
    fn fail(self: Box<Self>, error: StoreError);
}

struct Pending<W: Write> {
    operation: W,
    reply: oneshot::Sender<Result<W::Done, StoreError>>,
}

#[async_trait]
impl<W: Write> Queued for Pending<W> {
    async fn carry_out(
        self: Box<Self>,
        mut connection: SqliteConnection,
    ) -> Option<SqliteConnection> {
        let (answer, condition) = transact(&self.operation, &mut connection).await;
        // A caller that has gone needs no answer.
        drop(self.reply.send(answer));
        match condition {
            Condition::Sound => Some(connection),
            Condition::InDoubt => None,
        }
    }

    fn fail(self: Box<Self>, error: StoreError) {
        drop(self.reply.send(Err(error)));
    }
}

/// The end of the connection, as far as it is known; another operation would open the next.
struct Closing(oneshot::Sender<()>);

#[async_trait]
impl Queued for Closing {
    async fn carry_out(
        self: Box<Self>,
        mut connection: SqliteConnection,
    ) -> Option<SqliteConnection> {
        for statement in [dialect::WAIT_LITTLE, dialect::FOLD_LOG] {
            // A log that stays is read by whoever opens the file next.
            if let Err(error) = connection.execute(statement).await {
                tracing::debug!(%error, "The log of the database stays");
            }
        }
        drop(connection.close().await);
        // Who waited no longer needs no answer.
        self.0.send(()).ok();
        None
    }

    fn fail(self: Box<Self>, _: StoreError) {
        self.0.send(()).ok();
    }
}

/// What is known of a connection after a transaction.
enum Condition {
    /// No transaction is open.
    Sound,
    /// One may still be.
    InDoubt,
}

async fn transact<W: Write>(
    operation: &W,
    connection: &mut SqliteConnection,
) -> (Result<W::Done, StoreError>, Condition) {
    if let Err(error) = connection.execute(dialect::BEGIN).await {
        let error = classify(error);
        let waited_in_vain = matches!(error, StoreError::Busy);
        let condition = if waited_in_vain {
            Condition::Sound
        } else {
            Condition::InDoubt
        };
        return (Err(error), condition);
    }
    match attempt(operation, connection).await {
        Ok(done) => match connection.execute(dialect::COMMIT).await {
            Ok(_) => (Ok(done), Condition::Sound),
            Err(error) => (Err(classify(error)), Condition::InDoubt),
        },
        Err(error) => match connection.execute(dialect::ROLLBACK).await {
            Ok(_) => (Err(error), Condition::Sound),
            Err(_) => (Err(error), Condition::InDoubt),
        },
    }
}

async fn attempt<W: Write>(
    operation: &W,
    connection: &mut SqliteConnection,
) -> Result<W::Done, StoreError> {
    let now = UnixMillis::new(now(connection).await?);
    operation.run(&mut Tx { connection, now }).await
}
