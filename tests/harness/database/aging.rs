//! Leases that ran out long ago, without a wait for it.

use std::time::Duration;

use sqlx::{ConnectOptions as _, Connection as _, sqlite::SqliteConnectOptions};

use super::Database;

const AGE: &str = "UPDATE job SET lease_until_ms = 1 WHERE state = 'running'";

/// The program takes the lock of a report before those of its job.
const LOCK: &str = "SELECT report_key FROM report WHERE report_key IN
    (SELECT report_key FROM job WHERE state = 'running') ORDER BY report_key FOR UPDATE";

/// Longer than anybody who runs keeps a lock.
const PATIENCE: Duration = Duration::from_secs(1);

impl Database {
    /// Lets every lease have run out long ago; of how many jobs.
    ///
    /// # Panics
    /// As [`Database::change`].
    pub async fn age_leases(&self) -> u64 {
        self.change(AGE).await
    }

    /// Whether nobody is in the midst of writing: then a process that stands still holds nobody up.
    ///
    /// # Panics
    /// As [`Database::number`].
    pub async fn is_free(&self) -> bool {
        match self {
            Self::Sqlite(file) => {
                let options = SqliteConnectOptions::new()
                    .filename(file)
                    .busy_timeout(Duration::ZERO);
                let mut connection = options.connect().await.unwrap();
                let begun = sqlx::raw_sql("BEGIN IMMEDIATE; ROLLBACK")
                    .execute(&mut connection)
                    .await;
                connection.close().await.unwrap();
                begun.is_ok()
            }
            Self::Postgres(_) => {
                let writing = "SELECT count(*) FROM pg_stat_activity
                               WHERE datname = current_database() AND application_name = 'fencepost'
                                 AND state LIKE 'idle in transaction%'";
                self.number(writing).await == 0
            }
        }
    }

    /// As [`Database::age_leases`], unless somebody keeps a lock on them, as one does who stands
    /// still in the midst of a transaction: then nothing is changed.
    ///
    /// # Panics
    /// When the statement doesn't run for another reason.
    pub async fn age_leases_if_unlocked(&self) -> Option<u64> {
        let aged = match self {
            Self::Sqlite(file) => {
                let options = SqliteConnectOptions::new().filename(file);
                let options = options.busy_timeout(PATIENCE);
                let mut connection = options.connect().await.unwrap();
                let aged = sqlx::query(AGE).execute(&mut connection).await;
                connection.close().await.unwrap();
                aged.map(|done| done.rows_affected())
            }
            Self::Postgres(server) => {
                let mut transaction = server.pool().begin().await.unwrap();
                let patience = sqlx::query("SELECT set_config('lock_timeout', $1, true)");
                let patience = patience.bind(PATIENCE.as_millis().to_string());
                patience.execute(&mut *transaction).await.unwrap();
                let locked = sqlx::query(LOCK).execute(&mut *transaction).await;
                let aged = match locked {
                    Ok(_) => sqlx::query(AGE).execute(&mut *transaction).await,
                    Err(error) => Err(error),
                };
                match aged {
                    Ok(_) => transaction.commit().await.unwrap(),
                    Err(_) => transaction.rollback().await.unwrap(),
                }
                aged.map(|done| done.rows_affected())
            }
        };
        match aged {
            Ok(aged) => Some(aged),
            Err(error) if is_locked(&error) => None,
            Err(error) => panic!("{error}: {AGE}"),
        }
    }
}

/// `SQLITE_BUSY` with whatever it adds; `lock_not_available`, or `deadlock_detected`.
fn is_locked(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| {
        let number = code.parse::<u32>().map(|number| number & 0xff);
        matches!(&*code, "55P03" | "40P01") || number == Ok(5)
    })
}
