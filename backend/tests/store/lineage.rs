//! Findings followed through the versions of a thing: new, still there, gone.

use fencepost::{
    report::Finding,
    store::{Commit, Ingested, NewReport, Since, Store},
};
use fencepost_identity::{
    identity::{Identity, Revision, Tenant, Version},
    key::{LineageKey, ReportKey},
};

use super::{
    findings::{found, list_of},
    fixture::{Database, grant, identity, input, report},
};

/// Revision `revision` of thing 1, in an order or without.
fn version(revision: u64, order: Option<&str>) -> NewReport {
    NewReport {
        identity: Identity {
            version: Version::Revision(Revision::new(revision).unwrap()),
            ..identity(1)
        },
        input: Some(input("text", u8::try_from(revision).unwrap())),
        order: order.map(str::to_owned),
        ..report(1)
    }
}

fn key_of(revision: u64) -> ReportKey {
    version(revision, None).identity.report_key()
}

fn lineage(name: &str) -> LineageKey {
    let Finding { fingerprint, .. } = found(name, "");
    let it = identity(1);
    LineageKey::of(&it.tenant, &it.namespace, &it.report_id, &fingerprint)
}

async fn ingest(store: &dyn Store, report: NewReport) {
    let ingested = store.ingest(report).await.unwrap();
    assert!(
        matches!(ingested, Ingested::Accepted { .. }),
        "{ingested:?}"
    );
}

/// Takes a version that came at a time of its own, and commits what these rules found in it.
async fn version_lists(db: &impl Database, revision: u64, order: Option<&str>, names: &[&str]) {
    let store = db.store();
    ingest(&*store, version(revision, order)).await;
    came_at(db, revision).await;
    let lease = grant(&*store, 1).await.lease;
    assert_eq!(lease.report(), key_of(revision));
    let commit = store.commit(lease, list_of(names)).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
}

/// Versions that came within a millisecond have an order that nobody knows before.
async fn came_at(db: &impl Database, revision: u64) {
    let key = db.bytes(key_of(revision));
    let came = format!("UPDATE report SET received_ms = {revision} WHERE report_key = {key}");
    db.execute(&came).await;
}

/// What a version lists, what is gone, and which version it is compared with.
type Seen = (
    Vec<(LineageKey, Option<Since>)>,
    Vec<LineageKey>,
    Option<ReportKey>,
);

async fn seen(db: &impl Database, revision: u64) -> Seen {
    let view = db.store().report(key_of(revision)).await.unwrap().unwrap();
    let list = view.findings.unwrap();
    let found = list.findings.iter().map(|it| (it.lineage, it.since));
    (found.collect(), list.gone, list.compared_with)
}

fn expected(listed: &[(&str, Since)], gone: &[&str], version: Option<u64>) -> Seen {
    let listed = listed
        .iter()
        .map(|(name, since)| (lineage(name), Some(*since)));
    let gone = gone.iter().map(|name| lineage(name));
    (listed.collect(), gone.collect(), version.map(key_of))
}

pub(crate) async fn findings_are_followed_from_version_to_version(db: &impl Database) {
    version_lists(db, 1, None, &["a", "b"]).await;
    version_lists(db, 2, None, &["b", "c"]).await;
    version_lists(db, 3, None, &["a", "c"]).await;
    let first = expected(&[("a", Since::New), ("b", Since::New)], &[], None);
    assert_eq!(seen(db, 1).await, first);
    let second = expected(&[("b", Since::Still), ("c", Since::New)], &["a"], Some(1));
    assert_eq!(seen(db, 2).await, second);
    // Compared with the version before and no other.
    let third = expected(&[("a", Since::New), ("c", Since::Still)], &["b"], Some(2));
    assert_eq!(seen(db, 3).await, third);
}

pub(crate) async fn an_empty_list_is_a_version_like_any_other(db: &impl Database) {
    version_lists(db, 1, None, &["a", "b"]).await;
    version_lists(db, 2, None, &[]).await;
    version_lists(db, 3, None, &["a"]).await;
    assert_eq!(seen(db, 2).await, expected(&[], &["a", "b"], Some(1)));
    let third = expected(&[("a", Since::New)], &[], Some(2));
    assert_eq!(seen(db, 3).await, third);
}

pub(crate) async fn a_version_without_a_result_is_passed_over(db: &impl Database) {
    version_lists(db, 1, None, &["a"]).await;
    version_lists(db, 2, None, &["b"]).await;
    db.execute(&format!(
        "UPDATE report SET current_result = NULL WHERE report_key = {}",
        db.bytes(key_of(2))
    ))
    .await;
    version_lists(db, 3, None, &["a"]).await;
    let third = expected(&[("a", Since::Still)], &[], Some(1));
    assert_eq!(seen(db, 3).await, third);
}

pub(crate) async fn what_was_withdrawn_before_is_not_gone_now(db: &impl Database) {
    version_lists(db, 1, None, &["a", "b"]).await;
    db.execute("UPDATE job SET state = 'accepted', outcome = NULL, due_ms = 1")
        .await;
    let lease = grant(&*db.store(), 1).await.lease;
    db.store().commit(lease, list_of(&["b"])).await.unwrap();
    version_lists(db, 2, None, &["a"]).await;
    let second = expected(&[("a", Since::New)], &["b"], Some(1));
    assert_eq!(seen(db, 2).await, second);
}

pub(crate) async fn an_order_says_which_version_is_before(db: &impl Database) {
    let store = db.store();
    // Revisions tell when each came; 10 is after 9, though not as a text.
    version_lists(db, 1, Some("8"), &["a", "b"]).await;
    ingest(&*store, version(2, Some("9"))).await;
    came_at(db, 2).await;
    let middle = grant(&*store, 2).await.lease;
    version_lists(db, 3, Some("10"), &["b", "c"]).await;
    let newest = expected(&[("b", Since::Still), ("c", Since::New)], &["a"], Some(1));
    assert_eq!(seen(db, 3).await, newest);

    // The answer about the version between them comes late.
    store.commit(middle, list_of(&["c"])).await.unwrap();
    let between = expected(&[("c", Since::New)], &["a", "b"], Some(1));
    assert_eq!(seen(db, 2).await, between);
    let newest = expected(&[("b", Since::New), ("c", Since::Still)], &[], Some(2));
    assert_eq!(seen(db, 3).await, newest);
}

pub(crate) async fn a_late_older_version_is_not_the_one_before(db: &impl Database) {
    version_lists(db, 1, Some("1"), &["a"]).await;
    version_lists(db, 2, Some("5"), &["a", "b"]).await;
    // It comes after both, and belongs between them; nobody works on it.
    ingest(&*db.store(), version(3, Some("3"))).await;
    came_at(db, 3).await;
    let second = expected(&[("a", Since::Still), ("b", Since::New)], &[], Some(1));
    assert_eq!(seen(db, 2).await, second);
    let late = db.store().report(key_of(3)).await.unwrap().unwrap();
    assert_eq!(late.findings, None);
    version_lists(db, 4, Some("6"), &["b"]).await;
    let newest = expected(&[("b", Since::Still)], &["a"], Some(2));
    assert_eq!(seen(db, 4).await, newest);
}

pub(crate) async fn another_thing_of_the_same_name_is_another(db: &impl Database) {
    let store = db.store();
    version_lists(db, 1, None, &["a"]).await;
    let mut other = version(2, None);
    other.identity.tenant = Tenant::new("umbra").unwrap();
    let key = other.identity.report_key();
    ingest(&*store, other).await;
    let lease = grant(&*store, 1).await.lease;
    store.commit(lease, list_of(&["a"])).await.unwrap();
    let list = store.report(key).await.unwrap().unwrap().findings.unwrap();
    assert_eq!(
        (list.compared_with, list.findings[0].since),
        (None, Some(Since::New))
    );
    assert_ne!(list.findings[0].lineage, lineage("a"));
}
