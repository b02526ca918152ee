//! Who may work on a report, and what becomes of one who no longer may.

use std::sync::Arc;

use fencepost::{
    report::{AttemptOutcome, Outcome, ReviewReason, State},
    store::Lost,
    worker::{Step, bind},
};
use tokio::task::JoinSet;

use crate::{
    rig::{BEAT, Charged, GOOD, Rig, one_step},
    timer::within,
};

#[tokio::test]
async fn twenty_workers_on_one_report_make_one_call() {
    let mut rig = Rig::new().await;
    let key = rig.ingest("1").await;
    let mut steps = JoinSet::new();
    for _ in 0..20 {
        let worker = rig.worker().await;
        steps.spawn(async move { one_step(&worker).await.unwrap() });
    }
    let asked = rig.asked().await;
    let mut idle = 0;
    while idle < 19 {
        let step = within(steps.join_next()).await.unwrap().unwrap();
        assert!(matches!(step, Step::Idle { .. }), "{step:?}");
        idle += 1;
    }
    rig.no_call();
    asked.answer(GOOD);
    assert_eq!(
        within(steps.join_next()).await.unwrap().unwrap(),
        Step::Committed(key)
    );
    assert_eq!(rig.attempts(key).await.len(), 1);
}

#[tokio::test]
async fn a_heartbeat_keeps_a_long_call() {
    let mut rig = Rig::new().await;
    let (worker, other) = (rig.worker().await, rig.worker().await);
    let key = rig.ingest("1").await;
    let timer = rig.timer.clone();
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        timer.begun(BEAT).await;
        rig.leases_run_out().await;
        timer.end(BEAT).await;
        // The next wait begins when the heartbeat was answered.
        timer.begun(BEAT).await;
        let idle = one_step(&other).await.unwrap();
        assert!(matches!(idle, Step::Idle { .. }), "{idle:?}");
        asked.answer(GOOD);
    });
    assert_eq!(step.unwrap(), Step::Committed(key));
    assert_eq!(rig.attempts(key).await.len(), 1);
}

#[tokio::test]
async fn a_lost_lease_drops_the_call_and_writes_nothing() {
    let mut rig = Rig::new().await;
    let (worker, other) = (rig.worker().await, rig.worker().await);
    let key = rig.ingest("1").await;
    let timer = rig.timer.clone();
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        timer.begun(BEAT).await;
        rig.leases_run_out().await;
        let (taken_over, call_key) = rig.answered(&other, GOOD).await;
        assert_eq!(taken_over, Step::Committed(key));
        // A crash asks again under the same key: no verdict was recorded.
        assert_eq!(call_key, asked.call_key);
        timer.end(BEAT).await;
        asked.given_up().await;
    });
    let step = step.unwrap();
    assert!(
        matches!(
            step,
            Step::Superseded {
                lost: Lost::Superseded { .. },
                ..
            }
        ),
        "{step:?}"
    );
    let outcomes = [
        (Some(AttemptOutcome::LeaseLost), Charged::Yes),
        (Some(AttemptOutcome::Committed), Charged::Yes),
    ];
    assert_eq!(rig.outcomes(key).await, outcomes);
    assert_eq!(rig.attempts(key).await[0].raw, None);
}

#[tokio::test]
async fn an_answer_that_comes_after_a_takeover_is_not_written() {
    let mut rig = Rig::new().await;
    let (worker, other) = (rig.worker().await, rig.worker().await);
    let key = rig.ingest("1").await;
    let late = GOOD.replace("spam", "abuse");
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        rig.leases_run_out().await;
        assert_eq!(rig.answered(&other, GOOD).await.0, Step::Committed(key));
        asked.answer(&late);
    });
    let step = step.unwrap();
    assert!(matches!(step, Step::Superseded { .. }), "{step:?}");
    assert_eq!(rig.view(key).await.result.unwrap().value, GOOD);
    assert_eq!(rig.number("SELECT count(*) FROM result").await, 1);
}

#[tokio::test]
async fn a_late_answer_is_taken_while_nobody_took_over() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        rig.leases_run_out().await;
        asked.answer(GOOD);
    });
    assert_eq!(step.unwrap(), Step::Committed(key));
}

#[tokio::test]
async fn a_job_that_takes_its_worker_down_each_time_ends_in_review() {
    let mut rig = Rig::new().await;
    rig.pipeline.max_attempts = 2;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    for _ in 0..2 {
        // A step that is dropped is a worker that was killed.
        let step = tokio::select! {
            step = one_step(&worker) => Some(step),
            _asked = rig.calls.recv() => None,
        };
        assert!(step.is_none(), "{step:?}");
        rig.leases_run_out().await;
    }
    assert_eq!(one_step(&worker).await.unwrap(), Step::SentToReview(key));
    rig.no_call();
    let lost = (Some(AttemptOutcome::LeaseLost), Charged::Yes);
    assert_eq!(rig.outcomes(key).await, [lost; 2]);
    assert_eq!(
        rig.view(key).await.review.unwrap().reason,
        ReviewReason::AttemptsSpent
    );
}

#[tokio::test]
async fn versions_that_mean_something_else_do_not_claim() {
    let rig = Rig::new().await;
    let key = rig.ingest("1").await;
    rig.worker().await;
    let mut changed = rig.pipeline.clone();
    changed.versions.classifier_digest = [9; 32];
    let bindings = bind(&*rig.store, [changed]).await.unwrap();
    assert!(bindings.claimable.is_empty());
    assert_eq!(bindings.conflicts.len(), 1);
    assert_eq!(rig.state(key).await, State::Accepted);
}

#[tokio::test]
async fn a_job_stays_with_the_version_that_it_was_begun_with() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    rig.answered(&worker, "nonsense").await;
    let mut newer = rig.pipeline.clone();
    newer.versions.classifier_version = "moderation-8".into();
    let newer = rig.worker_for(Arc::clone(&rig.store), newer).await;
    assert_eq!(one_step(&newer).await.unwrap(), Step::Idle { wait: None });
    assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
    assert_eq!(rig.state(key).await, State::Terminal(Outcome::Committed));
}
