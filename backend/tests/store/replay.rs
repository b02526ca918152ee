//! A report that is judged again under another version.

use fencepost::{
    report::{FencingToken, Outcome, ReviewReason, State},
    store::{
        AfterRejection, Claim, Commit, Decided, DecisionKind, Grant, Held, Lost, NewReport,
        PipelineTerms, Rejected, Replayed, ReviewStatus, Store,
    },
};

use super::{
    decide::{FINALS, committed_for_review, decide, state},
    fixture::{
        Database, VALUE, answer, grant, grant_on, idle, ingest, key, rejection, report, request,
        terms, value, value_for_review,
    },
};

const COMMITTED: State = State::Terminal(Outcome::Committed);
const NEWER: &str = r#"{"category":"abuse","confidence":0.9,"needsHumanReview":false}"#;

fn newer_terms() -> PipelineTerms {
    PipelineTerms {
        classifier_version: "moderation-8".to_owned(),
        ..terms()
    }
}

async fn replay(store: &dyn Store) -> Replayed {
    let version = "moderation-8".to_owned();
    let who = "kim".to_owned();
    store.replay(key(1), version, who).await.unwrap()
}

async fn grant_newer(store: &dyn Store, worker: u8) -> Grant {
    grant_on(store, worker, newer_terms()).await
}

async fn review(store: &dyn Store) -> Option<(u64, ReviewStatus)> {
    let view = store.report(key(1)).await.unwrap().unwrap();
    view.review.map(|review| (review.revision, review.status))
}

/// The report's result is committed under the older version.
async fn committed(store: &dyn Store) {
    ingest(store, 1).await;
    let lease = grant(store, 1).await.lease;
    let commit = store.commit(lease, value()).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
}

pub(crate) async fn a_hundred_replays_make_one_job(db: &impl Database) {
    let store = db.store();
    committed(&*store).await;
    let stores = [db.store(), db.another_store().await];
    let all: Vec<_> = (0..100)
        .map(|n| {
            let store = stores[n % 2].clone();
            tokio::spawn(async move { replay(&*store).await })
        })
        .collect();
    let mut made = 0;
    for replayed in all {
        match replayed.await.unwrap() {
            Replayed::Made => made += 1,
            Replayed::Already {
                state: State::Accepted,
            } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((made, db.rows("job").await), (1, 2));
    let audited = "SELECT count(*) FROM audit WHERE action = 'report.replay' AND actor = 'kim'";
    assert_eq!(db.number(audited).await, 1);
}

pub(crate) async fn a_replay_waits_for_its_grant_and_then_replaces_the_result(db: &impl Database) {
    let store = db.store();
    committed(&*store).await;
    assert_eq!(replay(&*store).await, Replayed::Made);
    assert_eq!(state(&*store).await, COMMITTED);
    // It is no work for who has the older version.
    idle(&*store, 2).await;
    let lease = grant_newer(&*store, 3).await.lease;
    assert_eq!(lease.token().get(), 2);
    assert_eq!(state(&*store).await, COMMITTED);
    let mut newer = value();
    newer.value = NEWER.to_owned();
    let commit = store.commit(lease, newer).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.summary.state, COMMITTED);
    assert_eq!(view.classifier_version.as_deref(), Some("moderation-8"));
    assert_eq!(view.result.unwrap().value, NEWER);
    assert_eq!((db.rows("result").await, db.number(FINALS).await), (1, 1));
    assert_eq!(
        replay(&*store).await,
        Replayed::Already { state: COMMITTED }
    );
}

pub(crate) async fn a_replay_that_overtakes_a_running_job_is_never_replaced_by_it(
    db: &impl Database,
) {
    let store = db.store();
    ingest(&*store, 1).await;
    let older = grant(&*store, 1).await.lease;
    assert_eq!(replay(&*store).await, Replayed::Made);
    let held = store.heartbeat(&older).await.unwrap();
    assert!(matches!(held, Held::Yes { .. }), "{held:?}");
    let newer = grant_newer(&*store, 2).await.lease;
    assert_eq!(state(&*store).await, State::Running);
    let by = FencingToken::from_stored(2).unwrap();
    let lost = Lost::Superseded { by };
    assert_eq!(store.heartbeat(&older).await.unwrap(), Held::Lost(lost));
    let raw = store.store_raw(&older, answer()).await.unwrap();
    assert_eq!(raw, Held::Lost(lost));
    let mut answer = value();
    answer.value = NEWER.to_owned();
    let commit = store.commit(newer, answer).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
    let late = store.commit(older, value()).await.unwrap();
    assert_eq!(late, Commit::Lost(lost));
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.result.unwrap().value, NEWER);
    assert_eq!(db.number(FINALS).await, 1);
    idle(&*store, 3).await;
}

pub(crate) async fn an_older_job_that_is_taken_over_leaves_the_replay_waiting(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    drop(grant(&*store, 1).await);
    assert_eq!(replay(&*store).await, Replayed::Made);
    db.age_leases().await;
    let older = grant(&*store, 2).await.lease;
    let commit = store.commit(older, value()).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
    let newer = grant_newer(&*store, 3).await.lease;
    let mut answer = value();
    answer.value = NEWER.to_owned();
    store.commit(newer, answer).await.unwrap();
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.result.unwrap().value, NEWER);
}

/// Has a lease end in review.
async fn refuse(store: &dyn Store, grant: Grant) -> Rejected {
    let mut refusal = rejection();
    refusal.next = AfterRejection::Review(ReviewReason::Refused.into());
    store.reject(grant.lease, refusal).await.unwrap()
}

pub(crate) async fn a_replay_that_fails_asks_a_person_and_keeps_the_result(db: &impl Database) {
    let store = db.store();
    committed(&*store).await;
    replay(&*store).await;
    // Its budget is its own.
    for worker in 1..=3 {
        drop(grant_newer(&*store, worker).await);
        db.age_leases().await;
    }
    let claim = store.claim(request(4, newer_terms())).await.unwrap();
    assert!(matches!(claim, Claim::Exhausted(_)), "{claim:?}");
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.summary.state, State::ReadyForReview);
    assert_eq!(view.result.unwrap().value, VALUE);
    assert_eq!(review(&*store).await, Some((1, ReviewStatus::Open)));
    let decided = decide(&*store, 1, DecisionKind::Accept).await;
    let state = State::Terminal(Outcome::Decided);
    assert_eq!(decided, Decided::Decided { state });
    // It was told before.
    assert_eq!(db.number(FINALS).await, 1);
}

pub(crate) async fn a_replay_that_needs_a_person_raises_the_revision(db: &impl Database) {
    let store = db.store();
    committed_for_review(&*store).await;
    replay(&*store).await;
    let lease = grant_newer(&*store, 2).await.lease;
    // The older answer is asked about until there is another.
    assert_eq!(state(&*store).await, State::ReadyForReview);
    assert_eq!(review(&*store).await, Some((1, ReviewStatus::Open)));
    store.commit(lease, value_for_review()).await.unwrap();
    assert_eq!(state(&*store).await, State::ReadyForReview);
    assert_eq!(review(&*store).await, Some((2, ReviewStatus::Open)));
    let stale = decide(&*store, 1, DecisionKind::Accept).await;
    assert_eq!(stale, Decided::Stale { revision: 2 });
    let superseded = "SELECT count(*) FROM job WHERE outcome = 'superseded'";
    assert_eq!(
        (db.number(superseded).await, db.rows("review").await),
        (1, 1)
    );
}

pub(crate) async fn a_replay_that_is_final_closes_the_review(db: &impl Database) {
    let store = db.store();
    committed_for_review(&*store).await;
    replay(&*store).await;
    let lease = grant_newer(&*store, 2).await.lease;
    let commit = store.commit(lease, value()).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
    assert_eq!(state(&*store).await, COMMITTED);
    assert_eq!(review(&*store).await, Some((1, ReviewStatus::Closed)));
    let superseded = "SELECT count(*) FROM job WHERE outcome = 'superseded'";
    assert_eq!(db.number(superseded).await, 1);
}

pub(crate) async fn a_failed_replay_of_a_decided_report_asks_nobody(db: &impl Database) {
    let store = db.store();
    committed_for_review(&*store).await;
    decide(&*store, 1, DecisionKind::Accept).await;
    replay(&*store).await;
    let grant = grant_newer(&*store, 2).await;
    assert_eq!(refuse(&*store, grant).await, Rejected::Superseded);
    let state = state(&*store).await;
    assert_eq!(state, State::Terminal(Outcome::Decided));
    assert_eq!(review(&*store).await, Some((1, ReviewStatus::Closed)));
}

pub(crate) async fn a_retry_while_a_replay_is_under_way_hands_over_to_it(db: &impl Database) {
    let store = db.store();
    committed_for_review(&*store).await;
    replay(&*store).await;
    let lease = grant_newer(&*store, 2).await.lease;
    let decided = decide(&*store, 1, DecisionKind::Retry).await;
    let running = State::Running;
    assert_eq!(decided, Decided::Decided { state: running });
    assert_eq!(state(&*store).await, running);
    idle(&*store, 3).await;
    let commit = store.commit(lease, value()).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
    assert_eq!(state(&*store).await, COMMITTED);
}

pub(crate) async fn what_can_not_be_replayed_is_told(db: &impl Database) {
    let store = db.store();
    assert_eq!(replay(&*store).await, Replayed::Unknown);
    let ordered = NewReport {
        order: Some("1".to_owned()),
        ..report(1)
    };
    store.ingest(ordered).await.unwrap();
    assert_eq!(replay(&*store).await, Replayed::Pending);
    db.execute("UPDATE report SET is_current = 0").await;
    assert_eq!(replay(&*store).await, Replayed::Superseded);
    store.erase(key(1), "kim".to_owned()).await.unwrap();
    let before = db.contents().await;
    assert_eq!(replay(&*store).await, Replayed::Erased);
    assert_eq!(db.contents().await, before);
    assert_eq!(db.rows("job").await, 1);
}
