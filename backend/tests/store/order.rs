//! Versions of one thing: the newest is current, whichever came first.

use std::time::Duration;

use fencepost::{
    report::{Outcome, ReviewReason, State, VersionStatus},
    store::{
        AfterRejection, Claim, Commit, Content, Ingested, NewReport, Rejected, ReviewStatus, Store,
    },
};
use fencepost_identity::{
    identity::{Identity, Revision, Version},
    key::ReportKey,
};

use super::fixture::{
    Database, grant, identity, idle, rejection, report, report_with_content, request, terms, value,
    value_for_review,
};

/// Revision `revision` of thing 1.
fn version(revision: u64) -> NewReport {
    NewReport {
        identity: Identity {
            version: Version::Revision(Revision::new(revision).unwrap()),
            ..identity(1)
        },
        input: report_with_content(1, u8::try_from(revision).unwrap()).input,
        order: Some(revision.to_string()),
        ..report(1)
    }
}

fn key_of(revision: u64) -> ReportKey {
    version(revision).identity.report_key()
}

async fn accept(store: &dyn Store, revision: u64) -> State {
    match store.ingest(version(revision)).await.unwrap() {
        Ingested::Accepted { state, .. } => state,
        other => panic!("{other:?}"),
    }
}

/// State, place among the versions, and whether a person is asked.
async fn seen(
    store: &dyn Store,
    revision: u64,
) -> (State, Option<VersionStatus>, Option<ReviewStatus>) {
    let view = store.report(key_of(revision)).await.unwrap().unwrap();
    let review = view.review.map(|review| review.status);
    (view.summary.state, view.version_status, review)
}

const SUPERSEDED: State = State::Terminal(Outcome::Superseded);
const OLD: Option<VersionStatus> = Some(VersionStatus::Superseded);
const CURRENT: Option<VersionStatus> = Some(VersionStatus::Current);

pub(crate) async fn a_newer_version_ends_what_nobody_has_begun(db: &impl Database) {
    let store = db.store();
    // 10 is after 9, though not as a text.
    assert_eq!(accept(&*store, 9).await, State::Accepted);
    assert_eq!(accept(&*store, 10).await, State::Accepted);
    assert_eq!(seen(&*store, 9).await, (SUPERSEDED, OLD, None));
    assert_eq!(seen(&*store, 10).await, (State::Accepted, CURRENT, None));
    assert_eq!(grant(&*store, 1).await.lease.report(), key_of(10));
    idle(&*store, 2).await;
    // A redelivery of the old one is a duplicate of what it was.
    let again = store.ingest(version(9)).await.unwrap();
    let (key, state) = (key_of(9), SUPERSEDED);
    let content = Content::Same;
    assert_eq!(
        again,
        Ingested::Duplicate {
            key,
            state,
            content
        }
    );
}

pub(crate) async fn a_late_older_version_is_stored_and_never_current(db: &impl Database) {
    let store = db.store();
    accept(&*store, 3).await;
    assert_eq!(accept(&*store, 2).await, SUPERSEDED);
    assert_eq!(seen(&*store, 2).await, (SUPERSEDED, OLD, None));
    assert_eq!(seen(&*store, 3).await, (State::Accepted, CURRENT, None));
    assert_eq!(grant(&*store, 1).await.lease.report(), key_of(3));
    idle(&*store, 2).await;
    assert_eq!(accept(&*store, 4).await, State::Accepted);
    assert_eq!(seen(&*store, 3).await, (State::Running, OLD, None));
}

pub(crate) async fn a_newer_version_closes_the_review_item(db: &impl Database) {
    let store = db.store();
    accept(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    store.commit(lease, value_for_review()).await.unwrap();
    let open = (State::ReadyForReview, CURRENT, Some(ReviewStatus::Open));
    assert_eq!(seen(&*store, 1).await, open);
    accept(&*store, 2).await;
    let closed = (SUPERSEDED, OLD, Some(ReviewStatus::Closed));
    assert_eq!(seen(&*store, 1).await, closed);
    // Its result stays where it is.
    let view = store.report(key_of(1)).await.unwrap().unwrap();
    assert!(view.result.is_some());
}

pub(crate) async fn a_running_job_of_an_older_version_ends_without_a_person(db: &impl Database) {
    let store = db.store();
    accept(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    accept(&*store, 2).await;
    // The answer was paid for and is kept; nobody is asked about it.
    let commit = store.commit(lease, value_for_review()).await.unwrap();
    assert!(matches!(commit, Commit::Superseded(_)), "{commit:?}");
    assert_eq!(seen(&*store, 1).await, (SUPERSEDED, OLD, None));
    let view = store.report(key_of(1)).await.unwrap().unwrap();
    assert!(view.result.is_some());

    let lease = grant(&*store, 2).await.lease;
    accept(&*store, 3).await;
    let mut refusal = rejection();
    refusal.next = AfterRejection::Review(ReviewReason::Refused.into());
    let rejected = store.reject(lease, refusal).await.unwrap();
    assert_eq!(rejected, Rejected::Superseded);

    let lease = grant(&*store, 3).await.lease;
    accept(&*store, 4).await;
    let mut invalid = rejection();
    invalid.next = AfterRejection::Again(Duration::ZERO);
    let rejected = store.reject(lease, invalid).await.unwrap();
    assert_eq!(rejected, Rejected::Superseded);
    assert_eq!(db.rows("review").await, 0);
    assert_eq!(grant(&*store, 4).await.lease.report(), key_of(4));
    idle(&*store, 5).await;
}

pub(crate) async fn a_final_answer_of_an_older_version_is_kept(db: &impl Database) {
    let store = db.store();
    accept(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    accept(&*store, 2).await;
    let commit = store.commit(lease, value()).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
    let committed = State::Terminal(Outcome::Committed);
    assert_eq!(seen(&*store, 1).await, (committed, OLD, None));
}

pub(crate) async fn a_lost_lease_of_an_older_version_is_not_granted_again(db: &impl Database) {
    let store = db.store();
    accept(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    accept(&*store, 2).await;
    db.age_leases().await;
    let claim = store.claim(request(2, terms())).await.unwrap();
    assert!(
        matches!(claim, Claim::Superseded(key) if key == key_of(1)),
        "{claim:?}"
    );
    assert_eq!(seen(&*store, 1).await, (SUPERSEDED, OLD, None));
    let late = store.commit(lease, value()).await.unwrap();
    assert!(matches!(late, Commit::Lost(_)), "{late:?}");
    assert_eq!(store.attempts(key_of(1)).await.unwrap().len(), 1);
}

pub(crate) async fn without_an_order_nothing_is_called_current(db: &impl Database) {
    let store = db.store();
    for revision in [1, 2] {
        let unordered = NewReport {
            order: None,
            ..version(revision)
        };
        store.ingest(unordered).await.unwrap();
    }
    for revision in [1, 2] {
        assert_eq!(seen(&*store, revision).await, (State::Accepted, None, None));
    }
}

pub(crate) async fn versions_that_come_at_once_have_one_current(db: &impl Database) {
    let stores = [db.store(), db.another_store().await];
    let all: Vec<_> = (1..=40_u64)
        .map(|n| {
            let store = stores[usize::try_from(n % 2).unwrap()].clone();
            // Every one of 1 ..= 40, in no order.
            tokio::spawn(async move { store.ingest(version(n * 17 % 41)).await.unwrap() })
        })
        .collect();
    for ingested in all {
        let ingested = ingested.await.unwrap();
        assert!(
            matches!(ingested, Ingested::Accepted { .. }),
            "{ingested:?}"
        );
    }
    let current = "SELECT count(*) FROM report WHERE is_current = 1";
    assert_eq!(db.number(current).await, 1);
    assert_eq!(
        seen(&*stores[0], 40).await,
        (State::Accepted, CURRENT, None)
    );
    let unfinished = "SELECT count(*) FROM job WHERE state <> 'terminal'";
    assert_eq!(db.number(unfinished).await, 1);
}
