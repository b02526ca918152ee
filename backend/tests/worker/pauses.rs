//! What a worker does while a credential or a pipeline is paused.

use std::time::Duration;

use fencepost::{
    extractor::Failure,
    report::{AttemptOutcome, State},
    store::{Charge, CredentialName, PauseReason, Subject},
    worker::Step,
};

use crate::rig::{Charged, GOOD, Rig, logged, one_step};

const MINUTE: Duration = Duration::from_secs(60);

fn waits(step: &Step, longest: Duration) -> bool {
    matches!(step, Step::Idle { wait: Some(wait) } if *wait <= longest && *wait > longest / 2)
}

#[tokio::test]
async fn a_refused_credential_is_left_alone_until_a_probe_is_answered() {
    let mut rig = Rig::new().await;
    rig.pipeline.credential = CredentialName::new("KEY_THAT_IS_REFUSED");
    let worker = rig.worker().await;
    let first = rig.ingest("1").await;
    let second = rig.ingest("2").await;
    let (step, _) = rig.step(&worker, |asked| asked.fail(Failure::Auth)).await;
    let Step::Rescheduled {
        key,
        charge: Charge::GiveBack,
        ..
    } = step
    else {
        panic!("{step:?}")
    };
    assert_eq!(key, first);
    assert_eq!(
        rig.outcomes(first).await,
        [(Some(AttemptOutcome::Auth), Charged::No)]
    );
    // Neither is asked about, and the loop knows for how long.
    let idle = one_step(&worker).await.unwrap();
    assert!(waits(&idle, MINUTE), "{idle:?}");
    rig.no_call();
    for key in [first, second] {
        assert_eq!(rig.state(key).await, State::Accepted);
    }

    rig.probes_are_due().await;
    let (step, _) = rig.step(&worker, |asked| asked.fail(Failure::Auth)).await;
    assert!(matches!(step, Step::Rescheduled { .. }), "{step:?}");
    let idle = one_step(&worker).await.unwrap();
    assert!(waits(&idle, MINUTE * 2), "{idle:?}");

    rig.probes_are_due().await;
    for _ in 0..2 {
        let (step, _) = rig.answered(&worker, GOOD).await;
        assert!(matches!(step, Step::Committed(_)), "{step:?}");
    }
    assert_eq!(rig.store.pauses().await.unwrap(), []);
    // People are told once, by the credential's name.
    let log = logged();
    let told = |words: &str| {
        let lines = log.lines();
        lines
            .filter(|line| line.contains("KEY_THAT_IS_REFUSED") && line.contains(words))
            .count()
    };
    assert_eq!((told("ERROR"), told("No longer paused")), (1, 1), "{log}");
}

#[tokio::test]
async fn a_quota_is_left_alone_for_as_long_as_the_provider_asked() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    rig.ingest("1").await;
    let used_up = Failure::Quota {
        retry_after: Some(MINUTE * 30),
    };
    rig.step(&worker, |asked| asked.fail(used_up)).await;
    let idle = one_step(&worker).await.unwrap();
    assert!(waits(&idle, MINUTE * 30), "{idle:?}");
}

#[tokio::test]
async fn several_reports_that_are_not_taken_pause_the_pipeline() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    for id in ["1", "2", "3", "4"] {
        rig.ingest(id).await;
    }
    for _ in 0..3 {
        let (step, _) = rig
            .step(&worker, |asked| asked.fail(Failure::InvalidRequest))
            .await;
        assert!(matches!(step, Step::SentToReview(_)), "{step:?}");
    }
    let idle = one_step(&worker).await.unwrap();
    assert!(waits(&idle, MINUTE), "{idle:?}");
    rig.no_call();
    let pauses = rig.store.pauses().await.unwrap();
    let paused: Vec<_> = pauses
        .iter()
        .map(|pause| (&pause.subject, pause.reason))
        .collect();
    let moderation = Subject::Pipeline("moderation".to_owned());
    assert_eq!(paused, [(&moderation, PauseReason::InvalidRequest)]);
}
