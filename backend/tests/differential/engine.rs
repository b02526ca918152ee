//! Kinds of databases that are used for one sequence after another.

use async_trait::async_trait;

use crate::{fixture::Database, postgres_fixture::Postgres, sqlite_fixture::Sqlite};

/// A database that can be emptied.
#[async_trait]
pub(crate) trait Engine: Database {
    /// Its name.
    const NAME: &str;

    /// Makes it as it was when it was new.
    async fn empty(&self);
}

#[async_trait]
impl Engine for Sqlite {
    const NAME: &str = "SQLite";

    async fn empty(&self) {
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'migration'";
        let tables = self.texts(tables).await;
        let all = tables.iter().map(|table| format!("DELETE FROM {table};\n"));
        let all: String = all.collect();
        // What the test itself writes need not outlive the machine.
        self.execute(&format!("PRAGMA synchronous = OFF; BEGIN;\n{all}COMMIT"))
            .await;
    }
}

#[async_trait]
impl Engine for Postgres {
    const NAME: &str = "Postgres";

    async fn empty(&self) {
        let tables = "SELECT tablename::text FROM pg_tables
                      WHERE schemaname = 'public' AND tablename <> 'migration'";
        let tables = self.texts(tables).await.join(", ");
        self.execute(&format!("TRUNCATE {tables} RESTART IDENTITY CASCADE"))
            .await;
    }
}
