//! The claim fence.

use std::time::Duration;

use fencepost::{
    report::{AttemptOutcome, ReviewReason, State},
    store::{
        AfterRejection, Claim, ClaimRequest, Commit, Held, Lost, PipelineTerms, Rejected,
        ReviewStatus,
    },
};

use super::fixture::{
    Database, LEASE, grant, grant_on, identity, idle, ingest, key, rejection, report, request,
    terms, terms_with_attempts, value,
};

pub(crate) async fn twenty_workers_get_one_lease(db: &impl Database) {
    let stores = [db.store(), db.another_store().await];
    ingest(&*stores[0], 1).await;
    let claims: Vec<_> = (0..20_u8)
        .map(|n| {
            let store = stores[usize::from(n % 2)].clone();
            tokio::spawn(async move { store.claim(request(n, terms())).await.unwrap() })
        })
        .collect();
    let mut granted = 0;
    for claim in claims {
        match claim.await.unwrap() {
            Claim::Granted(grant) => {
                granted += 1;
                assert_eq!(grant.lease.report(), key(1));
                assert_eq!(grant.identity, identity(1));
                assert_eq!(grant.input, report(1).input.unwrap().canonical);
            }
            Claim::Idle { wait } => {
                // Whoever meets the grant in the midst of being made is told no time.
                assert!(
                    wait.is_none_or(|wait| wait <= LEASE && wait > LEASE / 2),
                    "{wait:?}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(granted, 1);
    let attempts = stores[0].attempts(key(1)).await.unwrap();
    assert_eq!(attempts.len(), 1);
    assert!(attempts[0].charged);
    assert_eq!(attempts[0].outcome, None);
}

pub(crate) async fn a_live_lease_is_not_granted_again(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let grant = grant(&*store, 1).await;
    assert_eq!(
        (grant.lease.token().get(), grant.lease.attempt().get()),
        (1, 1)
    );
    let before = db.contents().await;
    idle(&*store, 1).await;
    idle(&*store, 2).await;
    assert_eq!(db.contents().await, before);
}

pub(crate) async fn nothing_due_says_how_long_to_wait(db: &impl Database) {
    let store = db.store();
    let claim = store.claim(request(1, terms())).await.unwrap();
    assert!(matches!(claim, Claim::Idle { wait: None }), "{claim:?}");
    let nobody = ClaimRequest {
        pipelines: Vec::new(),
        ..request(1, terms())
    };
    let claim = store.claim(nobody).await.unwrap();
    assert!(matches!(claim, Claim::Idle { wait: None }), "{claim:?}");

    ingest(&*store, 1).await;
    let hour = Duration::from_secs(60 * 60);
    let rejection = {
        let mut rejection = rejection();
        rejection.next = AfterRejection::Again(hour);
        rejection
    };
    let rejected = store
        .reject(grant(&*store, 1).await.lease, rejection)
        .await
        .unwrap();
    assert!(matches!(rejected, Rejected::Again { .. }), "{rejected:?}");
    let claim = store.claim(request(1, terms())).await.unwrap();
    let Claim::Idle { wait: Some(wait) } = claim else {
        panic!("{claim:?}")
    };
    assert!(wait <= hour && wait > hour / 2, "{wait:?}");
}

pub(crate) async fn the_job_that_is_due_longest_comes_first(db: &impl Database) {
    let store = db.store();
    for n in 1..=4 {
        ingest(&*store, n).await;
    }
    let mut elsewhere = report(5);
    elsewhere.pipeline = "other".to_owned();
    store.ingest(elsewhere).await.unwrap();
    for (n, due) in [(1, 40), (2, 20), (3, 30), (4, 50), (5, 25)] {
        let of_report = format!("report_key = {}", db.bytes(key(n)));
        db.execute(&format!("UPDATE job SET due_ms = {due} WHERE {of_report}"))
            .await;
    }
    let other = PipelineTerms {
        pipeline: "other".to_owned(),
        ..terms()
    };
    let both = |nonce| ClaimRequest {
        pipelines: vec![terms(), other.clone()],
        ..request(nonce, terms())
    };
    let mut order = Vec::new();
    for nonce in 0..5 {
        match store.claim(both(nonce)).await.unwrap() {
            Claim::Granted(grant) => order.push(grant.lease.report()),
            claim => panic!("{claim:?}"),
        }
    }
    assert_eq!(order, [2, 5, 3, 1, 4].map(key));
    // A lease that ran out takes its place among what is due.
    ingest(&*store, 6).await;
    db.age_leases().await;
    let mut taken = grant(&*store, 9).await.lease.report();
    assert_ne!(taken, key(6));
    for nonce in 10..14 {
        taken = match store.claim(both(nonce)).await.unwrap() {
            Claim::Granted(grant) => grant.lease.report(),
            claim => panic!("{claim:?}"),
        };
        assert_ne!(taken, key(6));
    }
    assert_eq!(grant(&*store, 20).await.lease.report(), key(6));
}

pub(crate) async fn a_job_keeps_the_version_of_its_first_grant(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let first = grant(&*store, 1).await;
    assert_eq!(first.lease.classifier_version(), "moderation-7");
    db.age_leases().await;
    let newer = PipelineTerms {
        classifier_version: "moderation-8".to_owned(),
        ..terms()
    };
    let claim = store.claim(request(2, newer.clone())).await.unwrap();
    assert!(matches!(claim, Claim::Idle { wait: None }), "{claim:?}");
    ingest(&*store, 2).await;
    assert_eq!(grant_on(&*store, 2, newer).await.lease.report(), key(2));
    assert_eq!(grant(&*store, 3).await.lease.report(), key(1));
    let unfinished = store.stats().await.unwrap().unfinished;
    let unfinished: Vec<_> = unfinished
        .iter()
        .map(|version| (version.classifier_version.as_deref(), version.count))
        .collect();
    assert_eq!(
        unfinished,
        [(Some("moderation-7"), 1), (Some("moderation-8"), 1)]
    );
}

pub(crate) async fn spent_attempts_go_to_review_without_a_grant(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    grant_on(&*store, 1, terms_with_attempts(2)).await;
    db.age_leases().await;
    let second = grant_on(&*store, 2, terms_with_attempts(2)).await;
    db.age_leases().await;
    let claim = store
        .claim(request(3, terms_with_attempts(2)))
        .await
        .unwrap();
    assert!(
        matches!(claim, Claim::Exhausted(report) if report == key(1)),
        "{claim:?}"
    );

    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.summary.state, State::ReadyForReview);
    assert_eq!(
        (
            view.token.get(),
            view.summary.attempts,
            view.summary.charged
        ),
        (3, 2, 2)
    );
    let review = view.review.unwrap();
    assert_eq!((review.revision, review.status), (1, ReviewStatus::Open));
    assert_eq!(review.reason, ReviewReason::AttemptsSpent);
    let attempts = store.attempts(key(1)).await.unwrap();
    for attempt in &attempts {
        assert_eq!(attempt.outcome, Some(AttemptOutcome::LeaseLost));
        assert!(attempt.ended.is_some());
    }
    // Whoever held it last finds out, and nothing is left to do.
    let held = store.heartbeat(&second.lease).await.unwrap();
    assert_eq!(held, Held::Lost(Lost::Superseded { by: view.token }));
    let commit = store.commit(second.lease, value()).await.unwrap();
    assert_eq!(commit, Commit::Lost(Lost::Superseded { by: view.token }));
    idle(&*store, 4).await;
    assert_eq!((db.rows("review").await, db.rows("result").await), (1, 0));
}

pub(crate) async fn a_job_whose_time_is_over_goes_to_review(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let held = grant(&*store, 1).await;
    ingest(&*store, 2).await;
    db.execute("UPDATE job SET elapsed_from_ms = 1").await;
    // A live lease is left alone, however long the job takes.
    for (n, age) in [(2, false), (1, true)] {
        if age {
            idle(&*store, 2).await;
            db.age_leases().await;
        }
        let claim = store.claim(request(2, terms())).await.unwrap();
        assert!(
            matches!(claim, Claim::Elapsed(report) if report == key(n)),
            "{claim:?}"
        );
        let view = store.report(key(n)).await.unwrap().unwrap();
        assert_eq!(view.summary.state, State::ReadyForReview);
        assert_eq!(view.review.unwrap().reason, ReviewReason::Elapsed);
    }
    let commit = store.commit(held.lease, value()).await.unwrap();
    assert!(
        matches!(commit, Commit::Lost(Lost::Superseded { .. })),
        "{commit:?}"
    );
    let outcome = store.attempts(key(1)).await.unwrap()[0].outcome;
    assert_eq!(outcome, Some(AttemptOutcome::LeaseLost));
}

pub(crate) async fn granting_another_job_supersedes_the_live_one(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let first = grant(&*store, 1).await;
    db.execute(
        "INSERT INTO job (report_key, pipeline, tenant, kind, classifier_version, state, due_ms,
                          elapsed_from_ms, created_ms, updated_ms)
         SELECT report_key, pipeline, tenant, kind, 'moderation-8', 'accepted', 1, created_ms,
                created_ms, created_ms FROM job",
    )
    .await;
    let newer = PipelineTerms {
        classifier_version: "moderation-8".to_owned(),
        ..terms()
    };
    let second = grant_on(&*store, 2, newer).await;
    assert_eq!(second.lease.token().get(), 2);
    let superseded = Lost::Superseded {
        by: second.lease.token(),
    };
    assert_eq!(
        store.heartbeat(&first.lease).await.unwrap(),
        Held::Lost(superseded)
    );
    assert_eq!(
        store.commit(first.lease, value()).await.unwrap(),
        Commit::Lost(superseded)
    );
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.summary.state, State::Running);
    assert_eq!(view.classifier_version.as_deref(), Some("moderation-8"));
    let superseded = "SELECT count(*) FROM job WHERE outcome = 'superseded'";
    assert_eq!(db.number(superseded).await, 1);
    let commit = store.commit(second.lease, value()).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
    assert_eq!(db.rows("result").await, 1);
}

pub(crate) async fn numbers_beyond_two_to_the_31_and_53_keep_every_digit(db: &impl Database) {
    let store = db.store();
    for (n, before) in [
        (1, 2_147_483_647_u64),
        (2, 9_007_199_254_740_992),
        (3, (1 << 63) - 3),
    ] {
        ingest(&*store, n).await;
        db.execute(&format!(
            "UPDATE report SET fence = {before}, next_sequence = {before} WHERE fence = 0"
        ))
        .await;
        let old = grant(&*store, 1).await;
        assert_eq!(old.lease.token().get(), before + 1);
        db.age_leases().await;
        let new = grant(&*store, 2).await;
        assert_eq!(new.lease.token().get(), before + 2);
        assert_eq!(new.lease.token().to_string(), (before + 2).to_string());
        let superseded = Lost::Superseded {
            by: new.lease.token(),
        };
        assert_eq!(
            store.commit(old.lease, value()).await.unwrap(),
            Commit::Lost(superseded)
        );
        let commit = store.commit(new.lease, value()).await.unwrap();
        assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
        let tokens: Vec<_> = store
            .attempts(key(n))
            .await
            .unwrap()
            .iter()
            .map(|a| a.token.get())
            .collect();
        assert_eq!(tokens, [before + 1, before + 2]);
        let of_event = format!(
            "SELECT sequence FROM outbox WHERE kind = 'result.final' AND report_key = {}",
            db.bytes(key(n))
        );
        let sequence = db.number(&of_event).await;
        assert_eq!(u64::try_from(sequence).unwrap(), before);
    }
}
