//! SQLite under the suite.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use fencepost::store::{self, Store};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Executor, Row, SqliteConnection, sqlite::SqliteConnectOptions,
};
use tempfile::TempDir;
use tokio::sync::Mutex;

use super::fixture::Database;

/// A database in a directory of its own.
pub(crate) struct Sqlite {
    pub(crate) dir: TempDir,
    store: Arc<dyn Store>,
    connection: Mutex<SqliteConnection>,
}

impl Sqlite {
    pub(crate) fn file(&self) -> PathBuf {
        self.dir.path().join("fencepost.db")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite://{}", self.file().display())
    }
}

#[async_trait]
impl Database for Sqlite {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("fencepost.db");
        let store = store::open(&format!("sqlite://{}", file.display()))
            .await
            .unwrap();
        let options = SqliteConnectOptions::new()
            .filename(file)
            .foreign_keys(false)
            .pragma("ignore_check_constraints", "ON");
        let connection = Mutex::new(options.connect().await.unwrap());
        Self {
            dir,
            store,
            connection,
        }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    async fn another_store(&self) -> Arc<dyn Store> {
        store::open(&self.url()).await.unwrap()
    }

    async fn execute(&self, statement: &str) {
        let statement = sqlx::raw_sql(AssertSqlSafe(statement.to_owned()));
        self.connection
            .lock()
            .await
            .execute(statement)
            .await
            .unwrap();
    }

    async fn number(&self, query: &str) -> i64 {
        let query = sqlx::query_scalar(AssertSqlSafe(query.to_owned()));
        query
            .fetch_one(&mut *self.connection.lock().await)
            .await
            .unwrap()
    }

    async fn texts(&self, query: &str) -> Vec<String> {
        let mut connection = self.connection.lock().await;
        let rows = connection
            .fetch_all(sqlx::raw_sql(AssertSqlSafe(query.to_owned())))
            .await
            .unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn contents(&self) -> String {
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
        let mut contents = String::new();
        for table in self.texts(tables).await {
            let columns = format!(
                "SELECT group_concat('quote(\"' || name || '\")', ' || '','' || ') \
                 FROM pragma_table_info('{table}')"
            );
            let columns = self.texts(&columns).await.concat();
            let rows = self
                .texts(&format!("SELECT {columns} FROM {table} ORDER BY 1"))
                .await;
            contents += &format!("{table}:\n{}\n", rows.join("\n"));
        }
        contents
    }

    fn bytes(&self, hexadecimal: impl std::fmt::Display) -> String {
        format!("x'{hexadecimal}'")
    }

    async fn changes(&self) -> i64 {
        self.number("PRAGMA data_version").await
    }

    async fn break_table(&self, event: &str, table: &str) {
        self.execute(&format!(
            "CREATE TRIGGER broken BEFORE {event} ON {table} \
             BEGIN SELECT RAISE(ABORT, 'broken by a test'); END"
        ))
        .await;
    }

    async fn mend(&self) {
        self.execute("DROP TRIGGER broken").await;
    }
}
