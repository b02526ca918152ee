//! The database file as it is, and what must hold of it whatever happened.

use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

/// A database file. Each question opens it anew, to read only.
#[derive(Clone, Debug)]
pub struct Database(PathBuf);

/// What must not be there, and the statement that counts it.
const BROKEN: &[(&str, &str)] = &[
    (
        "a report without exactly one job",
        "SELECT count(*) FROM report r
         WHERE (SELECT count(*) FROM job j WHERE j.report_key = r.report_key) <> 1",
    ),
    (
        "a report without exactly one event of its acceptance",
        "SELECT count(*) FROM report r
         WHERE (SELECT count(*) FROM outbox o WHERE o.report_key = r.report_key
                AND o.kind = 'report.accepted') <> 1",
    ),
    (
        "events that are not numbered one after the other",
        "SELECT count(*) FROM (SELECT report_key FROM outbox GROUP BY report_key
         HAVING min(sequence) <> 1 OR max(sequence) <> count(*))",
    ),
    (
        "a result with more than one final event",
        "SELECT count(*) FROM (SELECT report_key FROM outbox WHERE kind = 'result.final'
         GROUP BY report_key HAVING count(*) > 1)",
    ),
    (
        "a report with more than one result",
        "SELECT count(*) FROM (SELECT report_key FROM result GROUP BY report_key
         HAVING count(*) > 1)",
    ),
    (
        "attempts that are not numbered one after the other",
        "SELECT count(*) FROM (SELECT report_key FROM attempt GROUP BY report_key
         HAVING min(number) <> 1 OR max(number) <> count(*))",
    ),
    (
        "two attempts with one token, or a token that fell",
        "SELECT count(*) FROM attempt a JOIN attempt b ON b.report_key = a.report_key
         AND b.number > a.number WHERE b.token <= a.token",
    ),
    (
        "a report whose fence is behind an attempt's token",
        "SELECT count(*) FROM attempt a JOIN report r ON r.report_key = a.report_key
         WHERE a.token > r.fence",
    ),
    (
        "more charged attempts than a job has",
        "SELECT count(*) FROM (SELECT report_key FROM attempt WHERE charged = 1
         GROUP BY report_key HAVING count(*) > 3)",
    ),
    (
        "a job whose count of charged attempts is not theirs",
        "SELECT count(*) FROM job j WHERE j.charged - j.given_back <>
         (SELECT count(*) FROM attempt a WHERE a.job_id = j.job_id AND a.charged = 1)",
    ),
    (
        "an attempt that is open though its job is not running",
        "SELECT count(*) FROM attempt a JOIN job j ON j.job_id = a.job_id
         WHERE a.outcome IS NULL AND (j.state <> 'running' OR j.token <> a.token)",
    ),
    (
        "a committed report without its one current result",
        "SELECT count(*) FROM job j JOIN report r ON r.report_key = j.report_key
         WHERE j.state = 'terminal' AND j.outcome = 'committed' AND NOT EXISTS
         (SELECT 1 FROM result s WHERE s.result_key = r.current_result AND s.status = 'current')",
    ),
    (
        "a committed report without its final event",
        "SELECT count(*) FROM job j WHERE j.state = 'terminal' AND j.outcome = 'committed'
         AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.report_key = j.report_key
         AND o.kind = 'result.final')",
    ),
    (
        "a report for review without an open review item, or the other way about",
        "SELECT count(*) FROM job j WHERE (j.state = 'ready_for_review') <> EXISTS
         (SELECT 1 FROM review v WHERE v.report_key = j.report_key AND v.status = 'open')",
    ),
    (
        "a row that was set aside",
        "SELECT count(*) FROM job WHERE set_aside IS NOT NULL",
    ),
];

impl Database {
    pub(crate) fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    async fn open(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new()
            .filename(&self.0)
            .read_only(true);
        options.connect().await.unwrap()
    }

    /// The number that a statement answers with.
    ///
    /// # Panics
    /// When it answers with none.
    pub async fn number(&self, statement: &'static str) -> i64 {
        let number = sqlx::query_scalar(statement)
            .fetch_one(&mut self.open().await)
            .await;
        number.unwrap_or_else(|error| panic!("{error}: {statement}"))
    }

    /// The texts that a statement answers with.
    ///
    /// # Panics
    /// When they are none.
    pub async fn texts(&self, statement: &'static str) -> Vec<String> {
        let texts = sqlx::query_scalar(statement)
            .fetch_all(&mut self.open().await)
            .await;
        texts.unwrap_or_else(|error| panic!("{error}: {statement}"))
    }

    /// How many reports there are.
    ///
    /// # Panics
    /// As [`Database::number`].
    pub async fn reports(&self) -> i64 {
        self.number("SELECT count(*) FROM report").await
    }

    /// Everything that ingress writes, counted: reports, jobs, events, conflicts, bindings.
    ///
    /// # Panics
    /// As [`Database::number`].
    pub async fn written(&self) -> i64 {
        self.number(
            "SELECT (SELECT count(*) FROM report) + (SELECT count(*) FROM job)
             + (SELECT count(*) FROM outbox) + (SELECT count(*) FROM attempt)
             + (SELECT coalesce(sum(seen), 0) FROM content_conflict)
             + (SELECT count(*) FROM source_binding)",
        )
        .await
    }

    /// How many reports nobody has finished.
    ///
    /// # Panics
    /// As [`Database::number`].
    pub async fn unfinished(&self) -> i64 {
        self.number(
            "SELECT count(*) FROM job
             WHERE state IN ('accepted', 'running', 'validation_rejected')",
        )
        .await
    }

    /// What doesn't hold though it always should.
    ///
    /// # Panics
    /// As [`Database::number`].
    pub async fn broken(&self) -> Vec<&'static str> {
        let mut broken = Vec::new();
        for (what, statement) in BROKEN {
            if self.number(statement).await != 0 {
                broken.push(*what);
            }
        }
        broken
    }

    /// Everything that [`Database::broken`] can name.
    pub fn all_that_can_break() -> impl Iterator<Item = &'static str> {
        BROKEN.iter().map(|(what, _)| *what)
    }

    /// A copy, changed as no program would.
    ///
    /// # Panics
    /// When the statements don't run.
    pub async fn sabotaged(&self, copy: &Path, statements: &'static str) -> Self {
        std::fs::copy(&self.0, copy).unwrap();
        let options = SqliteConnectOptions::new()
            .filename(copy)
            .foreign_keys(false);
        let mut connection = options.connect().await.unwrap();
        let ran = sqlx::raw_sql(statements).execute(&mut connection).await;
        ran.unwrap_or_else(|error| panic!("{error}: {statements}"));
        connection.close().await.unwrap();
        Self(copy.to_owned())
    }

    /// # Panics
    /// When the file is damaged, or a row breaks what always holds.
    pub async fn assert_sound(&self) {
        assert_eq!(self.texts("PRAGMA integrity_check").await, ["ok"]);
        let dangling = sqlx::query("PRAGMA foreign_key_check")
            .fetch_all(&mut self.open().await)
            .await;
        assert_eq!(dangling.unwrap().len(), 0, "rows that point nowhere");
        let broken = self.broken().await;
        assert!(broken.is_empty(), "{broken:?}");
    }

    /// The bytes of the file and of those beside it.
    ///
    /// # Panics
    /// When they can't be read.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let beside = |ending: &str| {
            let mut path = self.0.clone().into_os_string();
            path.push(ending);
            // There while the database is open.
            std::fs::read(path).unwrap_or_default()
        };
        let main = std::fs::read(&self.0).unwrap();
        [main, beside("-wal"), beside("-shm")].concat()
    }
}
