//! What is particular to Postgres: many processes at once, a server that others administer, and a
//! pooler before it.

use std::{
    collections::BTreeSet,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use fencepost::{
    report::{Outcome, ReviewReason, StateWord},
    store::{
        self, AfterRejection, Ingested, Looked, Migrated, NewReport, PostgresOptions,
        PostgresStore, Rejected, Store, StoreError,
    },
};
use fencepost_identity::identity::{Identity, Revision, Version};
use sqlx::{AssertSqlSafe, Executor};

use super::{
    fixture::{Database, grant, identity, ingest, key, rejection, report, value},
    postgres_fixture::{Postgres, connect, empty_database, pooler_url},
};

async fn run(url: &str, statement: &'static str) {
    connect(url).await.execute(statement).await.unwrap();
}

async fn tables(url: &str) -> i64 {
    let count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    sqlx::query_scalar(count)
        .fetch_one(&mut connect(url).await)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_migrate_an_empty_database_at_once_and_one_does_it() {
    let url = empty_database().await;
    let begun: Vec<_> = (0..8)
        .map(|_| {
            let url = url.clone();
            tokio::spawn(async move { store::migrate(&url).await.unwrap() })
        })
        .collect();
    let mut did = 0;
    for migrated in begun {
        let Migrated { from, to } = migrated.await.unwrap();
        did += i32::from(from == 0);
        assert!(from == 0 || from == to, "{from} {to}");
    }
    assert_eq!(did, 1);
}

/// Whoever is killed in the middle leaves an open transaction, which the server undoes, and with it
/// the lock that others wait for.
#[tokio::test]
async fn a_migration_that_was_cut_off_leaves_nothing_and_blocks_nobody() {
    let url = empty_database().await;
    let mut cut_off = connect(&url).await;
    for statement in [
        "BEGIN",
        "SELECT pg_advisory_xact_lock(7310868735424201330)",
        "CREATE TABLE migration (version BIGINT PRIMARY KEY, name TEXT, applied_ms BIGINT)",
        "CREATE TABLE report (half TEXT)",
    ] {
        cut_off.execute(statement).await.unwrap();
    }
    let waiting = tokio::spawn({
        let url = url.clone();
        async move { store::migrate(&url).await }
    });
    let mut watcher = connect(&url).await;
    let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    while sqlx::query_scalar::<_, i64>(waits)
        .fetch_one(&mut watcher)
        .await
        .unwrap()
        == 0
    {
        tokio::task::yield_now().await;
    }
    drop(cut_off);
    assert_eq!(waiting.await.unwrap().unwrap().from, 0);
    let store = store::open(&url).await.unwrap();
    ingest(&*store, 1).await;
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_nothing_written() {
    let db = Postgres::new().await;
    let newer = "INSERT INTO migration (version, name, applied_ms) VALUES (99, 'later', 1)";
    run(db.url(), newer).await;
    let before = db.contents().await;
    let refused = store::open(db.url()).await.err().unwrap();
    assert!(
        matches!(refused, StoreError::NewerSchema { found: 99, .. }),
        "{refused}"
    );
    assert!(matches!(
        store::migrate(db.url()).await,
        Err(StoreError::NewerSchema { .. })
    ));
    assert_eq!(db.contents().await, before);
}

#[tokio::test]
async fn the_database_of_another_program_is_refused_with_nothing_written() {
    let url = empty_database().await;
    run(&url, "CREATE TABLE invoice (id BIGINT)").await;
    assert_eq!(store::open(&url).await.err(), Some(StoreError::Foreign));
    assert_eq!(tables(&url).await, 1);
}

#[tokio::test]
async fn an_empty_database_is_looked_at_without_being_migrated() {
    let url = empty_database().await;
    let looked = store::look(&url).await.unwrap();
    assert!(
        matches!(looked, Looked::OlderSchema { found: 0, .. }),
        "{looked:?}"
    );
    assert_eq!(tables(&url).await, 0);
}

/// Only `migrate` and `serve` make tables: a misspelt name must not.
#[tokio::test]
async fn a_command_that_looks_makes_no_tables() {
    let url = empty_database().await;
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .arg("list")
        .env("FENCEPOST_DATABASE_URL", &url)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("fencepost migrate"), "{told}");
    assert_eq!(tables(&url).await, 0);
}

/// A claim that a crash takes back would be granted again under the same token.
#[tokio::test]
async fn a_server_that_forgets_commits_is_refused() {
    let db = Postgres::new().await;
    let name: String = sqlx::query_scalar("SELECT current_database()::text")
        .fetch_one(&mut connect(db.url()).await)
        .await
        .unwrap();
    let forget = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    connect(db.url())
        .await
        .execute(sqlx::raw_sql(AssertSqlSafe(forget)))
        .await
        .unwrap();
    let refused = store::open(db.url()).await.err();
    assert_eq!(refused, Some(StoreError::Forgetful));
}

/// Nobody is left waiting for the end of a connection that the server cut.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_connections_are_replaced() {
    let db = Postgres::new().await;
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    db.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'fencepost'",
    )
    .await;
    store.commit(lease, value()).await.unwrap();
    assert!(matches!(
        store.ingest(report(1)).await.unwrap(),
        Ingested::Duplicate { .. }
    ));
}

/// Two lanes of several processes meet on the same reports, in every order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_of_several_processes_do_not_block_each_other() {
    let db = Arc::new(Postgres::new().await);
    let stores = [db.store(), db.another_store().await];
    let mut all = Vec::new();
    for n in 0..200_u32 {
        // Forwards in one, backwards in the other.
        for (store, n) in stores.iter().zip([n, 199 - n]) {
            let store = Arc::clone(store);
            all.push(tokio::spawn(async move {
                store.ingest(report(n)).await.unwrap()
            }));
        }
    }
    let mut accepted = BTreeSet::new();
    for ingested in all {
        if let Ingested::Accepted { key, .. } = ingested.await.unwrap() {
            assert!(accepted.insert(key), "accepted twice: {key}");
        }
    }
    assert_eq!(accepted.len(), 200);
    assert!(accepted.contains(&key(0)) && accepted.contains(&key(199)));
    assert_eq!(db.rows("outbox").await, 200);
}

/// What is prepared on one connection would be looked for on another.
#[tokio::test]
async fn a_pooler_of_which_the_url_says_nothing_is_refused_with_nothing_written() {
    let url = empty_database().await;
    let refused = store::open(&pooler_url(&url)).await.err();
    assert_eq!(refused, Some(StoreError::Pooler));
    assert_eq!(tables(&url).await, 0);
    let told = StoreError::Pooler.to_string();
    assert!(told.contains("?statement-cache-capacity=0"), "{told}");
}

/// The older version is being sent to a person when the newer one arrives: one waits for the other,
/// so that no item stays open for what is superseded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_of_a_report_is_written_by_one_at_a_time() {
    const GATE: &str = "SELECT pg_advisory_lock(42)";
    let db = Postgres::new().await;
    let store = db.store();
    let version = |revision: u64| NewReport {
        identity: Identity {
            version: Version::Revision(Revision::new(revision).unwrap()),
            ..identity(1)
        },
        order: Some(revision.to_string()),
        ..report(1)
    };
    store.ingest(version(1)).await.unwrap();
    let lease = grant(&*store, 1).await.lease;
    db.execute(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END $$;
         CREATE TRIGGER wait BEFORE INSERT ON review FOR EACH ROW EXECUTE FUNCTION wait()",
    )
    .await;
    let mut gate = connect(db.url()).await;
    gate.execute(GATE).await.unwrap();
    let mut refusal = rejection();
    refusal.next = AfterRejection::Review(ReviewReason::Refused.into());
    let rejected = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.reject(lease, refusal).await.unwrap() }
    });
    waiting(&db, 1).await;
    let newer = tokio::spawn({
        let store = Arc::clone(&store);
        let newer = version(2);
        async move { store.ingest(newer).await.unwrap() }
    });
    waiting(&db, 2).await;
    drop(gate);
    let asked = Rejected::SentToReview(ReviewReason::Refused);
    assert_eq!(rejected.await.unwrap(), asked);
    assert!(matches!(newer.await.unwrap(), Ingested::Accepted { .. }));
    let open = "SELECT count(*) FROM review WHERE status = 'open'";
    assert_eq!(db.number(open).await, 0);
    let superseded = "SELECT count(*) FROM job WHERE outcome = 'superseded'";
    assert_eq!(db.number(superseded).await, 1);
}

/// Looks until as many of the store's connections wait for a lock.
async fn waiting(db: &Postgres, count: i64) {
    let waiting = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND application_name = 'fencepost'
                     AND wait_event_type = 'Lock'";
    let began = Instant::now();
    while db.number(waiting).await < count {
        assert!(began.elapsed() < PATIENCE, "nobody waits");
        tokio::task::yield_now().await;
    }
}

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_small_pool_is_enough() {
    let url = empty_database().await;
    let options = PostgresOptions {
        connections: 1,
        ..PostgresOptions::default()
    };
    let store = PostgresStore::open(&url, options).await.unwrap();
    ingest(&store, 1).await;
    let lease = grant(&store, 1).await.lease;
    store.heartbeat(&lease).await.unwrap();
    store.commit(lease, value()).await.unwrap();
    store.ready().await.unwrap();
    store.close().await;
}

#[test]
fn the_words_of_the_schema_are_those_of_the_code() {
    let schema = include_str!("../../migrations/postgres/0001_reports.sql");
    let squeezed = schema.split_whitespace().collect::<Vec<_>>().join(" ");
    let listed = |words: Vec<&str>| {
        let words: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
        let words = words.join(", ");
        squeezed.contains(&format!("IN ({words})")) || squeezed.contains(&format!("IN ( {words} )"))
    };
    assert!(listed(StateWord::ALL.iter().map(|w| w.as_str()).collect()));
    assert!(listed(Outcome::ALL.iter().map(|w| w.as_str()).collect()));
    assert!(listed(
        ReviewReason::ALL.iter().map(|w| w.as_str()).collect()
    ));
}
