//! Where operations of one kind wait, and are carried out many in a transaction.

use std::sync::Arc;

use sqlx::PgPool;
use tokio::sync::{Mutex, mpsc};

use super::{BOUNDS, PATIENCE};
use crate::store::{
    StoreError,
    batch::{BATCH_MAX, Condition, Pending, Queued, carry_out},
    classify::classify,
    operation::Operation,
    session::{Prepared, Session},
};

/// How many operations may wait; further ones wait with their callers.
const QUEUE_LENGTH: usize = 1024;

/// Takes operations.
#[derive(Debug)]
pub(super) struct Lane {
    queue: mpsc::Sender<Box<dyn Queued>>,
}

impl Lane {
    /// Starts as many tasks as there may be transactions at the same time. They end when the lane
    /// is gone and its queue is empty.
    pub(super) fn start(pool: &PgPool, prepared: Prepared, transactions: usize) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE_LENGTH);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..transactions {
            tokio::spawn(work(pool.clone(), prepared, Arc::clone(&waiting)));
        }
        Self { queue }
    }

    /// Has an operation carried out.
    pub(super) async fn submit<O: Operation>(&self, operation: O) -> Result<O::Done, StoreError>
    where
        O::Done: Sync,
    {
        let (queued, answer) = Pending::queue(operation);
        self.queue.send(queued).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

pub(super) fn gone() -> StoreError {
    StoreError::Unavailable("the task for it ended".to_owned())
}

async fn work(
    pool: PgPool,
    prepared: Prepared,
    waiting: Arc<Mutex<mpsc::Receiver<Box<dyn Queued>>>>,
) {
    loop {
        let mut batch = Vec::new();
        // Whoever comes first takes all that waits, and the next one what comes meanwhile.
        if waiting.lock().await.recv_many(&mut batch, BATCH_MAX).await == 0 {
            return;
        }
        write(&pool, prepared, batch).await;
    }
}

/// Carries a batch out on a connection of the pool, to which only a sound one goes back.
pub(super) async fn write(pool: &PgPool, prepared: Prepared, batch: Vec<Box<dyn Queued>>) {
    let mut connection = match pool.acquire().await.map_err(classify) {
        Ok(connection) => connection,
        Err(error) => {
            for queued in batch {
                queued.fail(error.clone());
            }
            return;
        }
    };
    let mut session = Session::Postgres(&mut connection, prepared);
    let carried = tokio::time::timeout(PATIENCE, carry_out(batch, &mut session, BOUNDS)).await;
    match carried {
        Ok(Condition::Sound) => {}
        // Closed with it, the server undoes what is left of the transaction. Who waits for an
        // operation that was given up is told by its end of the channel.
        Ok(Condition::InDoubt) | Err(_) => drop(connection.detach()),
    }
}
