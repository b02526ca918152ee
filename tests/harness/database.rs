//! The database as it is: a file, or one on a server, whoever else uses it.
//!
//! The statements of tests are of the subset that both kinds understand. A key goes in as a
//! parameter, `$1`, or by [`Database::literal`], and comes out by [`Database::keys`].

mod aging;
mod server;

use std::path::{Path, PathBuf};

use fencepost_history::{History, ReadError, Terms, Verdict, check};
use sqlx::{
    ConnectOptions as _, Connection as _, SqlSafeStr, SqliteConnection,
    sqlite::SqliteConnectOptions,
};

pub(crate) use server::Server;

/// Which kind of database a test is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DatabaseKind {
    /// A file of the test's own.
    #[default]
    Sqlite,
    /// A database of the test's own on the server that `FENCEPOST_POSTGRES` names.
    Postgres,
}

impl DatabaseKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];
}

/// A database. Each question to a file opens it anew, to read only.
#[derive(Clone, Debug)]
pub enum Database {
    /// A file.
    Sqlite(PathBuf),
    /// On a server.
    Postgres(Server),
}

/// Does the same to either.
macro_rules! fetch {
    ($self:ident, $statement:ident, $query:expr, $fetch:ident) => {{
        let text = $statement.into_sql_str();
        let shown = text.as_str().to_owned();
        let fetched = match $self {
            Self::Sqlite(file) => {
                let mut connection = open(file).await;
                $query(text).$fetch(&mut connection).await
            }
            Self::Postgres(server) => $query(text).$fetch(server.pool()).await,
        };
        fetched.unwrap_or_else(|error| panic!("{error}: {shown}"))
    }};
}

impl Database {
    /// A new one; in this folder, if it is a file, else on this server.
    ///
    /// # Panics
    /// When no server is named where one is wanted, or it doesn't make a database.
    pub(crate) async fn create(kind: DatabaseKind, server: Option<&str>, folder: &Path) -> Self {
        match kind {
            DatabaseKind::Sqlite => Self::in_folder(folder),
            DatabaseKind::Postgres => Self::Postgres(Server::create(server).await),
        }
    }

    /// The file that a program would make in this folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self::Sqlite(folder.join("fencepost.db"))
    }

    /// As `FENCEPOST_DATABASE_URL` has it.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(file) => format!("sqlite://{}", file.display()),
            Self::Postgres(server) => server.url().to_owned(),
        }
    }

    /// Which kind it is.
    #[must_use]
    pub const fn kind(&self) -> DatabaseKind {
        match self {
            Self::Sqlite(_) => DatabaseKind::Sqlite,
            Self::Postgres(_) => DatabaseKind::Postgres,
        }
    }

    /// Bytes as they are written in a statement, from hexadecimal digits.
    ///
    /// # Panics
    /// When they are something else.
    #[must_use]
    pub fn literal(&self, hex: &str) -> String {
        assert!(hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hex}");
        match self {
            Self::Sqlite(_) => format!("x'{hex}'"),
            Self::Postgres(_) => format!("'\\x{hex}'"),
        }
    }

    /// The number that a statement answers with.
    ///
    /// # Panics
    /// When it answers with none.
    pub async fn number(&self, statement: impl SqlSafeStr) -> i64 {
        fetch!(self, statement, sqlx::query_scalar, fetch_one)
    }

    /// The number that a statement answers with, about a report: its key is `$1`.
    ///
    /// # Panics
    /// When it answers with none.
    pub async fn number_of(&self, statement: impl SqlSafeStr, key: &str) -> i64 {
        let key = bytes(key);
        let text = statement.into_sql_str();
        let number = match self {
            Self::Sqlite(file) => {
                let query = sqlx::query_scalar(text).bind(key);
                query.fetch_one(&mut open(file).await).await
            }
            Self::Postgres(server) => {
                let query = sqlx::query_scalar(text).bind(key);
                query.fetch_one(server.pool()).await
            }
        };
        number.unwrap()
    }

    /// The texts that a statement answers with.
    ///
    /// # Panics
    /// When they are none.
    pub async fn texts(&self, statement: impl SqlSafeStr) -> Vec<String> {
        fetch!(self, statement, sqlx::query_scalar, fetch_all)
    }

    /// The keys that a statement answers with, as hexadecimal digits.
    ///
    /// # Panics
    /// When they are none.
    pub async fn keys(&self, statement: impl SqlSafeStr) -> Vec<String> {
        let keys: Vec<Vec<u8>> = fetch!(self, statement, sqlx::query_scalar, fetch_all);
        let hex = |key: Vec<u8>| key.iter().map(|byte| format!("{byte:02x}")).collect();
        keys.into_iter().map(hex).collect()
    }

    /// Changes rows as no program would; how many.
    ///
    /// # Panics
    /// When the statement doesn't run.
    pub async fn change(&self, statement: impl SqlSafeStr) -> u64 {
        let text = statement.into_sql_str();
        let shown = text.as_str().to_owned();
        let changed = match self {
            Self::Sqlite(file) => {
                let options = SqliteConnectOptions::new().filename(file);
                let mut connection = options.connect().await.unwrap();
                let done = sqlx::query(text).execute(&mut connection).await;
                connection.close().await.unwrap();
                done.map(|done| done.rows_affected())
            }
            Self::Postgres(server) => {
                let done = sqlx::query(text).execute(server.pool()).await;
                done.map(|done| done.rows_affected())
            }
        };
        changed.unwrap_or_else(|error| panic!("{error}: {shown}"))
    }

    /// Lets every job that waits be due; how many.
    ///
    /// # Panics
    /// As [`Database::change`].
    pub async fn make_due(&self) -> u64 {
        self.change("UPDATE job SET due_ms = 1 WHERE state IN ('accepted', 'validation_rejected')")
            .await
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
             + (SELECT CAST(coalesce(sum(seen), 0) AS BIGINT) FROM content_conflict)
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

    /// All that its rows say of what happened.
    ///
    /// # Errors
    /// A row holds what none may.
    pub async fn history(&self) -> Result<History, ReadError> {
        let place = match self {
            Self::Sqlite(file) => fencepost_history::Database::Sqlite(file),
            Self::Postgres(server) => fencepost_history::Database::Postgres(server.url()),
        };
        History::read(place).await
    }

    /// What its rows alone are judged to be.
    ///
    /// # Panics
    /// When they can't be read.
    pub async fn verdict(&self, terms: Terms) -> Verdict {
        check(&self.history().await.unwrap(), &terms)
    }

    /// # Panics
    /// When a file is damaged. Servers look after theirs.
    pub async fn assert_undamaged(&self) {
        let Self::Sqlite(file) = self else {
            return;
        };
        assert_eq!(self.texts("PRAGMA integrity_check").await, ["ok"]);
        let dangling = sqlx::query("PRAGMA foreign_key_check")
            .fetch_all(&mut open(file).await)
            .await;
        assert_eq!(dangling.unwrap().len(), 0, "rows that point nowhere");
    }

    /// A copy of a file, changed as no program would.
    ///
    /// # Panics
    /// When it is no file, or the statements don't run.
    pub async fn sabotaged(&self, copy: &Path, statements: &'static str) -> Self {
        std::fs::copy(self.file(), copy).unwrap();
        let options = SqliteConnectOptions::new()
            .filename(copy)
            .foreign_keys(false);
        let mut connection = options.connect().await.unwrap();
        let ran = sqlx::raw_sql(statements).execute(&mut connection).await;
        ran.unwrap_or_else(|error| panic!("{error}: {statements}"));
        connection.close().await.unwrap();
        Self::Sqlite(copy.to_owned())
    }

    /// The bytes of a file and of those beside it.
    ///
    /// # Panics
    /// When it is no file, or can't be read.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let beside = |ending: &str| {
            let mut path = self.file().to_owned().into_os_string();
            path.push(ending);
            // There while the database is open.
            std::fs::read(path).unwrap_or_default()
        };
        let main = std::fs::read(self.file()).unwrap();
        [main, beside("-wal"), beside("-shm")].concat()
    }

    fn file(&self) -> &Path {
        match self {
            Self::Sqlite(file) => file,
            Self::Postgres(_) => panic!("a database on a server has no file of ours"),
        }
    }

    /// Away with it, where it is not in a folder that goes away by itself.
    pub(crate) async fn remove(&self) {
        match self {
            Self::Sqlite(_) => {}
            Self::Postgres(server) => server.remove().await,
        }
    }
}

async fn open(file: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    options.connect().await.unwrap()
}

/// A key's bytes.
fn bytes(key: &str) -> Vec<u8> {
    let digits = key.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}
