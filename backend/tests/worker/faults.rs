//! What becomes of an answer when the database fails: it is paid for.

use std::{sync::Arc, time::Duration};

use fencepost::{
    report::AttemptOutcome,
    store::StoreError,
    worker::{Keep, Step},
};

use crate::{
    rig::{Charged, GOOD, Rig, one_step},
    store::Failing,
};

fn twice() -> [StoreError; 2] {
    [StoreError::Busy, StoreError::Full]
}

#[tokio::test]
async fn the_same_answer_is_committed_again_without_another_call() {
    for keep in [Keep::Raw, Keep::Nothing] {
        let mut rig = Rig::new().await;
        rig.pipeline.keep = keep;
        let store = Failing::at_commit(Arc::clone(&rig.store), twice());
        let worker = rig.worker_on(Arc::new(store)).await;
        let key = rig.ingest("1").await;
        let timer = rig.timer.clone();
        let (step, ()) = tokio::join!(one_step(&worker), async {
            rig.asked().await.answer(GOOD);
            timer.end(Duration::ZERO).await;
            timer.end(Duration::ZERO).await;
        });
        assert_eq!(step.unwrap(), Step::Committed(key));
        rig.no_call();
        assert_eq!(
            rig.outcomes(key).await,
            [(Some(AttemptOutcome::Committed), Charged::Yes)]
        );
    }
}

#[tokio::test]
async fn an_answer_is_stored_before_it_is_judged_however_often_that_fails() {
    let mut rig = Rig::new().await;
    let store = Failing::at_raw(Arc::clone(&rig.store), twice());
    let worker = rig.worker_on(Arc::new(store)).await;
    let key = rig.ingest("1").await;
    let timer = rig.timer.clone();
    let (step, ()) = tokio::join!(one_step(&worker), async {
        rig.asked().await.answer(GOOD);
        timer.end(Duration::ZERO).await;
        timer.end(Duration::ZERO).await;
    });
    assert_eq!(step.unwrap(), Step::Committed(key));
    assert_eq!(
        rig.attempts(key).await[0].raw.as_deref(),
        Some(GOOD.as_bytes())
    );
}

#[tokio::test]
async fn a_stored_answer_is_judged_by_whoever_takes_over() {
    let mut rig = Rig::new().await;
    let store = Failing::at_commit(Arc::clone(&rig.store), [StoreError::Damaged]);
    let worker = rig.worker_on(Arc::new(store)).await;
    let key = rig.ingest("1").await;
    let (step, call_key) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        let call_key = asked.call_key;
        asked.answer(GOOD);
        call_key
    });
    assert!(matches!(step, Err(StoreError::Damaged)), "{step:?}");
    rig.leases_run_out().await;
    assert_eq!(one_step(&worker).await.unwrap(), Step::Committed(key));
    rig.no_call();
    let outcomes = [
        (Some(AttemptOutcome::LeaseLost), Charged::Yes),
        (Some(AttemptOutcome::Committed), Charged::Yes),
    ];
    assert_eq!(rig.outcomes(key).await, outcomes);
    let attempts = rig.attempts(key).await;
    assert_eq!(attempts[0].call_key, Some(call_key));
    assert_eq!(attempts[0].verdict, Some(AttemptOutcome::Committed));
    assert_eq!(rig.view(key).await.result.unwrap().value, GOOD);
}

#[tokio::test]
async fn a_stored_answer_that_was_judged_is_not_used_again() {
    let mut rig = Rig::new().await;
    // The second answer is stored, the third attempt finds it; the first was judged already.
    let store = Failing::at_commit(Arc::clone(&rig.store), [StoreError::Damaged]);
    let worker = rig.worker_on(Arc::new(store)).await;
    let key = rig.ingest("1").await;
    let (_, first_call) = rig.answered(&worker, "nonsense").await;
    let (step, second_call) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        let call_key = asked.call_key;
        asked.answer(GOOD);
        call_key
    });
    assert!(step.is_err());
    assert_ne!(first_call, second_call);
    rig.leases_run_out().await;
    assert_eq!(one_step(&worker).await.unwrap(), Step::Committed(key));
    rig.no_call();
    assert_eq!(rig.view(key).await.result.unwrap().value, GOOD);
}
