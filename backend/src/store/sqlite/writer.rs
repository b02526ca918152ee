//! The one connection that writes, in a task of its own. What waits when it comes to look is
//! carried out in one transaction: the disk is waited for once, however many there are.

use sqlx::{ConnectOptions, Connection, Executor, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::sync::{mpsc, oneshot};

use super::dialect;
use crate::store::{
    StoreError,
    batch::{BATCH_MAX, Bounds, Condition, Pending, Queued, carry_out},
    classify::classify,
    operation::Operation,
    session::Session,
};

/// How many operations may wait; further ones wait with their callers.
const QUEUE_LENGTH: usize = 1024;

const BOUNDS: Bounds = Bounds {
    begin: dialect::BEGIN,
    commit: dialect::COMMIT,
    rollback: dialect::ROLLBACK,
};

/// Takes operations.
#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Wanted>,
}

/// What the task is asked for.
enum Wanted {
    /// An operation.
    Done(Box<dyn Queued>),
    /// The end of the connection, as far as it is known; another operation would open the next.
    Closed(oneshot::Sender<()>),
}

impl Writer {
    /// Starts the task, which ends when the last sender is gone and the queue is empty.
    pub(super) fn start(options: SqliteConnectOptions) -> Self {
        let (queue, wanted) = mpsc::channel(QUEUE_LENGTH);
        tokio::spawn(work(options, wanted));
        Self { queue }
    }

    /// Has an operation carried out.
    pub(super) async fn submit<O: Operation>(&self, operation: O) -> Result<O::Done, StoreError>
    where
        O::Done: Sync,
    {
        let (queued, answer) = Pending::queue(operation);
        let gone = || StoreError::Unavailable("the writer ended".to_owned());
        let sent = self.queue.send(Wanted::Done(queued)).await;
        sent.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Has the connection closed after what waits already, with nothing left in the log if others
    /// allow that.
    pub(super) async fn close(&self) {
        let (closing, closed) = oneshot::channel();
        // A writer that ended has nothing to close.
        if self.queue.send(Wanted::Closed(closing)).await.is_ok() {
            drop(closed.await);
        }
    }
}

async fn work(options: SqliteConnectOptions, mut queue: mpsc::Receiver<Wanted>) {
    let mut held = None;
    let mut wanted = Vec::new();
    while queue.recv_many(&mut wanted, BATCH_MAX).await > 0 {
        let mut batch = Vec::new();
        for wanted in wanted.drain(..) {
            match wanted {
                Wanted::Done(queued) => batch.push(queued),
                Wanted::Closed(closing) => {
                    held = write(&options, held, std::mem::take(&mut batch)).await;
                    if let Some(connection) = held.take() {
                        close(connection).await;
                    }
                    // Who waited no longer needs no answer.
                    closing.send(()).ok();
                }
            }
        }
        held = write(&options, held, batch).await;
    }
}

/// Carries a batch out. The connection comes back unless it is in doubt: dropping it rolls back
/// what is left, and the next batch gets a new one.
async fn write(
    options: &SqliteConnectOptions,
    held: Option<SqliteConnection>,
    batch: Vec<Box<dyn Queued>>,
) -> Option<SqliteConnection> {
    if batch.is_empty() {
        return held;
    }
    let opened = match held {
        Some(connection) => Ok(connection),
        None => options.connect().await.map_err(classify),
    };
    match opened {
        Ok(mut connection) => {
            let mut session = Session::Sqlite(&mut connection);
            match carry_out(batch, &mut session, BOUNDS).await {
                Condition::Sound => Some(connection),
                Condition::InDoubt => None,
            }
        }
        Err(error) => {
            for queued in batch {
                queued.fail(error.clone());
            }
            None
        }
    }
}

async fn close(mut connection: SqliteConnection) {
    for statement in [dialect::WAIT_LITTLE, dialect::FOLD_LOG] {
        // A log that stays is read by whoever opens the file next.
        if let Err(error) = connection.execute(statement).await {
            tracing::debug!(%error, "The log of the database stays");
        }
    }
    drop(connection.close().await);
}
