//! Rows that can't be understood: reported and set aside, while the rest goes on.

use fencepost::store::{Claim, Corruption, Filter, Held, StoreError};

use super::fixture::{Database, grant, idle, ingest, key, request, terms};

/// Where something unreadable is put, and what.
const DAMAGE: &[(&str, &str, &str)] = &[
    ("report", "version", "'nonsense'"),
    ("report", "tenant", "''"),
    ("report", "namespace", "'Upper Case'"),
    ("report", "fence", "-1"),
    ("report", "fence", "9223372036854775807"),
    ("report", "next_attempt", "0"),
    ("job", "charged", "-1"),
    ("job", "calls_judged", "99999999999"),
    ("job", "outcome", "'committed'"),
];

pub(crate) async fn a_row_that_cannot_be_understood_is_set_aside(db: &impl Database) {
    let store = db.store();
    let mut number = 0;
    for (table, column, damage) in DAMAGE {
        number += 2;
        ingest(&*store, number).await;
        let of_report = format!("report_key = {}", db.bytes(key(number)));
        db.execute(&format!("UPDATE job SET due_ms = 1 WHERE {of_report}"))
            .await;
        db.execute(&format!(
            "UPDATE {table} SET {column} = {damage} WHERE {of_report}"
        ))
        .await;
        ingest(&*store, number + 1).await;

        let claim = store.claim(request(1, terms())).await.unwrap();
        let Claim::SetAside(corruption) = claim else {
            panic!("{table}.{column}: {claim:?}")
        };
        let column = if *column == "outcome" {
            "state"
        } else {
            *column
        };
        let (at_table, at_column) = (corruption.table, corruption.column);
        assert_eq!((at_table, at_column), (*table, column), "{corruption}");
        assert!(corruption.key.starts_with("job "), "{corruption}");
        // It is out of the way for good.
        assert_eq!(grant(&*store, 2).await.lease.report(), key(number + 1));
        idle(&*store, 3).await;
    }
    let aside = u64::try_from(DAMAGE.len()).unwrap();
    assert!(store.stats().await.unwrap().set_aside >= aside);
}

pub(crate) async fn an_unknown_state_hides_no_other_report(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    ingest(&*store, 2).await;
    let of_first = format!("report_key = {}", db.bytes(key(1)));
    db.execute(&format!(
        "UPDATE job SET state = 'pondering', due_ms = 1 WHERE {of_first}"
    ))
    .await;
    assert_eq!(grant(&*store, 1).await.lease.report(), key(2));
    idle(&*store, 2).await;

    let page = store.list(Filter::default(), None, 10).await.unwrap();
    let found: Vec<_> = page.reports.iter().map(|report| report.key).collect();
    assert_eq!(found, [key(2)]);
    let corruption = Corruption {
        table: "job",
        column: "state",
        key: key(1).to_string(),
    };
    assert_eq!(page.unreadable, std::slice::from_ref(&corruption));
    match store.report(key(1)).await {
        Err(StoreError::Corrupt(reported)) => assert_eq!(reported, corruption),
        other => panic!("{other:?}"),
    }
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.set_aside, stats.states.len()), (1, 1));
}

pub(crate) async fn a_job_that_others_stand_in_the_way_of_is_set_aside(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let held = grant(&*store, 1).await;
    ingest(&*store, 2).await;
    // The number of its next attempt is taken.
    db.execute("UPDATE report SET next_attempt = 1 WHERE fence = 1")
        .await;
    db.age_leases().await;
    let claim = store.claim(request(2, terms())).await.unwrap();
    let Claim::SetAside(corruption) = claim else {
        panic!("{claim:?}")
    };
    assert_eq!((corruption.table, corruption.column), ("job", "job_id"));
    assert_eq!(grant(&*store, 2).await.lease.report(), key(2));
    // Nothing of the grant was left: whoever holds the job still does.
    let beat = store.heartbeat(&held.lease).await.unwrap();
    assert!(matches!(beat, Held::Yes { .. }), "{beat:?}");
    assert_eq!(store.attempts(key(1)).await.unwrap()[0].outcome, None);
}

pub(crate) async fn a_job_that_cannot_be_bound_is_set_aside(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    ingest(&*store, 2).await;
    // Another job of the report has the version already: a second one can't get it.
    db.execute(&format!(
        "INSERT INTO job (report_key, pipeline, kind, classifier_version, state, outcome, due_ms,
                          elapsed_from_ms, created_ms, updated_ms)
         SELECT report_key, pipeline, kind, 'moderation-7', 'terminal', 'committed', 1,
                created_ms, created_ms, created_ms FROM job WHERE report_key = {}",
        db.bytes(key(1))
    ))
    .await;
    let claim = store.claim(request(1, terms())).await.unwrap();
    let Claim::SetAside(corruption) = claim else {
        panic!("{claim:?}")
    };
    assert_eq!(
        (corruption.table, corruption.column),
        ("job", "classifier_version")
    );
    assert_eq!(grant(&*store, 2).await.lease.report(), key(2));
}
