//! A SQLite file with the program's own tables.

use std::path::{Path, PathBuf};

use fencepost_history::{Database, History};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use crate::stored::{eventful, statements};

/// A migration may replace a table that others refer to.
const TABLES: &str = concat!(
    "PRAGMA foreign_keys = OFF;\n",
    include_str!("../../../../backend/migrations/sqlite/0001_reports.sql"),
    include_str!("../../../../backend/migrations/sqlite/0002_fences.sql"),
    include_str!("../../../../backend/migrations/sqlite/0003_fairness.sql"),
    include_str!("../../../../backend/migrations/sqlite/0004_answers.sql"),
    include_str!("../../../../backend/migrations/sqlite/0005_findings.sql"),
    include_str!("../../../../backend/migrations/sqlite/0006_reference.sql"),
    "PRAGMA foreign_keys = ON;\n",
);

fn blob(hex: &str) -> String {
    format!("x'{hex}'")
}

/// Runs statements in a file, which is made.
async fn stored(folder: &TempDir, sql: String) -> PathBuf {
    let file = folder.path().join("reports.sqlite");
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    let ran = sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await;
    ran.unwrap();
    connection.close().await.unwrap();
    file
}

async fn read(file: &Path) -> Result<History, String> {
    let read = History::read(Database::Sqlite(file)).await;
    read.map_err(|error| error.to_string())
}

#[tokio::test]
async fn what_stands_in_a_file_is_read() {
    let folder = TempDir::new().unwrap();
    let written = eventful();
    let file = stored(&folder, format!("{TABLES}\n{}", statements(&written, blob))).await;
    assert_eq!(read(&file).await.unwrap(), written);
}

#[tokio::test]
async fn an_empty_file_is_an_empty_history() {
    let folder = TempDir::new().unwrap();
    let file = stored(&folder, TABLES.to_owned()).await;
    assert_eq!(read(&file).await.unwrap(), History::default());
}

#[tokio::test]
async fn what_no_column_may_hold_is_named() {
    for (damage, named) in [
        ("UPDATE job SET state = 'done'", "job.state holds `done`"),
        ("UPDATE outbox SET kind = 'x'", "outbox.kind holds `x`"),
        (
            "UPDATE attempt SET report_key = x'0102'",
            "attempt.report_key holds `2 bytes`",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let sql = format!(
            "{TABLES}\n{}\nPRAGMA foreign_keys = OFF;\nPRAGMA ignore_check_constraints = ON;
             DELETE FROM attempt WHERE number > 1 OR job_id <> 2;\n{damage};",
            statements(&eventful(), blob)
        );
        let file = stored(&folder, sql).await;
        assert_eq!(read(&file).await, Err(named.to_owned()));
    }
}

#[tokio::test]
async fn a_file_that_is_not_there_is_not_made() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("none.sqlite");
    let refused = read(&file).await.unwrap_err();
    assert!(
        refused.starts_with("the database can't be read: "),
        "{refused}"
    );
    assert!(!file.exists());
}
