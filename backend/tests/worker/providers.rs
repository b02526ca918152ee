//! What follows from a call that brought no answer.

use std::time::Duration;

use fencepost::{
    extractor::{Failure, Inference, OutputCap},
    report::{AttemptOutcome, ReviewReason, State},
    store::Charge,
    worker::Step,
};

use crate::rig::{CALL_TIMEOUT, Charged, GOOD, Rig, one_step};

#[tokio::test]
async fn what_asking_again_would_not_help_goes_to_review_at_once() {
    for (failure, outcome, reason) in [
        (
            Failure::Refused,
            AttemptOutcome::Refused,
            ReviewReason::Refused,
        ),
        (
            Failure::InvalidRequest,
            AttemptOutcome::InvalidRequest,
            ReviewReason::InvalidRequest,
        ),
        (
            Failure::ContextTooLong,
            AttemptOutcome::ContextTooLong,
            ReviewReason::ContextTooLong,
        ),
    ] {
        let mut rig = Rig::new().await;
        let worker = rig.worker().await;
        let key = rig.ingest("1").await;
        let (step, _) = rig.step(&worker, |asked| asked.fail(failure)).await;
        assert_eq!(step, Step::SentToReview(key));
        assert_eq!(rig.outcomes(key).await, [(Some(outcome), Charged::Yes)]);
        assert_eq!(rig.view(key).await.review.unwrap().reason, reason);
        assert_eq!(one_step(&worker).await.unwrap(), Step::Idle { wait: None });
    }
}

#[tokio::test]
async fn a_cut_off_answer_is_asked_for_once_more_with_a_larger_cap() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let mut caps = Vec::new();
    let (first, _) = rig
        .step(&worker, |asked| {
            caps.push(asked.cap);
            asked.fail(Failure::Truncated);
        })
        .await;
    assert!(matches!(first, Step::Rejected { .. }), "{first:?}");
    let (second, _) = rig
        .step(&worker, |asked| {
            caps.push(asked.cap);
            asked.fail(Failure::Truncated);
        })
        .await;
    assert_eq!(second, Step::SentToReview(key));
    assert_eq!(caps, [OutputCap::Ordinary, OutputCap::Larger]);
    assert_eq!(
        rig.outcomes(key).await,
        [(Some(AttemptOutcome::Truncated), Charged::Yes); 2]
    );
    assert_eq!(
        rig.view(key).await.review.unwrap().reason,
        ReviewReason::Truncated
    );
}

#[tokio::test]
async fn a_larger_cap_can_be_enough() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    rig.step(&worker, |asked| asked.fail(Failure::Truncated))
        .await;
    assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
}

#[tokio::test]
async fn a_rate_limit_is_waited_out_and_costs_no_attempt() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let limited = Failure::RateLimited {
        retry_after: Some(Duration::from_secs(20)),
    };
    let (step, first_call) = rig.step(&worker, |asked| asked.fail(limited)).await;
    let Step::Rescheduled {
        due,
        charge: Charge::GiveBack,
        ..
    } = step
    else {
        panic!("{step:?}")
    };
    let updated = rig.view(key).await.summary.updated;
    assert_eq!(due.since(updated), Duration::from_secs(20));
    assert_eq!(rig.state(key).await, State::Accepted);

    let idle = one_step(&worker).await.unwrap();
    let Step::Idle { wait: Some(wait) } = idle else {
        panic!("{idle:?}")
    };
    assert!(wait <= Duration::from_secs(20), "{wait:?}");
    rig.no_call();

    rig.waits_are_over().await;
    let (step, second_call) = rig.answered(&worker, GOOD).await;
    assert_eq!((step, second_call), (Step::Committed(key), first_call));
    let outcomes = [
        (Some(AttemptOutcome::RateLimited), Charged::No),
        (Some(AttemptOutcome::Committed), Charged::Yes),
    ];
    assert_eq!(rig.outcomes(key).await, outcomes);
}

#[tokio::test]
async fn attempts_are_given_back_only_so_often() {
    let mut rig = Rig::new().await;
    rig.pipeline.max_attempts = 2;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let mut steps = Vec::new();
    while steps.last() != Some(&Step::SentToReview(key)) {
        assert!(steps.len() < 9, "{steps:?}");
        rig.waits_are_over().await;
        let failure = Failure::Overloaded { retry_after: None };
        steps.push(rig.step(&worker, |asked| asked.fail(failure)).await.0);
    }
    let overloaded = |charged| (Some(AttemptOutcome::Overloaded), charged);
    let outcomes = [Charged::No, Charged::No, Charged::Yes, Charged::Yes].map(overloaded);
    assert_eq!(rig.outcomes(key).await, outcomes);
    assert_eq!(
        rig.view(key).await.review.unwrap().reason,
        ReviewReason::AttemptsSpent
    );
}

#[tokio::test]
async fn only_what_can_not_have_begun_costs_no_attempt() {
    for (failure, outcome, charge) in [
        (
            Failure::Transport(Inference::NotBegun),
            AttemptOutcome::Transport,
            Charged::No,
        ),
        (
            Failure::Transport(Inference::MayHaveBegun),
            AttemptOutcome::Transport,
            Charged::Yes,
        ),
        (
            Failure::Overloaded { retry_after: None },
            AttemptOutcome::Overloaded,
            Charged::No,
        ),
        (Failure::Auth, AttemptOutcome::Auth, Charged::No),
        (
            Failure::Quota { retry_after: None },
            AttemptOutcome::Quota,
            Charged::No,
        ),
        (Failure::Timeout, AttemptOutcome::Timeout, Charged::Yes),
    ] {
        let mut rig = Rig::new().await;
        let worker = rig.worker().await;
        let key = rig.ingest("1").await;
        let (step, _) = rig.step(&worker, |asked| asked.fail(failure)).await;
        assert!(matches!(step, Step::Rescheduled { .. }), "{step:?}");
        assert_eq!(rig.outcomes(key).await, [(Some(outcome), charge)]);
        rig.waits_are_over().await;
        rig.probes_are_due().await;
        assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
    }
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_dropped_and_charged() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let timer = rig.timer.clone();
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        timer.end(CALL_TIMEOUT).await;
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
    let attempts = rig.attempts(key).await;
    assert_eq!(attempts[0].outcome, Some(AttemptOutcome::Timeout));
    assert!(attempts[0].charged);
    let call = attempts[0].call.clone().unwrap();
    assert_eq!(
        (call.provider.as_str(), call.model.as_str()),
        ("scripted", "scripted-1")
    );
}
