//! The commit fence.

use fencepost::{
    report::{AttemptOutcome, Outcome, ReviewReason, State},
    store::{Claim, Commit, Lost, PipelineTerms, ReviewStatus, StoreError},
};
use fencepost_identity::key::ResultKey;

use super::fixture::{
    Database, VALUE, grant, grant_on, ingest, key, poll_and_drop, request, terms, value,
    value_for_review,
};

const FINALS: &str = "SELECT count(*) FROM outbox WHERE kind = 'result.final'";
const REVIEWS_ANNOUNCED: &str = "SELECT count(*) FROM outbox WHERE kind = 'review.opened'";

/// What a reviewer's wish for another attempt does to the job.
async fn ask_again(db: &impl Database) {
    db.execute("UPDATE job SET state = 'accepted', outcome = NULL, due_ms = 1")
        .await;
}

pub(crate) async fn a_commit_writes_everything(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let result = ResultKey::of(&key(1), "moderation-v3");
    let lease = grant(&*store, 1).await.lease;
    let commit = store.commit(lease, value()).await.unwrap();
    assert_eq!(commit, Commit::Final(result));

    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.summary.state, State::Terminal(Outcome::Committed));
    assert_eq!(view.review, None);
    let stored = view.result.unwrap();
    assert_eq!((stored.key, stored.value.as_str()), (result, VALUE));
    let attempts = store.attempts(key(1)).await.unwrap();
    assert_eq!(attempts[0].outcome, Some(AttemptOutcome::Committed));
    assert_eq!(attempts[0].call, value().call);
    assert!(attempts[0].ended.is_some());
    assert_eq!(db.number(FINALS).await, 1);
    // Events of a report are numbered without a gap.
    assert_eq!(db.number("SELECT max(sequence) FROM outbox").await, 2);
    assert_eq!(db.rows("outbox").await, 2);
}

pub(crate) async fn a_commit_that_needs_a_person_opens_a_review(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    let commit = store.commit(lease, value_for_review()).await.unwrap();
    assert!(matches!(commit, Commit::InReview(_)), "{commit:?}");
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.summary.state, State::ReadyForReview);
    assert_eq!(view.result.unwrap().value, VALUE);
    let review = view.review.unwrap();
    assert_eq!((review.revision, review.reason), (1, ReviewReason::Policy));
    assert_eq!(db.number(FINALS).await, 0);
    assert_eq!(db.number(REVIEWS_ANNOUNCED).await, 1);
}

pub(crate) async fn committing_again_leaves_the_same_rows(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let mut keys = Vec::new();
    for worker in 1..=3 {
        let lease = grant(&*store, worker).await.lease;
        match store.commit(lease, value()).await.unwrap() {
            Commit::Final(key) => keys.push(key),
            other => panic!("{other:?}"),
        }
        ask_again(db).await;
    }
    assert_eq!(keys, [keys[0]; 3]);
    assert_eq!((db.rows("result").await, db.rows("review").await), (1, 0));
    assert_eq!(db.number(FINALS).await, 1);
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(
        (view.result.unwrap().value.as_str(), view.summary.attempts),
        (VALUE, 3)
    );
}

pub(crate) async fn a_second_need_opens_the_review_again(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    store.commit(lease, value_for_review()).await.unwrap();
    ask_again(db).await;
    db.execute("UPDATE review SET status = 'closed', closed_ms = 5")
        .await;
    let lease = grant(&*store, 2).await.lease;
    store.commit(lease, value_for_review()).await.unwrap();
    let view = store.report(key(1)).await.unwrap().unwrap();
    let review = view.review.unwrap();
    assert_eq!((review.revision, review.status), (2, ReviewStatus::Open));
    assert_eq!(review.closed, None);
    assert_eq!((db.rows("review").await, db.rows("result").await), (1, 1));
    assert_eq!(
        (db.number(REVIEWS_ANNOUNCED).await, db.number(FINALS).await),
        (2, 0)
    );
}

pub(crate) async fn a_newer_schema_version_becomes_the_current_result(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    store.commit(lease, value()).await.unwrap();
    ask_again(db).await;
    let newer = PipelineTerms {
        schema_version: "moderation-v4".to_owned(),
        ..terms()
    };
    let lease = grant_on(&*store, 2, newer).await.lease;
    store.commit(lease, value()).await.unwrap();
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.result.unwrap().schema_version, "moderation-v4");
    let of = |status| format!("SELECT count(*) FROM result WHERE status = '{status}'");
    assert_eq!(db.number(&of("current")).await, 1);
    assert_eq!(db.number(&of("history")).await, 1);
    assert_eq!(db.number(FINALS).await, 2);
}

pub(crate) async fn a_failed_commit_leaves_nothing_half_written(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let mut lease = grant(&*store, 1).await.lease;
    store
        .store_raw(&lease, super::fixture::answer())
        .await
        .unwrap();
    let places = [
        ("UPDATE", "job"),
        ("INSERT", "result"),
        ("UPDATE", "report"),
        ("UPDATE", "attempt"),
        ("INSERT", "review"),
        ("INSERT", "outbox"),
    ];
    let before = db.contents().await;
    for (event, table) in places {
        db.break_table(event, table).await;
        let failed = store.commit(lease, value_for_review()).await.unwrap_err();
        assert!(
            matches!(failed.error, StoreError::Contradiction(_)),
            "{table}: {:?}",
            failed.error
        );
        db.mend().await;
        assert_eq!(db.contents().await, before, "{event} on {table}");
        lease = *failed.lease;
    }
    // The lease came back each time, and is as good as ever.
    let commit = store.commit(lease, value_for_review()).await.unwrap();
    assert!(matches!(commit, Commit::InReview(_)), "{commit:?}");
    let attempts = store.attempts(key(1)).await.unwrap();
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0].verdict, Some(AttemptOutcome::Committed));
}

pub(crate) async fn a_commit_whose_reply_was_lost_is_told_so(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    db.break_table("INSERT", "outbox").await;
    let failed = store.commit(lease, value()).await.unwrap_err();
    db.mend().await;
    // As though the disk had it after all.
    db.execute("UPDATE job SET state = 'terminal', outcome = 'committed', lease_until_ms = NULL")
        .await;
    let before = db.contents().await;
    let state = State::Terminal(Outcome::Committed);
    let again = store.commit(*failed.lease, value()).await.unwrap();
    assert_eq!(again, Commit::Lost(Lost::Settled { state }));
    assert_eq!(db.contents().await, before);
}

pub(crate) async fn a_caller_that_hangs_up_commits_all_or_nothing(db: &impl Database) {
    let store = db.store();
    for n in 0..24_u32 {
        ingest(&*store, n).await;
        let lease = grant(&*store, 1).await.lease;
        let polls = usize::try_from(n % 6).unwrap();
        poll_and_drop(store.commit(lease, value()), polls).await;
        let of_report = format!("report_key = {}", db.bytes(key(n)));
        // In one statement, since what was begun may be going on.
        let written = format!(
            "SELECT (SELECT count(*) FROM result WHERE {of_report})
             + 10 * (SELECT count(*) FROM job WHERE state = 'terminal' AND {of_report})
             + 100 * (SELECT count(*) FROM attempt WHERE outcome = 'committed' AND {of_report})
             + 1000 * (SELECT count(*) FROM outbox WHERE kind = 'result.final' AND {of_report})
             + 10000 * (SELECT count(*) FROM report
                        WHERE current_result IS NOT NULL AND {of_report})"
        );
        let written = db.number(&written).await;
        assert!(written == 0 || written == 11111, "{written}");
    }
    let committed = db.rows("result").await;
    assert!(committed > 0 && committed < 24, "{committed}");
    // What was not committed is taken over and finished.
    while db.rows("result").await < 24 {
        db.age_leases().await;
        let claim = store.claim(request(2, terms())).await.unwrap();
        if let Claim::Granted(grant) = claim {
            store.commit(grant.lease, value()).await.unwrap();
        }
    }
    assert_eq!((db.rows("result").await, db.number(FINALS).await), (24, 24));
}
