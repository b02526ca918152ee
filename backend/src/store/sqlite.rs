//! The store on SQLite: one writer, a few readers, one file.
//!
//! Every commit reaches the disk before it is answered (`synchronous = FULL`): a claim that a power
//! cut could take back would grant the same token twice. Several processes of one host may share
//! the file; they wait for each other.

mod backup;
mod code;
mod dialect;
mod look;
mod migrate;
mod writer;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use sqlx::{
    Connection as _, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous},
};

use self::writer::Writer;
pub(super) use self::{
    code::by_code,
    dialect::{NOW, PUT_FINDINGS, WITHDRAW_FINDINGS},
    look::look,
    migrate::migrate,
};
use super::{
    Backup, StoreError,
    classify::classify,
    database::{Database, Engine},
    operation::{Operation, Reading, Sight, Tx},
    session::{Session, statement},
};

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
            // What was erased must not stay readable in the parts of the file that are free now.
            .pragma("secure_delete", "ON")
    }

    fn reading(self, file: &Path) -> SqliteConnectOptions {
        self.connect(file).pragma("query_only", "ON")
    }
}

/// A SQLite database, open.
pub type SqliteStore = Database<Sqlite>;

/// One writer, a few readers, one file.
#[derive(Debug)]
pub struct Sqlite {
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
        let engine = Sqlite {
            file: file.to_owned(),
            options,
            writer,
            readers,
        };
        Ok(Self { engine })
    }
}

#[async_trait]
impl Engine for Sqlite {
    async fn write<O: Operation>(&self, operation: O) -> Result<O::Done, StoreError>
    where
        O::Done: Sync,
    {
        self.writer.submit(operation).await
    }

    async fn read<R: Reading>(&self, reading: R) -> Result<R::Found, StoreError> {
        let readers = self.readers.clone();
        let read = tokio::spawn(async move {
            let mut connection = readers.acquire().await.map_err(classify)?;
            match R::SIGHT {
                Sight::Each => reading.run(&mut Session::Sqlite(&mut connection)).await,
                Sight::Moment => read_moment(&mut connection, reading).await,
            }
        });
        match read.await {
            Ok(found) => found,
            Err(_) => Err(StoreError::Unavailable("a reader ended".to_owned())),
        }
    }

    async fn backup(&self, file: &Path) -> Result<Backup, StoreError> {
        let (from, to) = (self.options.connect(&self.file), file.to_owned());
        match tokio::spawn(backup::backup(from, to)).await {
            Ok(copied) => copied,
            Err(_) => Err(StoreError::Unavailable("the copy was given up".to_owned())),
        }
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.read(Probe).await?;
        self.write(Probe).await
    }

    async fn close(&self) {
        // The writer last: a log that is still read can't be cut off.
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// Reads in a transaction, which ends whatever comes of it.
async fn read_moment<R: Reading>(
    connection: &mut SqliteConnection,
    reading: R,
) -> Result<R::Found, StoreError> {
    let mut transaction = connection.begin().await.map_err(classify)?;
    let found = reading.run(&mut Session::Sqlite(&mut transaction)).await;
    transaction.rollback().await.map_err(classify)?;
    found
}

/// Shows that reading works, and that a transaction can begin; nothing is changed.
struct Probe;

#[async_trait]
impl Reading for Probe {
    type Found = ();

    async fn run(&self, session: &mut Session<'_>) -> Result<(), StoreError> {
        session.one(statement(dialect::SCHEMA)).await?;
        Ok(())
    }
}

#[async_trait]
impl Operation for Probe {
    type Done = ();

    async fn run(&self, _: &mut Tx<'_>) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{ConnectOptions, Executor, SqlSafeStr, SqliteConnection};

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
                [
                    ("synchronous", 2),
                    ("foreign_keys", 1),
                    ("query_only", 0),
                    ("secure_delete", 1),
                ],
            ),
            (
                &mut reader,
                [
                    ("synchronous", 2),
                    ("foreign_keys", 1),
                    ("query_only", 1),
                    ("secure_delete", 0),
                ],
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
            include_str!("sql/findings.rs"),
            include_str!("sql/ingress.rs"),
            include_str!("sql/keeping.rs"),
            include_str!("sql/ordering.rs"),
            include_str!("sql/people.rs"),
            include_str!("sql/pausing.rs"),
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
        for (statement, expected) in [
            (
                sql::CANDIDATE,
                "SEARCH job USING INDEX job_claimable (pipeline=?)",
            ),
            (
                sql::CANDIDATE_OF_NEXT_TENANT,
                "SEARCH job USING INDEX job_turn (pipeline=? AND tenant>?)",
            ),
        ] {
            let plan = format!("EXPLAIN QUERY PLAN {statement}");
            let plan = sqlx::query_as::<_, (i64, i64, i64, String)>(sqlx::AssertSqlSafe(plan));
            let steps = plan.bind("p").bind("v").bind("t");
            let steps = steps.fetch_all(&mut connection).await.unwrap();
            let steps: Vec<_> = steps.into_iter().map(|step| step.3).collect();
            assert_eq!(steps, [expected]);
        }
    }

    #[tokio::test]
    async fn what_a_result_lists_is_found_by_its_index() {
        let (_dir, mut connection) = migrated().await;
        for (statement, expected) in [
            (
                sql::FINDINGS,
                "SEARCH finding USING INDEX finding_shown (result_key=?)",
            ),
            (
                sql::PRESENT_FINDINGS,
                "SEARCH finding USING INDEX finding_shown (result_key=? AND status=?)",
            ),
            (
                sql::LIST_BEFORE,
                "SEARCH s USING INDEX result_list (thing_key=?)",
            ),
            (
                sql::ORDERED_LISTS,
                "SEARCH s USING INDEX result_list (thing_key=?)",
            ),
            (
                sql::ERASE_FINDINGS,
                "SEARCH finding USING COVERING INDEX finding_shown (result_key=?)",
            ),
        ] {
            let plan = format!("EXPLAIN QUERY PLAN {statement}");
            let plan = sqlx::query_as::<_, (i64, i64, i64, String)>(sqlx::AssertSqlSafe(plan));
            let steps = plan.fetch_all(&mut connection).await.unwrap();
            let first = &steps.first().unwrap().3;
            assert_eq!(first, expected, "{statement}");
        }
    }

    #[tokio::test]
    async fn what_has_been_kept_long_enough_is_found_by_its_index() {
        let (_dir, mut connection) = migrated().await;
        let plan = format!("EXPLAIN QUERY PLAN {}", sql::EXPIRED_ANSWERS);
        let plan = sqlx::query_as::<_, (i64, i64, i64, String)>(sqlx::AssertSqlSafe(plan));
        let steps = plan.fetch_all(&mut connection).await.unwrap();
        let steps: Vec<_> = steps.into_iter().map(|step| step.3).collect();
        let [step] = steps.as_slice() else {
            panic!("{steps:?}")
        };
        assert!(
            step.starts_with("SEARCH attempt USING INDEX attempt_kept (pipeline=? AND (ended_ms"),
            "{step}"
        );
    }
}
