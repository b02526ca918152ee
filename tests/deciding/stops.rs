//! Ending in order.

use fencepost_model::{Behaviour, Gate, in_turn, moderation};
use fencepost_tests::DatabaseKind;
use rustix::process::{Signal, kill_process};

use crate::{accept, ended, outcomes, stack};

/// As many as a worker takes at once.
const NOTES: usize = 8;

const NO_DRAIN: (&str, &str) = (
    "[extractor.baseline]",
    "[worker]\ndrain_seconds = 0\n\n[extractor.baseline]",
);

const LONG_DRAIN: (&str, &str) = (
    "[extractor.baseline]",
    "[worker]\ndrain_seconds = 600\n\n[extractor.baseline]",
);

/// A call that is under way may have been begun to be answered: its attempt counts.
pub(crate) async fn what_outlasts_the_drain_is_released_at_once(kind: DatabaseKind) {
    let mut script = vec![Behaviour::Hang; NOTES];
    script.push(moderation("spam", 0.9, false));
    let (mut stack, model) = stack(kind, &[NO_DRAIN], in_turn(script)).await;
    let first = stack.start_worker().await;
    let mut keys = Vec::new();
    for number in 0..NOTES {
        keys.push(accept(&stack, &format!("n-{number}")).await);
    }
    model
        .wait_until("all are asked for", |calls| calls.len() == NOTES)
        .await;
    stack.stop_worker(first).await;
    let running = "SELECT count(*) FROM job WHERE state = 'running'";
    assert_eq!(stack.db().number(running).await, 0);
    // No lease has to run out before another goes on.
    stack.start_worker().await;
    stack.settle().await;
    for key in &keys {
        let expected = [ended("released", true), ended("committed", true)];
        assert_eq!(outcomes(&stack, key).await, expected);
    }
    assert_eq!(model.calls().len(), 2 * NOTES);
    stack.finish().await;
}

pub(crate) async fn what_ends_within_the_drain_is_committed(kind: DatabaseKind) {
    let gate = Gate::closed();
    let held = gate.clone();
    let (mut stack, model) = stack(kind, &[LONG_DRAIN], move |_| {
        moderation("spam", 0.9, false).after(&held)
    })
    .await;
    let worker = stack.start_worker().await;
    let mut keys = Vec::new();
    for number in 0..NOTES {
        keys.push(accept(&stack, &format!("n-{number}")).await);
    }
    model
        .wait_until("all are asked for", |calls| calls.len() == NOTES)
        .await;
    kill_process(stack.worker(worker).process().id(), Signal::TERM).unwrap();
    gate.open();
    stack.settle().await;
    for key in &keys {
        assert_eq!(outcomes(&stack, key).await, [ended("committed", true)]);
    }
    assert_eq!(model.calls().len(), NOTES);
    stack.finish().await;
}
