//! From an empty database, or one of an older program, to this program's schema.

use sqlx::{ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};

use super::{dialect, options};
use crate::{
    failpoint::point,
    store::{
        Migrated, StoreError,
        classify::classify,
        operation::now,
        row::Row,
        session::{Prepared, Session, statement},
    },
};

/// The steps, in order: the first one makes schema 1.
pub(super) const STEPS: &[(&str, &str)] = &[
    (
        "reports",
        include_str!("../../../migrations/postgres/0001_reports.sql"),
    ),
    (
        "fences",
        include_str!("../../../migrations/postgres/0002_fences.sql"),
    ),
    (
        "fairness",
        include_str!("../../../migrations/postgres/0003_fairness.sql"),
    ),
    (
        "answers",
        include_str!("../../../migrations/postgres/0004_answers.sql"),
    ),
    (
        "findings",
        include_str!("../../../migrations/postgres/0005_findings.sql"),
    ),
    (
        "reference",
        include_str!("../../../migrations/postgres/0006_reference.sql"),
    ),
];

/// Migrates a database. Several processes may do so at once: one does it, the others find it done.
///
/// # Errors
/// [`StoreError::NewerSchema`] and [`StoreError::Foreign`], with nothing written.
pub(in crate::store) async fn migrate(url: &str) -> Result<Migrated, StoreError> {
    let (options, _) = options(url)?;
    migrate_with(&options).await
}

pub(super) async fn migrate_with(options: &PgConnectOptions) -> Result<Migrated, StoreError> {
    let mut connection = options.connect().await.map_err(classify)?;
    let mut session = Session::Postgres(&mut connection, Prepared::Once);
    session.run(dialect::BEGIN_READING).await?;
    refuse_unless_ours(&mut connection).await?;
    let mut session = Session::Postgres(&mut connection, Prepared::Once);
    session.run(dialect::COMMIT).await?;
    session.run(dialect::BEGIN).await?;
    // Dropping the connection rolls back what an error leaves open.
    let migrated = apply(&mut connection).await?;
    point!("migrate.before");
    let mut session = Session::Postgres(&mut connection, Prepared::Once);
    session.run(dialect::COMMIT).await?;
    point!("migrate.after");
    connection.close().await.map_err(classify)?;
    Ok(migrated)
}

/// Looks before anything is written: the database may be another program's, or a newer one's. In a
/// transaction, like everything here: a pooler may give what comes after one another connection.
pub(super) async fn refuse_unless_ours(connection: &mut PgConnection) -> Result<i64, StoreError> {
    let mut session = Session::Postgres(connection, Prepared::Once);
    let row = session.one(statement(dialect::TABLES)).await?;
    let row = Row::new(&row, "");
    match (row.number("tables.all")?, row.number("tables.ours")?) {
        (0, _) => Ok(0),
        (_, 0) => Err(StoreError::Foreign),
        _ => {
            let row = session.one(statement(dialect::SCHEMA)).await?;
            let found = Row::new(&row, "").number("migration.version")?;
            let known = newest();
            if found > known {
                Err(StoreError::NewerSchema { found, known })
            } else {
                Ok(found)
            }
        }
    }
}

async fn apply(connection: &mut PgConnection) -> Result<Migrated, StoreError> {
    let mut session = Session::Postgres(connection, Prepared::Once);
    session.run(dialect::LOCK_MIGRATION).await?;
    // Another process may have migrated between the look and the lock.
    let from = refuse_unless_ours(connection).await?;
    let mut session = Session::Postgres(connection, Prepared::Once);
    session.run(dialect::MAKE_LEDGER).await?;
    let applied_ms = now(&mut session).await?.get();
    let mut to = 0;
    for (name, text) in STEPS {
        to += 1;
        if to > from {
            point!("migrate.step.before");
            session.run(text).await?;
            let step = statement(dialect::RECORD_STEP)
                .bind(to)
                .bind(*name)
                .bind(applied_ms);
            session.execute(step).await?;
            point!("migrate.step.after");
        }
    }
    Ok(Migrated { from, to })
}

/// The schema that this program makes.
pub(super) fn newest() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}
