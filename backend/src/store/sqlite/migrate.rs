//! From an empty file, or one of an older program, to this program's schema.

use std::{path::Path, time::Duration};

use sqlx::{ConnectOptions, Connection, Executor, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{SqliteOptions, dialect};
use crate::{
    failpoint::point,
    store::{Migrated, StoreError, classify::classify, operation::now, session::Session},
};

/// The steps, in order: the first one makes schema 1.
const STEPS: &[(&str, &str)] = &[
    (
        "reports",
        include_str!("../../../migrations/sqlite/0001_reports.sql"),
    ),
    (
        "fences",
        include_str!("../../../migrations/sqlite/0002_fences.sql"),
    ),
    (
        "fairness",
        include_str!("../../../migrations/sqlite/0003_fairness.sql"),
    ),
    (
        "answers",
        include_str!("../../../migrations/sqlite/0004_answers.sql"),
    ),
    (
        "findings",
        include_str!("../../../migrations/sqlite/0005_findings.sql"),
    ),
    (
        "reference",
        include_str!("../../../migrations/sqlite/0006_reference.sql"),
    ),
];

/// Migrates a file, which is made if it is not there. Several processes may do so at once.
///
/// # Errors
/// [`StoreError::NewerSchema`] and [`StoreError::Foreign`], with nothing written.
pub(in crate::store) async fn migrate(file: &Path) -> Result<Migrated, StoreError> {
    migrate_with(file, SqliteOptions::default()).await
}

pub(super) async fn migrate_with(
    file: &Path,
    options: SqliteOptions,
) -> Result<Migrated, StoreError> {
    // A table that others refer to can only be replaced while nobody looks; a check follows.
    let connect = options
        .writing(file)
        .create_if_missing(true)
        .foreign_keys(false);
    let mut connection = connect.connect().await.map_err(classify)?;
    let found = refuse_unless_ours(&mut connection).await?;
    use_log(&connect, &mut connection, options.busy_timeout).await?;
    let known = newest();
    if found == known {
        // Nothing is to be written, so that a start does not wait for those who write.
        connection.close().await.map_err(classify)?;
        return Ok(Migrated {
            from: found,
            to: known,
        });
    }
    connection.execute(dialect::BEGIN).await.map_err(classify)?;
    // Dropping the connection rolls back what an error leaves open.
    let migrated = apply(&mut connection).await?;
    point!("migrate.before");
    connection
        .execute(dialect::COMMIT)
        .await
        .map_err(classify)?;
    point!("migrate.after");
    connection.close().await.map_err(classify)?;
    Ok(migrated)
}

/// Looks before anything is written: the file may be another program's, or a newer one's.
pub(super) async fn refuse_unless_ours(
    connection: &mut SqliteConnection,
) -> Result<i64, StoreError> {
    let tables = sqlx::query_as::<_, (i64, i64)>(dialect::TABLES);
    match tables.fetch_one(&mut *connection).await.map_err(classify)? {
        (0, _) => Ok(0),
        (_, 0) => Err(StoreError::Foreign),
        _ => {
            let schema = sqlx::query_scalar(dialect::SCHEMA);
            let found = schema.fetch_one(connection).await.map_err(classify)?;
            let known = newest();
            if found > known {
                Err(StoreError::NewerSchema { found, known })
            } else {
                Ok(found)
            }
        }
    }
}

/// Turns the write-ahead log on. SQLite does not wait for others here, so this does.
async fn use_log(
    connect: &SqliteConnectOptions,
    connection: &mut SqliteConnection,
    patience: Duration,
) -> Result<(), StoreError> {
    const PAUSE: Duration = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    loop {
        match connection.execute(dialect::USE_LOG).await.map_err(classify) {
            Ok(_) => return Ok(()),
            Err(StoreError::Busy) if waited < patience => {
                tokio::time::sleep(PAUSE).await;
                waited += PAUSE;
                *connection = connect.connect().await.map_err(classify)?;
            }
            Err(error) => return Err(error),
        }
    }
}

async fn apply(connection: &mut SqliteConnection) -> Result<Migrated, StoreError> {
    // Another process may have migrated between the look and the right to write.
    let from = refuse_unless_ours(connection).await?;
    connection
        .execute(dialect::MAKE_LEDGER)
        .await
        .map_err(classify)?;
    let applied_ms = now(&mut Session::Sqlite(connection)).await?.get();
    let mut to = 0;
    for (name, text) in STEPS {
        to += 1;
        if to > from {
            point!("migrate.step.before");
            connection
                .execute(sqlx::raw_sql(*text))
                .await
                .map_err(classify)?;
            let step = sqlx::query(dialect::RECORD_STEP)
                .bind(to)
                .bind(*name)
                .bind(applied_ms);
            step.execute(&mut *connection).await.map_err(classify)?;
            point!("migrate.step.after");
        }
    }
    let dangling = sqlx::query(dialect::DANGLING)
        .fetch_optional(&mut *connection)
        .await;
    match dangling.map_err(classify)? {
        None => Ok(Migrated { from, to }),
        Some(_) => Err(StoreError::Contradiction(
            "a row refers to one that is not there".to_owned(),
        )),
    }
}

/// The schema that this program makes.
pub(super) fn newest() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}
