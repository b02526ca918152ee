//! What an older program stored is there after the migration.

use std::{path::Path, time::Duration};

use fencepost::store::{self, Filter, Keeping, Migrated};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use super::{
    postgres_fixture::{connect as connect_to_server, empty_database},
    sqlite::{NEWEST, connect},
};

const SQLITE_STEPS: [&str; 4] = [
    include_str!("../../migrations/sqlite/0001_reports.sql"),
    include_str!("../../migrations/sqlite/0002_fences.sql"),
    include_str!("../../migrations/sqlite/0003_fairness.sql"),
    include_str!("../../migrations/sqlite/0004_answers.sql"),
];

const POSTGRES_STEPS: [&str; 4] = [
    include_str!("../../migrations/postgres/0001_reports.sql"),
    include_str!("../../migrations/postgres/0002_fences.sql"),
    include_str!("../../migrations/postgres/0003_fairness.sql"),
    include_str!("../../migrations/postgres/0004_answers.sql"),
];

/// What the program of a schema did to an empty database, with rows that were there already when
/// it took its second step.
fn steps(steps: &[&str], rows: &str) -> String {
    let (first, rest) = steps.split_first().unwrap();
    let mut text = format!("{first}\n{rows}\n{}\n", rest.join("\n"));
    text += "CREATE TABLE migration (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL,
                                     applied_ms BIGINT NOT NULL);\n";
    for version in 1..=steps.len() {
        text += &format!("INSERT INTO migration VALUES ({version}, 'a step', 1);\n");
    }
    text
}

/// Makes a file as the program of a schema did.
async fn made_by(schema: usize, file: &Path, rows: &str) {
    let mut older = connect(file).await;
    // As the program does, because a table that others refer to is replaced on the way.
    older.execute("PRAGMA foreign_keys = OFF").await.unwrap();
    let text = steps(&SQLITE_STEPS[..schema], rows);
    older
        .execute(sqlx::raw_sql(AssertSqlSafe(text)))
        .await
        .unwrap();
    older.close().await.unwrap();
}

/// A table that others refer to is replaced on the way.
#[tokio::test]
async fn what_an_older_program_stored_is_there_after_the_migration() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fencepost.db");
    made_by(1, &file, include_str!("rows_of_schema_1.sql")).await;
    let url = format!("sqlite://{}", file.display());
    let (from, to) = (1, NEWEST);
    assert_eq!(store::migrate(&url).await.unwrap(), Migrated { from, to });
    let store = store::open(&url).await.unwrap();
    let page = store.list(Filter::default(), None, 10).await.unwrap();
    assert_eq!((page.reports.len(), page.unreadable.len()), (1, 0));
    let report = store.report(page.reports[0].key).await.unwrap().unwrap();
    assert_eq!(report.result.unwrap().value, r#"{"category":"spam"}"#);
    assert_eq!(store.attempts(page.reports[0].key).await.unwrap().len(), 1);
    let whose = "SELECT (SELECT tenant FROM job) = (SELECT tenant FROM report WHERE tenant <> '')";
    let whose = sqlx::query_scalar::<_, i64>(whose);
    let same = whose.fetch_one(&mut connect(&file).await).await.unwrap();
    assert_eq!(same, 1);
    // Its answer is kept as long as its pipeline says now.
    let keeping = Keeping {
        pipeline: "moderation".to_owned(),
        kept_for: Duration::from_secs(60),
    };
    let expired = store.expired_answers(keeping, None).await.unwrap();
    assert_eq!(expired.answers.len(), 1);
}

/// Events of all kinds that there were: some delivered, one tried in vain, in no order of keys.
const EVENTS: &str = "
INSERT INTO outbox (event_key, report_key, sequence, kind, result_key, payload, created_ms,
                    delivered_ms, attempts)
SELECT KEY_9, report_key, 2, 'report.accepted', NULL, '{\"a\": \"\u{fc}\"}', 3, 4, 1 FROM report;
INSERT INTO outbox (event_key, report_key, sequence, kind, result_key, payload, created_ms,
                    delivered_ms, attempts)
SELECT KEY_3, report_key, 7, 'review.opened', NULL, '{}', 5, NULL, 9 FROM report;
";

/// The word for what is new.
const WITHDRAWN: &str = "
INSERT INTO outbox (event_key, report_key, sequence, kind, result_key, payload, created_ms)
SELECT KEY_5, report_key, 8, 'finding.withdrawn', result_key, '{}', 6 FROM result";

/// Keys as a database spells them.
fn keyed(text: &str, key: impl Fn(u8) -> String) -> String {
    let with = |text: String, number: u8| text.replace(&format!("KEY_{number}"), &key(number));
    [3, 5, 9].into_iter().fold(text.to_owned(), with)
}

const EVENT_ROWS: &str = "SELECT quote(rowid) || quote(event_key) || quote(report_key)
    || quote(sequence) || quote(kind) || quote(result_key) || quote(payload) || quote(created_ms)
    || quote(delivered_ms) || quote(attempts)
  FROM outbox ORDER BY rowid";

#[tokio::test]
async fn no_event_is_lost_where_their_table_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fencepost.db");
    made_by(4, &file, include_str!("rows_of_schema_1.sql")).await;
    let key = |number: u8| format!("x'{}'", format!("{number:02x}").repeat(32));
    let mut older = connect(&file).await;
    let text = keyed(EVENTS, key);
    older
        .execute(sqlx::raw_sql(AssertSqlSafe(text)))
        .await
        .unwrap();
    let rows = sqlx::query_scalar::<_, String>(EVENT_ROWS);
    let before = rows.fetch_all(&mut older).await.unwrap();
    assert_eq!(before.len(), 3);
    let refused = older.execute(AssertSqlSafe(keyed(WITHDRAWN, key))).await;
    assert!(refused.is_err(), "the older schema knows no such event");
    older.close().await.unwrap();

    let url = format!("sqlite://{}", file.display());
    let (from, to) = (4, NEWEST);
    assert_eq!(store::migrate(&url).await.unwrap(), Migrated { from, to });
    let mut newer = connect(&file).await;
    let rows = sqlx::query_scalar::<_, String>(EVENT_ROWS);
    assert_eq!(rows.fetch_all(&mut newer).await.unwrap(), before);
    newer
        .execute(AssertSqlSafe(keyed(WITHDRAWN, key)))
        .await
        .unwrap();
    // What held before holds still: one announcement per result, one row per number.
    let second = keyed(WITHDRAWN, key).replace("finding.withdrawn", "result.final");
    assert!(newer.execute(AssertSqlSafe(second)).await.is_err());
    newer.close().await.unwrap();
    assert_eq!(
        store::open(&url)
            .await
            .unwrap()
            .stats()
            .await
            .unwrap()
            .undelivered,
        3
    );
}

#[tokio::test]
async fn an_older_server_has_the_newer_events_too() {
    let url = empty_database().await;
    let mut older = connect_to_server(&url).await;
    let zeros = format!("'\\x{}'::bytea", "00".repeat(32));
    let rows = include_str!("rows_of_schema_1.sql")
        .replace("zeroblob(32)", &zeros)
        .replace("zeroblob(16)", &format!("'\\x{}'::bytea", "00".repeat(16)))
        .replace("x'7b7d'", "'\\x7b7d'::bytea");
    let key = |number: u8| format!("'\\x{}'::bytea", format!("{number:02x}").repeat(32));
    let numbers = "ALTER TABLE job ALTER COLUMN job_id SET GENERATED BY DEFAULT;";
    let rows = format!("{numbers}\n{rows}\n{}", keyed(EVENTS, key));
    let text = steps(&POSTGRES_STEPS, &rows);
    older
        .execute(sqlx::raw_sql(AssertSqlSafe(text)))
        .await
        .unwrap();
    let rows = "SELECT outbox::text FROM outbox ORDER BY sequence";
    let before: Vec<String> = sqlx::query_scalar(rows)
        .fetch_all(&mut older)
        .await
        .unwrap();
    assert_eq!(before.len(), 3);
    let (from, to) = (4, NEWEST);
    assert_eq!(store::migrate(&url).await.unwrap(), Migrated { from, to });
    let after: Vec<String> = sqlx::query_scalar(rows)
        .fetch_all(&mut older)
        .await
        .unwrap();
    assert_eq!(after, before);
    older
        .execute(AssertSqlSafe(keyed(WITHDRAWN, key)))
        .await
        .unwrap();
    let unheard = keyed(WITHDRAWN, key).replace("finding.withdrawn", "unheard of");
    assert!(older.execute(AssertSqlSafe(unheard)).await.is_err());
}
