//! What is particular to SQLite: one file, several processes, a disk that can be full.

use std::{path::Path, time::Duration};

use fencepost::{
    report::{InputOrigin, Outcome, ReviewReason, State, StateWord},
    store::{
        self, Backup, Bound, Filter, FindingStatus, Ingested, Looked, Migrated, PipelineVersions,
        SqliteOptions, SqliteStore, Store, StoreError, VersionKind,
    },
};
use sqlx::{ConnectOptions, Executor, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{
    fixture::{Database, grant, ingest, input, key, report, value},
    sqlite_fixture::Sqlite,
};

/// The schema of this program.
pub(crate) const NEWEST: i64 = 6;

pub(crate) async fn connect(file: &Path) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .connect()
        .await
        .unwrap()
}

async fn schema(file: &Path) -> String {
    let schema = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name";
    let texts: Vec<String> = sqlx::query_scalar(schema)
        .fetch_all(&mut connect(file).await)
        .await
        .unwrap();
    texts.join(";\n\n") + ";\n"
}

/// The schema as a whole, so that a review sees the tables and not the way to them.
#[tokio::test]
async fn the_schema_is_as_drawn() {
    let db = Sqlite::new().await;
    let found = schema(&db.file()).await;
    let drawn = include_str!("schema.sql");
    assert!(
        found == drawn,
        "tests/store/schema.sql should read:\n{found}"
    );
}

#[tokio::test]
async fn the_words_of_the_schema_are_those_of_the_code() {
    let schema = include_str!("schema.sql");
    let listed = |words: Vec<&str>| {
        let listed: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
        listed.join(", ")
    };
    let squeezed = schema.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = |all: Vec<&str>| {
        squeezed.contains(&format!("IN ({})", listed(all.clone())))
            || squeezed.contains(&format!("IN ( {} )", listed(all)))
    };
    assert!(words(
        StateWord::ALL.iter().map(|word| word.as_str()).collect()
    ));
    assert!(words(
        Outcome::ALL.iter().map(|word| word.as_str()).collect()
    ));
    assert!(words(
        ReviewReason::ALL.iter().map(|word| word.as_str()).collect()
    ));
    assert!(words(
        VersionKind::ALL.iter().map(|word| word.as_str()).collect()
    ));
    assert!(words(
        FindingStatus::ALL
            .iter()
            .map(|word| word.as_str())
            .collect()
    ));
    assert!(words(
        InputOrigin::ALL.iter().map(|word| word.as_str()).collect()
    ));
    let outcomes = fencepost::report::AttemptOutcome::ALL;
    assert!(words(outcomes.iter().map(|word| word.as_str()).collect()));
    let verdicts = outcomes.iter().filter(|outcome| outcome.is_verdict());
    assert!(words(verdicts.map(|word| word.as_str()).collect()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migrating_is_done_once_by_however_many() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fencepost.db");
    let url = format!("sqlite://{}", file.display());
    let openings: Vec<_> = (0..8)
        .map(|_| {
            let url = url.clone();
            tokio::spawn(async move { store::open(&url).await.map(|store| (store, ())) })
        })
        .collect();
    for opening in openings {
        let (store, ()) = opening.await.unwrap().unwrap();
        store.ready().await.unwrap();
    }
    let steps: i64 = sqlx::query_scalar("SELECT count(*) FROM migration")
        .fetch_one(&mut connect(&file).await)
        .await
        .unwrap();
    assert_eq!(steps, NEWEST);
    let (from, to) = (NEWEST, NEWEST);
    assert_eq!(store::migrate(&url).await.unwrap(), Migrated { from, to });
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
        .fetch_one(&mut connect(&file).await)
        .await
        .unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_nothing_is_written() {
    let db = Sqlite::new().await;
    ingest(&*db.store(), 1).await;
    db.execute("INSERT INTO migration (version, name, applied_ms) VALUES (999, 'later', 1)")
        .await;
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").await;
    let (contents, changes) = (db.contents().await, db.changes().await);
    let bytes = std::fs::read(db.file()).unwrap();
    for _ in 0..2 {
        match store::open(&db.url()).await.map(|_| ()) {
            Err(StoreError::NewerSchema {
                found: 999,
                known: NEWEST,
            }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        (db.contents().await, db.changes().await),
        (contents, changes)
    );
    assert!(std::fs::read(db.file()).unwrap() == bytes);
}

#[tokio::test]
async fn the_database_of_another_program_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("other.db");
    connect(&file)
        .await
        .execute("CREATE TABLE invoices (id INTEGER)")
        .await
        .unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let opened = store::open(&format!("sqlite://{}", file.display()))
        .await
        .map(|_| ());
    assert!(matches!(opened, Err(StoreError::Foreign)), "{opened:?}");
    assert!(std::fs::read(&file).unwrap() == bytes);

    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "these are my notes, not a database".repeat(40)).unwrap();
    let opened = store::open(&format!("sqlite://{}", text.display()))
        .await
        .map(|_| ());
    assert!(matches!(opened, Err(StoreError::Damaged)), "{opened:?}");
    let nowhere = dir.path().join("missing/fencepost.db");
    let opened = store::open(&format!("sqlite://{}", nowhere.display()))
        .await
        .map(|_| ());
    assert!(
        matches!(opened, Err(StoreError::Unavailable(_))),
        "{opened:?}"
    );
}

#[tokio::test]
async fn a_backup_of_a_live_database_opens_and_has_the_reports() {
    let db = Sqlite::new().await;
    let store = db.store();
    for n in 0..20 {
        ingest(&*store, n).await;
    }
    store
        .commit(grant(&*store, 1).await.lease, value())
        .await
        .unwrap();
    let held = grant(&*store, 2).await;
    let file = db.dir.path().join("copy.db");
    let backup = store.backup(&file).await.unwrap();
    let Backup::Done { bytes } = backup else {
        panic!("{backup:?}")
    };
    assert_eq!(bytes, std::fs::metadata(&file).unwrap().len());
    // What comes later is not in it.
    ingest(&*store, 20).await;
    store.commit(held.lease, value()).await.unwrap();

    let copy = store::open(&format!("sqlite://{}", file.display()))
        .await
        .unwrap();
    let page = copy.list(Filter::default(), None, 50).await.unwrap();
    assert_eq!((page.reports.len(), page.unreadable.len()), (20, 0));
    assert_eq!(copy.stats().await.unwrap().results, 1);
    let again = copy.ingest(report(7)).await.unwrap();
    assert!(matches!(again, Ingested::Duplicate { .. }), "{again:?}");

    assert_eq!(store.backup(&file).await.unwrap(), Backup::FileExists);
    let nowhere = db.dir.path().join("missing/copy.db");
    assert!(store.backup(&nowhere).await.is_err());
}

#[tokio::test]
async fn a_full_disk_stores_nothing_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fencepost.db");
    let options = SqliteOptions {
        max_pages: Some(120),
        ..SqliteOptions::default()
    };
    let store = SqliteStore::open(&file, options).await.unwrap();
    let large = |n| {
        let mut large = report(n);
        large.input = Some(input(&" ".repeat(50_000), 1));
        large
    };
    let mut stored = Vec::new();
    let mut refused = Vec::new();
    for n in 0..20 {
        match store.ingest(large(n)).await {
            Ok(Ingested::Accepted { key, .. }) => stored.push(key),
            Err(StoreError::Full) => refused.push(n),
            other => panic!("{other:?}"),
        }
    }
    assert!(
        !stored.is_empty() && !refused.is_empty(),
        "{} stored",
        stored.len()
    );
    for n in &refused {
        assert_eq!(store.report(key(*n)).await.unwrap(), None);
    }
    for key in &stored {
        let view = store.report(*key).await.unwrap().unwrap();
        assert_eq!(view.summary.state, State::Accepted);
    }
    // Reports and jobs and events are as many; and with room again, all goes on.
    assert_eq!(
        store.stats().await.unwrap().undelivered,
        u64::try_from(stored.len()).unwrap()
    );
    drop(store);
    let store = SqliteStore::open(&file, SqliteOptions::default())
        .await
        .unwrap();
    for n in refused {
        let ingested = store.ingest(large(n)).await.unwrap();
        assert!(
            matches!(ingested, Ingested::Accepted { .. }),
            "{ingested:?}"
        );
    }
}

#[tokio::test]
async fn another_process_that_writes_for_too_long_makes_it_busy() {
    let db = Sqlite::new().await;
    ingest(&*db.store(), 1).await;
    let options = SqliteOptions {
        busy_timeout: Duration::from_millis(20),
        ..SqliteOptions::default()
    };
    let store = SqliteStore::open(&db.file(), options).await.unwrap();
    let mut other = connect(&db.file()).await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let busy = store.ingest(report(2)).await;
    assert!(matches!(busy, Err(StoreError::Busy)), "{busy:?}");
    assert!(matches!(store.ready().await, Err(StoreError::Busy)));
    // Who only looks does not wait.
    let again = store.ingest(report(1)).await.unwrap();
    assert!(matches!(again, Ingested::Duplicate { .. }), "{again:?}");
    assert!(store.report(key(1)).await.unwrap().is_some());
    other.execute("ROLLBACK").await.unwrap();
    let ingested = store.ingest(report(2)).await.unwrap();
    assert!(
        matches!(ingested, Ingested::Accepted { .. }),
        "{ingested:?}"
    );
}

/// A process that starts while others keep the file busy has nothing to write, so it does not wait.
#[tokio::test]
async fn a_start_does_not_wait_for_those_who_write() {
    let db = Sqlite::new().await;
    let versions = PipelineVersions {
        pipeline: "moderation".to_owned(),
        classifier_version: "moderation-7".to_owned(),
        classifier_digest: [1; 32],
        schema_version: "moderation-v3".to_owned(),
        schema_digest: [2; 32],
    };
    let bound = db.store().bind_versions(versions.clone()).await.unwrap();
    assert_eq!(bound, Bound::Bound);
    let mut other = connect(&db.file()).await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let options = SqliteOptions {
        busy_timeout: Duration::from_millis(20),
        ..SqliteOptions::default()
    };
    let started = SqliteStore::open(&db.file(), options).await.unwrap();
    assert_eq!(started.bind_versions(versions).await.unwrap(), Bound::Bound);
    other.execute("ROLLBACK").await.unwrap();
}

fn log_bytes(db: &Sqlite) -> u64 {
    let log = db.dir.path().join("fencepost.db-wal");
    std::fs::metadata(log).map_or(0, |log| log.len())
}

/// How many reports a mere copy of the file has, without what stands beside it.
async fn reports_in_the_file(db: &Sqlite) -> i64 {
    let copy = db.dir.path().join("copy.db");
    std::fs::copy(db.file(), &copy).unwrap();
    let count = sqlx::query_scalar("SELECT count(*) FROM report");
    count.fetch_one(&mut connect(&copy).await).await.unwrap()
}

#[tokio::test]
async fn a_closed_store_leaves_all_of_it_in_the_file_beside_other_processes() {
    // The test has the file open, too.
    let db = Sqlite::new().await;
    ingest(&*db.store(), 1).await;
    assert_ne!(log_bytes(&db), 0, "what is committed stands in the log");
    assert_eq!(reports_in_the_file(&db).await, 0);
    db.store().close().await;
    assert_eq!(log_bytes(&db), 0);
    assert_eq!(reports_in_the_file(&db).await, 1);
    let late = db.store().report(key(1)).await;
    assert!(matches!(late, Err(StoreError::Unavailable(_))), "{late:?}");
}

#[tokio::test]
async fn a_store_closes_while_another_process_reads_and_nothing_is_lost() {
    let db = Sqlite::new().await;
    db.execute("BEGIN").await;
    assert_eq!(db.rows("report").await, 0);
    ingest(&*db.store(), 1).await;
    db.store().close().await;
    assert_ne!(log_bytes(&db), 0, "the reader still needs the log");
    assert_eq!(db.rows("report").await, 0);
    db.execute("COMMIT").await;
    assert_eq!(db.rows("report").await, 1);
}

#[tokio::test]
async fn a_look_tells_of_another_schema_and_writes_nothing() {
    let db = Sqlite::new().await;
    ingest(&*db.store(), 1).await;
    let bindings = db.store().bindings().await.unwrap();
    assert_eq!(bindings.sources.len(), 1);
    let current = store::look(&db.url()).await.unwrap();
    assert_eq!(current, Looked::Bindings(bindings));

    let (found, known) = (0, NEWEST);
    db.execute("DELETE FROM migration").await;
    let (contents, changes) = (db.contents().await, db.changes().await);
    let older = store::look(&db.url()).await.unwrap();
    assert_eq!(older, Looked::OlderSchema { found, known });
    assert_eq!(
        (db.contents().await, db.changes().await),
        (contents, changes)
    );
    db.execute("INSERT INTO migration (version, name, applied_ms) VALUES (999, 'later', 1)")
        .await;
    let newer = store::look(&db.url()).await;
    assert!(
        matches!(newer, Err(StoreError::NewerSchema { found: 999, .. })),
        "{newer:?}"
    );

    let empty = db.dir.path().join("empty.db");
    std::fs::write(&empty, "").unwrap();
    let looked = store::look(&format!("sqlite://{}", empty.display())).await;
    assert_eq!(looked.unwrap(), Looked::OlderSchema { found, known });
    assert_eq!(std::fs::metadata(&empty).unwrap().len(), 0);
    let absent = db.dir.path().join("absent.db");
    let looked = store::look(&format!("sqlite://{}", absent.display())).await;
    assert!(
        matches!(looked, Err(StoreError::Unavailable(_))),
        "{looked:?}"
    );
    assert!(!absent.exists());
}
