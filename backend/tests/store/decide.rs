//! What reviewers decide.

use fencepost::{
    report::{Outcome, ReviewReason, State},
    store::{
        AfterRejection, Claim, Commit, Correction, Decided, Decision, DecisionKind, PipelineTerms,
        PipelineVersions, Rejected, Replayed, ReviewStatus, Store,
    },
};
use fencepost_identity::key::ResultKey;

use super::fixture::{
    Database, VALUE, grant, grant_on, idle, ingest, key, rejection, report, request, terms,
    terms_with_attempts, value_for_review,
};

pub(crate) const FINALS: &str = "SELECT count(*) FROM outbox WHERE kind = 'result.final'";
const CORRECTED: &str = r#"{"category":"other","confidence":1,"needsHumanReview":false}"#;
const DECIDED: State = State::Terminal(Outcome::Decided);

pub(crate) fn decision(revision: u64, kind: DecisionKind) -> Decision {
    Decision {
        revision_seen: revision,
        who: "kim".to_owned(),
        why: "I looked at it".to_owned(),
        kind,
    }
}

pub(crate) fn correction(schema_version: &str) -> DecisionKind {
    DecisionKind::Correct(Correction {
        value: CORRECTED.to_owned(),
        findings: None,
        schema_version: schema_version.to_owned(),
        schema_digest: [9; 32],
    })
}

pub(crate) async fn decide(store: &dyn Store, revision: u64, kind: DecisionKind) -> Decided {
    store
        .decide(key(1), decision(revision, kind))
        .await
        .unwrap()
}

/// A report whose result waits for a person.
pub(crate) async fn committed_for_review(store: &dyn Store) {
    ingest(store, 1).await;
    let lease = grant(store, 1).await.lease;
    let commit = store.commit(lease, value_for_review()).await.unwrap();
    assert!(matches!(commit, Commit::InReview(_)), "{commit:?}");
}

/// A report that waits for a person and has no result.
async fn rejected_for_review(store: &dyn Store) {
    ingest(store, 1).await;
    let lease = grant(store, 1).await.lease;
    let mut refusal = rejection();
    refusal.next = AfterRejection::Review(ReviewReason::Refused.into());
    let rejected = store.reject(lease, refusal).await.unwrap();
    assert_eq!(rejected, Rejected::SentToReview(ReviewReason::Refused));
}

pub(crate) async fn state(store: &dyn Store) -> State {
    store.report(key(1)).await.unwrap().unwrap().summary.state
}

pub(crate) async fn accepting_makes_the_result_final_once(db: &impl Database) {
    let store = db.store();
    committed_for_review(&*store).await;
    assert_eq!(db.number(FINALS).await, 0);
    let decided = decide(&*store, 1, DecisionKind::Accept).await;
    assert_eq!(decided, Decided::Decided { state: DECIDED });
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.summary.state, DECIDED);
    let review = view.review.unwrap();
    assert_eq!(review.status, ReviewStatus::Closed);
    assert!(review.closed.is_some());
    assert_eq!(view.result.unwrap().value, VALUE);
    assert_eq!(db.number(FINALS).await, 1);
    let recorded = "SELECT count(*) FROM decision WHERE number = 1 AND revision_seen = 1
                    AND who = 'kim' AND why = 'I looked at it' AND kind = 'accept'
                    AND value IS NULL";
    assert_eq!(db.number(recorded).await, 1);
    let audited = "SELECT count(*) FROM audit WHERE action = 'report.decide' AND actor = 'kim'";
    assert_eq!(db.number(audited).await, 1);
    idle(&*store, 2).await;
}

pub(crate) async fn nothing_can_be_accepted_where_there_is_none(db: &impl Database) {
    let store = db.store();
    rejected_for_review(&*store).await;
    let before = db.contents().await;
    let decided = decide(&*store, 1, DecisionKind::Accept).await;
    assert_eq!(decided, Decided::NothingToAccept);
    assert_eq!(db.contents().await, before);
}

pub(crate) async fn a_correction_is_the_result_even_where_there_was_none(db: &impl Database) {
    let store = db.store();
    rejected_for_review(&*store).await;
    let decided = decide(&*store, 1, correction("moderation-v3")).await;
    assert_eq!(decided, Decided::Decided { state: DECIDED });
    let result = store.report(key(1)).await.unwrap().unwrap().result.unwrap();
    assert_eq!(result.key, ResultKey::of(&key(1), "moderation-v3"));
    assert_eq!((result.value.as_str(), result.attempt), (CORRECTED, None));
    assert_eq!(db.number(FINALS).await, 1);
    let recorded = "SELECT count(*) FROM decision WHERE kind = 'correct' AND value IS NOT NULL";
    assert_eq!(db.number(recorded).await, 1);
}

/// What a list is recognized by depends on what its schema version stands for.
pub(crate) async fn a_correction_for_another_schema_of_that_name_writes_nothing(
    db: &impl Database,
) {
    let store = db.store();
    rejected_for_review(&*store).await;
    let DecisionKind::Correct(fits) = correction("moderation-v3") else {
        unreachable!("a correction is one")
    };
    let bound = PipelineVersions {
        pipeline: "moderation".to_owned(),
        classifier_version: "moderation-7".to_owned(),
        classifier_digest: [7; 32],
        schema_version: "moderation-v3".to_owned(),
        schema_digest: fits.schema_digest,
    };
    store.bind_versions(bound).await.unwrap();
    let before = db.contents().await;
    let other = Correction {
        schema_digest: [1; 32],
        ..fits.clone()
    };
    let decided = decide(&*store, 1, DecisionKind::Correct(other)).await;
    assert_eq!(decided, Decided::OtherSchema);
    assert_eq!(db.contents().await, before);
    let decided = decide(&*store, 1, DecisionKind::Correct(fits)).await;
    assert_eq!(decided, Decided::Decided { state: DECIDED });
}

pub(crate) async fn a_correction_under_a_newer_schema_retires_the_older(db: &impl Database) {
    let store = db.store();
    committed_for_review(&*store).await;
    decide(&*store, 1, correction("moderation-v4")).await;
    let result = store.report(key(1)).await.unwrap().unwrap().result.unwrap();
    assert_eq!(result.schema_version, "moderation-v4");
    assert_eq!(result.value, CORRECTED);
    let history = "SELECT count(*) FROM result WHERE status = 'history'";
    assert_eq!(db.number(history).await, 1);
    assert_eq!((db.rows("result").await, db.number(FINALS).await), (2, 1));
}

pub(crate) async fn a_dismissal_ends_without_an_announcement(db: &impl Database) {
    let store = db.store();
    committed_for_review(&*store).await;
    let dismissed = State::Terminal(Outcome::Dismissed);
    let decided = decide(&*store, 1, DecisionKind::Dismiss).await;
    assert_eq!(decided, Decided::Decided { state: dismissed });
    assert_eq!(state(&*store).await, dismissed);
    assert_eq!(db.number(FINALS).await, 0);
    idle(&*store, 2).await;
}

pub(crate) async fn a_retry_has_another_budget(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    for round in 1..=2_u64 {
        for attempt in 1..=2 {
            let terms = terms_with_attempts(2);
            let lease = grant_on(&*store, attempt, terms).await.lease;
            let rejected = store.reject(lease, rejection()).await.unwrap();
            let last = rejected == Rejected::SentToReview(ReviewReason::AttemptsSpent);
            assert_eq!(last, attempt == 2, "{rejected:?}");
        }
        idle(&*store, 3).await;
        let decided = decide(&*store, round, DecisionKind::Retry).await;
        let state = State::Accepted;
        assert_eq!(decided, Decided::Decided { state });
    }
    // What a worker loses counts, too: the budget ends in the claim then.
    for worker in 5..=6 {
        drop(grant_on(&*store, worker, terms_with_attempts(2)).await);
        db.age_leases().await;
    }
    let claim = store
        .claim(request(7, terms_with_attempts(2)))
        .await
        .unwrap();
    assert!(matches!(claim, Claim::Exhausted(_)), "{claim:?}");
    assert_eq!(db.number("SELECT rounds FROM job").await, 3);
    assert_eq!(db.number("SELECT revision FROM review").await, 3);
    assert_eq!(db.number("SELECT max(number) FROM decision").await, 2);
    assert_eq!(store.attempts(key(1)).await.unwrap().len(), 6);
}

pub(crate) async fn a_stale_decision_writes_nothing(db: &impl Database) {
    let store = db.store();
    committed_for_review(&*store).await;
    decide(&*store, 1, DecisionKind::Retry).await;
    let lease = grant(&*store, 2).await.lease;
    store.commit(lease, value_for_review()).await.unwrap();
    let before = db.contents().await;
    for kind in [
        DecisionKind::Accept,
        correction("moderation-v3"),
        DecisionKind::Dismiss,
        DecisionKind::Retry,
    ] {
        let decided = decide(&*store, 1, kind).await;
        assert_eq!(decided, Decided::Stale { revision: 2 });
    }
    assert_eq!(db.contents().await, before);
    let decided = decide(&*store, 2, DecisionKind::Accept).await;
    assert_eq!(decided, Decided::Decided { state: DECIDED });
}

pub(crate) async fn nobody_decides_twice(db: &impl Database) {
    let store = db.store();
    let unknown = decide(&*store, 1, DecisionKind::Accept).await;
    assert_eq!(unknown, Decided::Unknown);
    ingest(&*store, 1).await;
    let early = decide(&*store, 1, DecisionKind::Accept).await;
    let state = State::Accepted;
    assert_eq!(early, Decided::NotInReview { state });
    let lease = grant(&*store, 1).await.lease;
    store.commit(lease, value_for_review()).await.unwrap();
    let stores = [db.store(), db.another_store().await];
    let all: Vec<_> = (0..20)
        .map(|n| {
            let store = stores[n % 2].clone();
            tokio::spawn(async move { decide(&*store, 1, DecisionKind::Accept).await })
        })
        .collect();
    let mut counted = 0;
    for decided in all {
        match decided.await.unwrap() {
            Decided::Decided { state: DECIDED } => counted += 1,
            Decided::NotInReview { state: DECIDED } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(counted, 1);
    assert_eq!((db.rows("decision").await, db.number(FINALS).await), (1, 1));
}

pub(crate) async fn what_a_machine_finds_after_a_decision_is_a_candidate(db: &impl Database) {
    let store = db.store();
    committed_for_review(&*store).await;
    decide(&*store, 1, correction("moderation-v3")).await;
    let versions = [
        ("moderation-8", "moderation-v3"),
        ("moderation-9", "moderation-v4"),
    ];
    for (classifier, schema) in versions {
        let who = "kim".to_owned();
        let replayed = store.replay(key(1), classifier.to_owned(), who).await;
        assert_eq!(replayed.unwrap(), Replayed::Made);
        let newer = PipelineTerms {
            classifier_version: classifier.to_owned(),
            schema_version: schema.to_owned(),
            ..terms()
        };
        let lease = grant_on(&*store, 2, newer).await.lease;
        // It would ask for a person, who has answered already.
        let commit = store.commit(lease, value_for_review()).await.unwrap();
        assert_eq!(commit, Commit::Candidate(ResultKey::of(&key(1), schema)));
    }
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.summary.state, DECIDED);
    assert_eq!(view.review.unwrap().status, ReviewStatus::Closed);
    let result = view.result.unwrap();
    assert_eq!(result.schema_version, "moderation-v3");
    assert_eq!(result.value, CORRECTED);
    assert_eq!(result.candidate.as_deref(), Some(VALUE));
    let aside = "SELECT count(*) FROM result WHERE status = 'candidate' AND value IS NOT NULL";
    assert_eq!(db.number(aside).await, 1);
    let ended = "SELECT count(*) FROM job WHERE outcome = 'committed'";
    assert_eq!((db.number(ended).await, db.number(FINALS).await), (2, 1));
}

pub(crate) async fn open_reviews_are_paged_longest_waiting_first(db: &impl Database) {
    let store = db.store();
    for n in 1..=5_u32 {
        store.ingest(report(n)).await.unwrap();
        let lease = grant(&*store, 1).await.lease;
        let of = lease.report();
        store.commit(lease, value_for_review()).await.unwrap();
        // The later ones wait longer.
        let at = 100 - i64::from(n / 2);
        db.execute(&format!(
            "UPDATE review SET opened_ms = {at} WHERE report_key = {}",
            db.bytes(of)
        ))
        .await;
    }
    store
        .decide(key(4), decision(1, DecisionKind::Dismiss))
        .await
        .unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.reviews(after, 2).await.unwrap();
        assert!(page.reviews.len() <= 2 && page.unreadable.is_empty());
        for open in page.reviews {
            assert_eq!(open.summary.state, State::ReadyForReview);
            assert_eq!(open.review.status, ReviewStatus::Open);
            seen.push((open.review.opened.get(), open.summary.key));
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let mut expected = vec![(98, key(5)), (99, key(2)), (99, key(3)), (100, key(1))];
    expected.sort_by_key(|(at, key)| (*at, *key.as_bytes()));
    assert_eq!(seen, expected);
}
