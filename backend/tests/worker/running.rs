//! The loop: how it learns of work, and how it ends.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use fencepost::{
    extractor::baseline::{Baseline, MODEL, PROVIDER},
    report::{AttemptOutcome, Outcome, State},
    store::Charge,
    worker::{Pace, Step, run},
};

use crate::{
    rig::{Charged, GOOD, Rig, one_step},
    timer::within,
};

const POLL: Duration = Duration::from_secs(1);

fn pace(concurrency: usize) -> Pace {
    Pace {
        concurrency: NonZeroUsize::new(concurrency).unwrap(),
        poll: POLL,
    }
}

#[tokio::test]
async fn a_worker_that_is_stopping_gives_back_what_it_did_not_begin() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    rig.stop.drain();
    let step = one_step(&worker).await.unwrap();
    assert!(
        matches!(
            step,
            Step::Rescheduled {
                charge: Charge::GiveBack,
                ..
            }
        ),
        "{step:?}"
    );
    rig.no_call();
    assert_eq!(
        rig.outcomes(key).await,
        [(Some(AttemptOutcome::Released), Charged::No)]
    );
    assert_eq!(rig.state(key).await, State::Accepted);
}

#[tokio::test]
async fn a_call_that_is_under_way_is_waited_for() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        rig.stop.drain();
        asked.answer(GOOD);
    });
    assert_eq!(step.unwrap(), Step::Committed(key));
}

#[tokio::test]
async fn a_call_that_is_waited_for_too_long_is_dropped_and_charged() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        rig.stop.drain();
        rig.stop.halt();
        asked.given_up().await;
    });
    let step = step.unwrap();
    assert!(
        matches!(
            step,
            Step::Rescheduled {
                charge: Charge::Keep,
                ..
            }
        ),
        "{step:?}"
    );
    assert_eq!(
        rig.outcomes(key).await,
        [(Some(AttemptOutcome::Released), Charged::Yes)]
    );
}

#[tokio::test]
async fn a_woken_loop_works_at_once_and_ends_when_it_is_told() {
    let mut rig = Rig::new().await;
    let running = tokio::spawn(run(Arc::new(rig.worker().await), pace(2)));
    rig.timer.begun(POLL).await;
    let first = rig.ingest("1").await;
    let second = rig.ingest("2").await;
    // No timer ends in this test: only the wake-up can bring it to work, and one is enough.
    rig.wake.notify_one();
    let calls = [rig.asked().await, rig.asked().await];
    calls.into_iter().for_each(|asked| asked.answer(GOOD));
    rig.stop.drain();
    within(running).await.unwrap();
    for key in [first, second] {
        assert_eq!(rig.state(key).await, State::Terminal(Outcome::Committed));
    }
}

#[tokio::test]
async fn a_loop_that_nobody_wakes_looks_again_by_itself() {
    let mut rig = Rig::new().await;
    let running = tokio::spawn(run(Arc::new(rig.worker().await), pace(1)));
    rig.timer.begun(POLL).await;
    let key = rig.ingest("1").await;
    rig.timer.end(POLL).await;
    rig.asked().await.answer(GOOD);
    rig.timer.begun(POLL).await;
    rig.stop.drain();
    within(running).await.unwrap();
    assert_eq!(rig.state(key).await, State::Terminal(Outcome::Committed));
}

#[tokio::test]
async fn a_panic_costs_its_attempt_and_nothing_else() {
    let mut rig = Rig::new().await;
    let broken = rig.ingest("1").await;
    let running = tokio::spawn(run(Arc::new(rig.worker().await), pace(1)));
    rig.asked().await.panic();
    rig.timer.begun(POLL).await;
    let key = rig.ingest("2").await;
    rig.wake.notify_one();
    rig.asked().await.answer(GOOD);
    rig.stop.drain();
    within(running).await.unwrap();
    assert_eq!(rig.state(key).await, State::Terminal(Outcome::Committed));
    assert_eq!(rig.outcomes(broken).await, [(None, Charged::Yes)]);
}

#[tokio::test]
async fn the_baseline_goes_the_same_way_and_says_what_it_is() {
    let mut rig = Rig::new().await;
    rig.pipeline.extractor = Arc::new(Baseline::new().unwrap());
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    // It has nothing to judge the text by, so a person is asked.
    assert_eq!(one_step(&worker).await.unwrap(), Step::SentToReview(key));
    let call = rig.attempts(key).await[0].call.clone().unwrap();
    assert_eq!(
        (call.provider.as_str(), call.model.as_str()),
        (PROVIDER, MODEL)
    );
    let value = rig.view(key).await.result.unwrap().value;
    assert!(value.contains("\"needsHumanReview\":true"), "{value}");
}
