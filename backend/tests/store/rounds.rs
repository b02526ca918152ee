//! Attempts that fail: what is charged, what comes next, and where it ends.

use std::time::Duration;

use fencepost::{
    report::{AttemptOutcome, ReviewReason, State},
    store::{AfterRejection, Charge, Rejected, Released, ReviewStatus, Store},
};

use super::fixture::{
    Database, grant, grant_on, idle, ingest, key, rejection, release, terms_with_attempts,
};

async fn state(store: &dyn Store) -> State {
    store.report(key(1)).await.unwrap().unwrap().summary.state
}

pub(crate) async fn a_rejection_with_attempts_left_comes_back(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    let rejected = store.reject(lease, rejection()).await.unwrap();
    assert!(matches!(rejected, Rejected::Again { .. }), "{rejected:?}");
    assert_eq!(state(&*store).await, State::ValidationRejected);
    let attempts = store.attempts(key(1)).await.unwrap();
    assert_eq!(attempts[0].outcome, Some(AttemptOutcome::SchemaInvalid));
    assert_eq!(attempts[0].verdict, Some(AttemptOutcome::SchemaInvalid));
    assert_eq!(
        attempts[0].reason.as_deref(),
        Some("/confidence is missing")
    );
    assert_eq!(attempts[0].call, rejection().call);
    let again = grant(&*store, 2).await;
    assert_eq!(
        (again.lease.token().get(), again.lease.attempt().get()),
        (2, 2)
    );
    assert_eq!(state(&*store).await, State::Running);
}

pub(crate) async fn the_last_rejection_goes_to_review(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    for round in 1..=2 {
        let lease = grant_on(&*store, round, terms_with_attempts(2)).await.lease;
        let rejected = store.reject(lease, rejection()).await.unwrap();
        let last = rejected == Rejected::SentToReview(ReviewReason::AttemptsSpent);
        assert_eq!(last, round == 2, "{rejected:?}");
    }
    assert_eq!(state(&*store).await, State::ReadyForReview);
    let review = store.report(key(1)).await.unwrap().unwrap().review.unwrap();
    assert_eq!((review.revision, review.status), (1, ReviewStatus::Open));
    let opened = "SELECT count(*) FROM outbox WHERE kind = 'review.opened'";
    assert_eq!(db.number(opened).await, 1);
    idle(&*store, 3).await;
}

pub(crate) async fn a_rejection_may_ask_for_a_person_at_once(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    let mut refusal = rejection();
    refusal.outcome = AttemptOutcome::Refused;
    refusal.next = AfterRejection::Review(ReviewReason::Refused.into());
    let rejected = store.reject(lease, refusal).await.unwrap();
    assert_eq!(rejected, Rejected::SentToReview(ReviewReason::Refused));
    assert_eq!(state(&*store).await, State::ReadyForReview);
    idle(&*store, 2).await;
}

pub(crate) async fn what_is_given_back_is_bounded(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let mut rounds = Vec::new();
    for worker in 1..=4 {
        let lease = grant_on(&*store, worker, terms_with_attempts(2))
            .await
            .lease;
        let limited = release(AttemptOutcome::RateLimited, Charge::GiveBack);
        rounds.push(match store.release(lease, limited).await.unwrap() {
            Released::Rescheduled { charge, .. } => Some(charge),
            Released::SentToReview(ReviewReason::AttemptsSpent) => None,
            other => panic!("{other:?}"),
        });
    }
    let (back, kept) = (Some(Charge::GiveBack), Some(Charge::Keep));
    assert_eq!(rounds, [back, back, kept, None]);
    let attempts = store.attempts(key(1)).await.unwrap();
    let charged: Vec<_> = attempts.iter().map(|attempt| attempt.charged).collect();
    assert_eq!(charged, [false, false, true, true]);
    assert_eq!(state(&*store).await, State::ReadyForReview);
    idle(&*store, 5).await;
}

pub(crate) async fn a_kept_charge_spends_the_attempts(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant_on(&*store, 1, terms_with_attempts(2)).await.lease;
    let mut timeout = release(AttemptOutcome::Timeout, Charge::Keep);
    timeout.after = Duration::from_secs(60);
    let released = store.release(lease, timeout.clone()).await.unwrap();
    let Released::Rescheduled {
        due,
        charge: Charge::Keep,
    } = released
    else {
        panic!("{released:?}")
    };
    assert_eq!(db.number("SELECT due_ms FROM job").await, due.get());
    assert_eq!(state(&*store).await, State::Accepted);
    idle(&*store, 2).await;
    db.make_due().await;
    let lease = grant_on(&*store, 2, terms_with_attempts(2)).await.lease;
    let released = store.release(lease, timeout).await.unwrap();
    assert_eq!(
        released,
        Released::SentToReview(ReviewReason::AttemptsSpent)
    );
    assert_eq!(db.rows("review").await, 1);
}

pub(crate) async fn failures_in_a_row_are_counted(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let terms = terms_with_attempts(9);
    for expected in 0..3 {
        let grant = grant_on(&*store, 1, terms.clone()).await;
        assert_eq!((grant.failures, grant.last_verdict), (expected, None));
        let overloaded = release(AttemptOutcome::Overloaded, Charge::GiveBack);
        store.release(grant.lease, overloaded).await.unwrap();
    }
    // A graceful stop is no failure, and a verdict ends the row.
    let fourth = grant_on(&*store, 1, terms.clone()).await;
    assert_eq!(fourth.failures, 3);
    let stop = release(AttemptOutcome::Released, Charge::GiveBack);
    store.release(fourth.lease, stop).await.unwrap();
    let fifth = grant_on(&*store, 1, terms.clone()).await;
    assert_eq!(fifth.failures, 3);
    store.reject(fifth.lease, rejection()).await.unwrap();
    let sixth = grant_on(&*store, 1, terms).await;
    assert_eq!(sixth.failures, 0);
    assert_eq!(sixth.last_verdict, Some(AttemptOutcome::SchemaInvalid));
}
