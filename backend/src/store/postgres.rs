//! The store on Postgres: several processes write at once, and a lock on the report keeps apart
//! what is written of it.
//!
//! Whoever writes about a report that is there locks its row first, so that nobody waits in a
//! circle; the claim passes over rows that are locked. Reports that come in and results that are
//! committed share transactions with their like.

mod code;
mod dialect;
mod lane;
mod look;
mod migrate;
mod pooler;

use std::{path::Path, str::FromStr as _, time::Duration};

use async_trait::async_trait;
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use self::lane::{Lane, gone};
pub(super) use self::{
    code::by_code,
    dialect::{
        LOCK_BINDINGS, LOCK_CANDIDATE, LOCK_CANDIDATE_OF_TENANT, LOCK_NUMBER, LOCK_PAUSES,
        LOCK_REPORT, NOW, PUT_FINDINGS, TAKE_PAUSE, TAKE_STRIKES, WITHDRAW_FINDINGS,
    },
    look::look,
    migrate::migrate,
};
use super::{
    Backup, StoreError,
    batch::{Bounds, Pending},
    classify::classify,
    database::{Database, Engine},
    operation::{self, Operation, Reading, Sight, Tx},
    row::Row,
    session::{Prepared, Session, statement},
};

/// How long a transaction may take in all, before its connection is given up.
const PATIENCE: Duration = Duration::from_secs(60);

const BOUNDS: Bounds = Bounds {
    begin: dialect::BEGIN,
    commit: dialect::COMMIT,
    rollback: dialect::ROLLBACK,
};

/// How many transactions there are at most for reports that come in, and for results.
const TRANSACTIONS_PER_LANE: usize = 3;

/// How a Postgres database is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresOptions {
    /// How many connections this process has at most. While a model is called, none is held.
    pub connections: u32,
    /// How long to wait for one of them, before [`StoreError::Busy`].
    pub patience: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            connections: 16,
            patience: Duration::from_secs(5),
        }
    }
}

/// A Postgres database, open.
pub type PostgresStore = Database<Postgres>;

/// A pool of connections, and lanes to them.
#[derive(Debug)]
pub struct Postgres {
    pool: PgPool,
    prepared: Prepared,
    ingest: Lane,
    commit: Lane,
}

impl PostgresStore {
    /// Opens a database that is there, and migrates it. Must be called from within a Tokio runtime.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`] and [`StoreError::Foreign`] when it is not for this program,
    /// [`StoreError::Forgetful`] when what it commits can be lost, [`StoreError::Pooler`] when the
    /// URL does not say that a pooler is in between; else what kept it from being opened.
    pub async fn open(url: &str, how: PostgresOptions) -> Result<Self, StoreError> {
        let (options, prepared) = options(url)?;
        if prepared == Prepared::Kept {
            pooler::refuse(&options).await?;
        }
        migrate::migrate_with(&options).await?;
        let pool = PgPoolOptions::new()
            .max_connections(how.connections)
            .acquire_timeout(how.patience)
            .connect_lazy_with(options);
        let engine = Postgres {
            ingest: Lane::start(&pool, prepared, TRANSACTIONS_PER_LANE),
            commit: Lane::start(&pool, prepared, TRANSACTIONS_PER_LANE),
            pool,
            prepared,
        };
        engine.read(Durability).await?;
        Ok(Self { engine })
    }
}

/// How to connect, and whether statements are kept there: `statement-cache-capacity=0` in the URL
/// says no, for a pooler that gives each transaction another connection.
fn options(url: &str) -> Result<(PgConnectOptions, Prepared), StoreError> {
    let options = PgConnectOptions::from_str(url).map_err(|_| StoreError::Url)?;
    let mut settings = url.split(['?', '&']).skip(1);
    let prepared = match settings.any(|setting| setting == "statement-cache-capacity=0") {
        true => Prepared::Once,
        false => Prepared::Kept,
    };
    // Poolers know few of the settings that a connection may begin with; no float is read here.
    let options = options
        .extra_float_digits(None)
        .application_name("fencepost");
    Ok((options, prepared))
}

#[async_trait]
impl Engine for Postgres {
    async fn write<O: Operation>(&self, operation: O) -> Result<O::Done, StoreError>
    where
        O::Done: Sync,
    {
        match O::LANE {
            operation::Lane::Ingest => self.ingest.submit(operation).await,
            operation::Lane::Commit => self.commit.submit(operation).await,
            operation::Lane::Own => {
                let (queued, answer) = Pending::queue(operation);
                let (pool, prepared) = (self.pool.clone(), self.prepared);
                tokio::spawn(async move { lane::write(&pool, prepared, vec![queued]).await });
                answer.await.map_err(|_| gone())?
            }
        }
    }

    async fn read<R: Reading>(&self, reading: R) -> Result<R::Found, StoreError> {
        let (pool, prepared) = (self.pool.clone(), self.prepared);
        let read = tokio::spawn(async move { read(&pool, prepared, reading).await });
        read.await.unwrap_or_else(|_| Err(gone()))
    }

    async fn backup(&self, _: &Path) -> Result<Backup, StoreError> {
        Err(StoreError::NotHere(
            "a copy of a Postgres database is made with pg_dump",
        ))
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.write(Probe).await
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}

async fn read<R: Reading>(
    pool: &PgPool,
    prepared: Prepared,
    reading: R,
) -> Result<R::Found, StoreError> {
    let mut connection = pool.acquire().await.map_err(classify)?;
    let mut session = Session::Postgres(&mut connection, prepared);
    let found = tokio::time::timeout(PATIENCE, run(&mut session, prepared, reading)).await;
    match found {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => {
            // It may be in a transaction still.
            drop(connection.detach());
            Err(error)
        }
        Err(_) => {
            drop(connection.detach());
            Err(StoreError::Busy)
        }
    }
}

/// Reads; in a transaction where only that keeps the connection to the server the same, or what is
/// seen.
async fn run<R: Reading>(
    session: &mut Session<'_>,
    prepared: Prepared,
    reading: R,
) -> Result<R::Found, StoreError> {
    match (prepared, R::SIGHT) {
        (Prepared::Kept, Sight::Each) => reading.run(session).await,
        (Prepared::Kept, Sight::Moment) | (Prepared::Once, _) => {
            session.run(dialect::BEGIN_READING).await?;
            let found = reading.run(session).await?;
            session.run(dialect::COMMIT).await?;
            Ok(found)
        }
    }
}

/// Shows that a transaction can begin that could write; nothing is changed.
struct Probe;

#[async_trait]
impl Operation for Probe {
    type Done = ();

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.session().one(statement(dialect::CAN_WRITE)).await?;
        Ok(())
    }
}

/// Refuses a database that forgets: a claim that a crash takes back would be granted again under
/// the same token.
struct Durability;

#[async_trait]
impl Reading for Durability {
    type Found = ();

    async fn run(&self, session: &mut Session<'_>) -> Result<(), StoreError> {
        let row = session.one(statement(dialect::DURABILITY)).await?;
        let row = Row::new(&row, "");
        if row.text("setting.synchronous_commit")? == "off" {
            return Err(StoreError::Forgetful);
        }
        if row.text("setting.fsync")? == "off" {
            tracing::warn!("The Postgres server has fsync off: a crash of its machine loses data");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{ConnectOptions as _, Executor as _, SqlSafeStr as _};

    use super::*;
    use crate::store::sql;

    /// The stand-in for a compiler that knows the tables.
    #[tokio::test]
    async fn every_statement_prepares() {
        let server =
            std::env::var("FENCEPOST_POSTGRES").expect("`cargo xtask test` names a server");
        let (options, _) = options(&server).unwrap();
        let mut connection = options.clone().connect().await.unwrap();
        // The schema of this one connection, gone with it.
        for text in [
            "CREATE SCHEMA IF NOT EXISTS statements",
            "SET search_path TO statements",
        ] {
            connection.execute(text).await.unwrap();
        }
        let mut tx = sqlx::Connection::begin(&mut connection).await.unwrap();
        tx.execute(dialect::MAKE_LEDGER).await.unwrap();
        for (_, tables) in migrate::STEPS {
            tx.execute(sqlx::raw_sql(*tables)).await.unwrap();
        }
        let mut count = 0;
        for statement in sql::all().chain(dialect::DIALECT.iter().copied()) {
            let prepared = tx.prepare(statement.into_sql_str()).await;
            assert!(prepared.is_ok(), "{prepared:?} {statement}");
            count += 1;
        }
        assert!(count > 40, "{count}");
    }

    #[test]
    fn a_url_says_whether_statements_are_kept() {
        for (url, expected) in [
            ("postgres://u:p@h/d", Prepared::Kept),
            ("postgres://u@h:5433/d?sslmode=require", Prepared::Kept),
            (
                "postgresql://u@h/d?statement-cache-capacity=0",
                Prepared::Once,
            ),
            (
                "postgres://u@h/d?sslmode=disable&statement-cache-capacity=0",
                Prepared::Once,
            ),
        ] {
            assert_eq!(options(url).unwrap().1, expected, "{url}");
        }
        assert_eq!(
            options("postgres://h:notaport/").unwrap_err(),
            StoreError::Url
        );
    }
}
