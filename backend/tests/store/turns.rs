//! Turns: who has much to do does not keep the others waiting behind all of it.

use std::{sync::Arc, time::Duration};

use fencepost::store::{
    Claim, ClaimRequest, Grant, Ingested, NewReport, PipelineTerms, Replayed, Store, Turns,
};
use fencepost_identity::{
    identity::{Identity, ReportId, Tenant},
    key::ReportKey,
};

use super::fixture::{Database, identity, report, request, terms, value};

/// A tenant's report number `n`.
fn of(tenant: &str, n: u32) -> NewReport {
    NewReport {
        identity: Identity {
            tenant: Tenant::new(tenant).unwrap(),
            report_id: ReportId::new(n.to_string()).unwrap(),
            ..identity(n)
        },
        ..report(n)
    }
}

fn key_of(tenant: &str, n: u32) -> ReportKey {
    of(tenant, n).identity.report_key()
}

async fn ingest_all(store: &Arc<dyn Store>, reports: impl Iterator<Item = NewReport>) {
    let stored = reports.map(|report| {
        let store = Arc::clone(store);
        tokio::spawn(async move { store.ingest(report).await.unwrap() })
    });
    for stored in stored.collect::<Vec<_>>() {
        let stored = stored.await.unwrap();
        assert!(matches!(stored, Ingested::Accepted { .. }), "{stored:?}");
    }
}

/// Claims after others, and must be granted something.
async fn next(store: &dyn Store, turns: &Arc<Turns>, terms: Vec<PipelineTerms>) -> Grant {
    let request = ClaimRequest {
        pipelines: terms,
        turns: Arc::clone(turns),
        ..request(1, super::fixture::terms())
    };
    match store.claim(request).await.unwrap() {
        Claim::Granted(grant) => *grant,
        other => panic!("{other:?}"),
    }
}

/// Whose reports the next claims grant.
async fn order(store: &dyn Store, turns: &Arc<Turns>, claims: usize) -> Vec<String> {
    let mut order = Vec::new();
    for _ in 0..claims {
        let Identity {
            tenant, report_id, ..
        } = next(store, turns, vec![terms()]).await.identity;
        order.push(format!("{} {}", tenant.as_str(), report_id.as_str()));
    }
    order
}

/// Makes a tenant's jobs wait for an hour.
async fn put_off(db: &impl Database, tenant: &str) {
    let hour = Duration::from_secs(60 * 60).as_millis();
    let waits = format!("UPDATE job SET due_ms = due_ms + {hour} WHERE tenant = '{tenant}'");
    db.execute(&waits).await;
}

pub(crate) async fn one_among_a_thousand_is_served_within_two_claims(db: &impl Database) {
    let store = db.store();
    ingest_all(&store, (0..1_000).map(|n| of("many", n))).await;
    let turns = Arc::default();
    order(&*store, &turns, 5).await;
    for (n, tenant) in (1..).zip(["few", "other"]) {
        ingest_all(&store, [of(tenant, n)].into_iter()).await;
        let served = order(&*store, &turns, 2).await;
        assert!(served.contains(&format!("{tenant} {n}")), "{served:?}");
    }
    // A worker that begins has no memory of others.
    let turns = Arc::default();
    ingest_all(&store, [of("zebra", 1)].into_iter()).await;
    let served = order(&*store, &turns, 2).await;
    assert!(served.contains(&"zebra 1".to_owned()), "{served:?}");
}

pub(crate) async fn tenants_take_turns_and_each_keeps_its_order(db: &impl Database) {
    let store = db.store();
    for (tenant, n, due) in [
        ("b", 1, 40),
        ("a", 1, 30),
        ("a", 2, 10),
        ("a", 3, 20),
        ("b", 2, 50),
        ("c", 1, 60),
    ] {
        store.ingest(of(tenant, n)).await.unwrap();
        let job = format!("report_key = {}", db.bytes(key_of(tenant, n)));
        db.execute(&format!("UPDATE job SET due_ms = {due} WHERE {job}"))
            .await;
    }
    let order = order(&*store, &Arc::default(), 6).await;
    assert_eq!(order, ["a 2", "b 1", "c 1", "a 3", "b 2", "a 1"]);
}

pub(crate) async fn a_tenant_is_served_beyond_many_who_wait(db: &impl Database) {
    let store = db.store();
    let waiting: Vec<_> = (0..40).map(|n| format!("m{n:02}")).collect();
    ingest_all(&store, waiting.iter().map(|tenant| of(tenant, 1))).await;
    for tenant in &waiting {
        put_off(db, tenant).await;
    }
    ingest_all(&store, (0..8).map(|n| of("a", n))).await;
    ingest_all(&store, [of("z", 1)].into_iter()).await;
    // A claim looks at no more than 16 of those whose turn it would be, and grants all the same.
    let served = order(&*store, &Arc::default(), 4).await;
    assert_eq!(served[3], "z 1", "{served:?}");
}

pub(crate) async fn pipelines_take_turns(db: &impl Database) {
    let store = db.store();
    ingest_all(&store, (0..10).map(|n| of("many", n))).await;
    let elsewhere = NewReport {
        pipeline: "other".to_owned(),
        ..of("few", 1)
    };
    store.ingest(elsewhere).await.unwrap();
    let other = PipelineTerms {
        pipeline: "other".to_owned(),
        ..terms()
    };
    let turns = Arc::default();
    let mut served = Vec::new();
    for _ in 0..2 {
        let both = vec![terms(), other.clone()];
        served.push(next(&*store, &turns, both).await.pipeline);
    }
    assert_eq!(served, ["moderation", "other"]);
}

pub(crate) async fn a_replayed_report_has_its_turn_too(db: &impl Database) {
    let store = db.store();
    store.ingest(of("few", 1)).await.unwrap();
    let turns = Arc::default();
    let lease = next(&*store, &turns, vec![terms()]).await.lease;
    store.commit(lease, value()).await.unwrap();
    ingest_all(&store, (0..10).map(|n| of("many", n))).await;
    let newer = PipelineTerms {
        classifier_version: "moderation-8".to_owned(),
        ..terms()
    };
    let (key, version) = (key_of("few", 1), newer.classifier_version.clone());
    let replayed = store.replay(key, version, "kim".to_owned()).await.unwrap();
    assert_eq!(replayed, Replayed::Made);
    let mut served = Vec::new();
    for _ in 0..2 {
        let grant = next(&*store, &turns, vec![newer.clone()]).await;
        served.push(grant.lease.report());
    }
    assert!(served.contains(&key), "{served:?}");
}

/// Each of several processes goes round by itself; what one has begun, another passes over.
pub(crate) async fn several_workers_serve_all_tenants(db: &impl Database) {
    let store = db.store();
    ingest_all(&store, (0..200).map(|n| of("many", n))).await;
    ingest_all(
        &store,
        ["b", "n", "z"].map(|tenant| of(tenant, 1)).into_iter(),
    )
    .await;
    let mut workers = Vec::new();
    for _ in 0..3 {
        let store = db.another_store().await;
        workers.push(tokio::spawn(async move {
            order(&*store, &Arc::default(), 4).await
        }));
    }
    let mut served = Vec::new();
    for worker in workers {
        served.extend(worker.await.unwrap());
    }
    for one in ["b 1", "n 1", "z 1"] {
        let times = served.iter().filter(|served| *served == one).count();
        assert_eq!(times, 1, "{one} of {served:?}");
    }
}
