//! The store on SQLite: one writer, a few readers, one file.
//!
//! Every commit reaches the disk before it is answered (`synchronous = FULL`): a claim that a power
//! cut could take back would grant the same token twice. Several processes of one host may share
//! the file; they wait for each other.

mod backup;
mod bind;
mod candidate;
mod claim;
mod classify;
mod dialect;
mod hold;
mod ingest;
mod look;
mod migrate;
mod read;
mod record;
mod row;
mod settle;
mod writer;

use std::{
    future::Future,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use fencepost_identity::key::{MappingDigest, ReportKey};
use sqlx::{
    SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous},
};

use super::{
    AttemptView, Backup, Bindings, Bound, Claim, ClaimRequest, Commit, Commitment, Cursor, Filter,
    Held, Ingested, Lease, NewReport, Page, PipelineVersions, RawAnswer, Rebound, Rejected,
    Rejection, Release, Released, ReportView, Stats, Store, StoreError, Unsettled, lease::Hold,
};
use classify::classify;
pub(super) use look::look;
pub use migrate::{Migrated, migrate};
use writer::{Write, Writer};

/// How a SQLite database is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long to wait for another process that writes, before [`StoreError::Busy`].
    pub busy_timeout: Duration,
    /// How many may read at the same time.
    pub readers: u32,
    /// The most pages of 4 KiB that the file may have, so that it can't fill the disk that others
    /// need; beyond it, [`StoreError::Full`].
    pub max_pages: Option<u32>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            readers: 4,
            max_pages: None,
        }
    }
}

impl SqliteOptions {
    /// What all connections have in common. The journal mode is a property of the file, which
    /// `migrate` sets.
    fn connect(self, file: &Path) -> SqliteConnectOptions {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .foreign_keys(true)
            .busy_timeout(self.busy_timeout);
        match self.max_pages {
            Some(pages) => options.pragma("max_page_count", pages.to_string()),
            None => options,
        }
    }

    /// A log that a burst made long is cut back to this.
    const LOG_BYTES_KEPT: &'static str = "67108864";

    fn writing(self, file: &Path) -> SqliteConnectOptions {
        self.connect(file)
            .synchronous(SqliteSynchronous::Full)
            .pragma("journal_size_limit", Self::LOG_BYTES_KEPT)
    }

    fn reading(self, file: &Path) -> SqliteConnectOptions {
        self.connect(file).pragma("query_only", "ON")
    }
}

/// A SQLite database, open.
#[derive(Debug)]
pub struct SqliteStore {
    file: PathBuf,
    options: SqliteOptions,
    writer: Writer,
    readers: SqlitePool,
}

impl SqliteStore {
    /// Opens a file, which is made if it is not there, and migrates it. Must be called from within
    /// a Tokio runtime.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`] and [`StoreError::Foreign`] when it is not for this program;
    /// else what kept it from being opened.
    pub async fn open(file: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        migrate::migrate_with(file, options).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(options.readers)
            .acquire_timeout(options.busy_timeout)
            .connect_lazy_with(options.reading(file));
        let writer = Writer::start(options.writing(file));
        Ok(Self {
            file: file.to_owned(),
            options,
            writer,
            readers,
        })
    }

    /// Reads in a task of its own, so that a caller that goes away leaves no connection behind in
    /// the middle of something.
    async fn read<T, F>(&self, reading: impl FnOnce(SqlitePool) -> F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        match tokio::spawn(reading(self.readers.clone())).await {
            Ok(answer) => answer,
            Err(_) => Err(StoreError::Unavailable("a reader ended".to_owned())),
        }
    }

    /// Settles a job; should the database fail, the lease comes back.
    async fn settle<W: Write>(
        &self,
        lease: Lease,
        settlement: impl FnOnce(Hold) -> W,
    ) -> Result<W::Done, Unsettled> {
        let answer = self.writer.submit(settlement(lease.hold.clone())).await;
        answer.map_err(|error| Unsettled {
            lease: Box::new(lease),
            error,
        })
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn ingest(&self, report: NewReport) -> Result<Ingested, StoreError> {
        let ingest = ingest::Ingest::new(report);
        let known = ingest.clone();
        // A duplicate that brings nothing new is told without the writer.
        let seen = self.read(|readers| async move {
            let mut connection = readers.acquire().await.map_err(classify)?;
            known.look(&mut connection).await
        });
        match seen.await? {
            Some(ingested) => Ok(ingested),
            None => self.writer.submit(ingest).await,
        }
    }

    async fn bind_versions(&self, versions: PipelineVersions) -> Result<Bound, StoreError> {
        self.writer.submit(bind::BindVersions(versions)).await
    }

    async fn bindings(&self) -> Result<Bindings, StoreError> {
        self.read(|readers| async move {
            let mut connection = readers.acquire().await.map_err(classify)?;
            look::bindings(&mut connection).await
        })
        .await
    }

    async fn claim(&self, request: ClaimRequest) -> Result<Claim, StoreError> {
        self.writer.submit(claim::ClaimJob(request)).await
    }

    async fn heartbeat(&self, lease: &Lease) -> Result<Held, StoreError> {
        let heartbeat = hold::Heartbeat {
            hold: lease.hold.clone(),
            length: lease.length,
        };
        self.writer.submit(heartbeat).await
    }

    async fn store_raw(&self, lease: &Lease, answer: RawAnswer) -> Result<Held, StoreError> {
        self.writer
            .submit(hold::StoreRaw {
                hold: lease.hold.clone(),
                answer,
            })
            .await
    }

    async fn commit(&self, lease: Lease, value: Commitment) -> Result<Commit, Unsettled> {
        self.settle(lease, |hold| settle::CommitJob { hold, value })
            .await
    }

    async fn reject(&self, lease: Lease, rejection: Rejection) -> Result<Rejected, Unsettled> {
        self.settle(lease, |hold| settle::RejectJob { hold, rejection })
            .await
    }

    async fn release(&self, lease: Lease, release: Release) -> Result<Released, Unsettled> {
        self.settle(lease, |hold| settle::ReleaseJob { hold, release })
            .await
    }

    async fn report(&self, key: ReportKey) -> Result<Option<ReportView>, StoreError> {
        self.read(move |readers| read::report(readers, key)).await
    }

    async fn attempts(&self, key: ReportKey) -> Result<Vec<AttemptView>, StoreError> {
        self.read(move |readers| read::attempts(readers, key)).await
    }

    async fn list(
        &self,
        filter: Filter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Page, StoreError> {
        self.read(move |readers| read::list(readers, filter, after, limit))
            .await
    }

    async fn stats(&self) -> Result<Stats, StoreError> {
        self.read(read::stats).await
    }

    async fn rebind_source(
        &self,
        source: String,
        digest: MappingDigest,
        actor: String,
    ) -> Result<Rebound, StoreError> {
        self.writer
            .submit(bind::RebindSource {
                source,
                digest,
                actor,
            })
            .await
    }

    async fn backup(&self, file: &Path) -> Result<Backup, StoreError> {
        let (from, to) = (self.options.connect(&self.file), file.to_owned());
        self.read(|_| backup::backup(from, to)).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.read(read::ready).await?;
        self.writer.submit(Probe).await
    }

    async fn close(&self) {
        // The writer last: a log that is still read can't be cut off.
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// A transaction that changes nothing: it shows that one can begin.
struct Probe;

#[async_trait]
impl Write for Probe {
    type Done = ();

    async fn run(&self, _: &mut writer::Tx<'_>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Milliseconds, by the database's clock.
async fn now(connection: &mut SqliteConnection) -> Result<i64, StoreError> {
    sqlx::query_scalar(dialect::NOW)
        .fetch_one(connection)
        .await
        .map_err(classify)
}

#[cfg(test)]
mod tests {
    use sqlx::{ConnectOptions, Executor, SqlSafeStr};

    use super::*;
    use crate::store::sql;

    async fn migrated() -> (tempfile::TempDir, SqliteConnection) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("fencepost.db");
        migrate(&file).await.unwrap();
        let connection = SqliteOptions::default()
            .writing(&file)
            .connect()
            .await
            .unwrap();
        (dir, connection)
    }

    /// A power cut must not take back what was answered: a claim that it took back would be granted
    /// again under the same token.
    #[tokio::test]
    async fn every_commit_reaches_the_disk() {
        let (dir, mut writer) = migrated().await;
        let file = dir.path().join("fencepost.db");
        let mut reader = SqliteOptions::default()
            .reading(&file)
            .connect()
            .await
            .unwrap();
        for (connection, pragmas) in [
            (
                &mut writer,
                [("synchronous", 2), ("foreign_keys", 1), ("query_only", 0)],
            ),
            (
                &mut reader,
                [("synchronous", 2), ("foreign_keys", 1), ("query_only", 1)],
            ),
        ] {
            for (name, expected) in pragmas {
                let pragma = sqlx::AssertSqlSafe(format!("PRAGMA {name}"));
                let found = sqlx::query_scalar::<_, i64>(pragma)
                    .fetch_one(&mut *connection)
                    .await;
                assert_eq!(found.unwrap(), expected, "{name}");
            }
        }
    }

    #[tokio::test]
    async fn every_statement_prepares() {
        let (_dir, mut connection) = migrated().await;
        let mut count = 0;
        for statement in sql::all().chain(dialect::DIALECT.iter().copied()) {
            let prepared = connection.prepare(statement.into_sql_str()).await;
            assert!(prepared.is_ok(), "{statement}: {prepared:?}");
            count += 1;
        }
        assert!(count > 40, "{count}");
    }

    #[tokio::test]
    async fn every_statement_is_in_the_list() {
        let files = [
            include_str!("sql/ingress.rs"),
            include_str!("sql/reading.rs"),
            include_str!("sql/settling.rs"),
            include_str!("sql/working.rs"),
        ];
        let written: usize = files
            .iter()
            .map(|file| file.matches("pub(in crate::store) const ").count())
            .sum();
        assert_eq!(sql::all().count(), written);
    }

    #[tokio::test]
    async fn what_is_claimable_is_found_by_its_index() {
        let (_dir, mut connection) = migrated().await;
        let plan = format!("EXPLAIN QUERY PLAN {}", sql::CANDIDATE);
        let plan = sqlx::query_as::<_, (i64, i64, i64, String)>(sqlx::AssertSqlSafe(plan));
        let steps = plan
            .bind("p")
            .bind("v")
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let steps: Vec<_> = steps.into_iter().map(|step| step.3).collect();
        assert_eq!(steps, ["SEARCH job USING INDEX job_claimable (pipeline=?)"]);
    }
}
