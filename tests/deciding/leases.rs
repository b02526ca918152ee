//! Who may ask, and who may write.

use fencepost_model::{Behaviour, Ending, Gate, in_turn, moderation};
use fencepost_tests::{Database, DatabaseKind, Stack, wait_until};

use crate::{accept, ended, outcomes, rows, stack};

/// A heartbeat each second, so that a holder soon learns that it is none any more.
const SHORT: [(&str, &str); 2] = [
    ("lease_seconds = 60", "lease_seconds = 3"),
    ("call_timeout_seconds = 45", "call_timeout_seconds = 600"),
];

/// One job at a time, so that a worker does not take over from itself.
const SINGLE: (&str, &str) = (
    "[extractor.baseline]",
    "[worker]\nconcurrency = 1\n\n[extractor.baseline]",
);

const MAX_ATTEMPTS: usize = 3;

pub(crate) async fn twenty_workers_on_one_report_ask_once(kind: DatabaseKind) {
    let gate = Gate::closed();
    let held = gate.clone();
    let (mut stack, model) = stack(kind, &[], move |_| {
        moderation("spam", 0.9, false).after(&held)
    })
    .await;
    // Eight at a time in each.
    for _ in 0..3 {
        stack.start_worker().await;
    }
    let key = accept(&stack, "n-1").await;
    model
        .wait_until("somebody asks", |calls| !calls.is_empty())
        .await;
    // Whoever comes now finds it taken.
    let other = accept(&stack, "n-2").await;
    model
        .wait_until("the other is asked for", |calls| calls.len() > 1)
        .await;
    gate.open();
    stack.settle().await;
    assert_eq!(model.calls().len(), 2);
    for key in [key, other] {
        assert_eq!(outcomes(&stack, &key).await, [ended("committed", true)]);
    }
    stack.finish().await;
}

pub(crate) async fn a_zombie_writes_nothing_not_even_a_heartbeat(kind: DatabaseKind) {
    let gate = Gate::closed();
    let first = moderation("abuse", 0.9, false).after(&gate);
    let script = in_turn([first, moderation("spam", 0.9, false)]);
    let (mut stack, model) = stack(kind, &SHORT, script).await;
    let zombie = stack.start_worker().await;
    let key = accept(&stack, "n-1").await;
    model.wait_until("it asks", |calls| calls.len() == 1).await;
    stack.pause_worker(zombie).await;
    stack.db().age_leases().await;
    let other = stack.start_worker().await;
    stack.settle().await;
    stack.stop_worker(other).await;
    let before = rows(&stack).await;

    stack.worker(zombie).process().resume();
    // Its next heartbeat finds the lease gone, and it drops the call.
    model
        .wait_until("the zombie hangs up", |calls| {
            matches!(calls[0].ended, Some((Ending::Abandoned, _)))
        })
        .await;
    gate.open();
    stack.stop_worker(zombie).await;
    assert_eq!(rows(&stack).await, before);
    let expected = [ended("lease_lost", true), ended("committed", true)];
    assert_eq!(outcomes(&stack, &key).await, expected);
    assert_eq!(category(&stack, &key).await, "spam");
    stack.finish().await;
}

async fn category(stack: &Stack, key: &str) -> String {
    let report = stack.report(key).await.unwrap();
    let category = &report["result"]["value"]["category"];
    category.as_str().unwrap().to_owned()
}

pub(crate) async fn whoever_was_overtaken_cannot_commit(kind: DatabaseKind) {
    let gates = [Gate::closed(), Gate::closed()];
    let script = in_turn([
        moderation("abuse", 0.9, false).after(&gates[0]),
        moderation("spam", 0.9, false).after(&gates[1]),
    ]);
    // A heartbeat every 20 seconds: the first one learns of nothing before it has its answer.
    let (mut stack, model) = stack(kind, &[SINGLE], script).await;
    let first = stack.start_worker().await;
    let key = accept(&stack, "n-1").await;
    model.wait_until("one asks", |calls| calls.len() == 1).await;
    stack.db().age_leases().await;
    stack.start_worker().await;
    model
        .wait_until("another asks", |calls| calls.len() == 2)
        .await;
    let before = rows(&stack).await;
    gates[0].open();
    let log = format!("worker-{first}.stderr");
    wait_until("the first one is told", async || {
        stack.project.log(&log).contains("Superseded").then_some(())
    })
    .await;
    assert_eq!(rows(&stack).await, before, "it wrote nothing");
    gates[1].open();
    stack.settle().await;
    let expected = [ended("lease_lost", true), ended("committed", true)];
    assert_eq!(outcomes(&stack, &key).await, expected);
    assert_eq!(category(&stack, &key).await, "spam");
    stack.finish().await;
}

pub(crate) async fn a_lease_that_only_ran_out_may_still_commit(kind: DatabaseKind) {
    let gate = Gate::closed();
    let held = gate.clone();
    let (mut stack, model) = stack(kind, &[SINGLE], move |_| {
        moderation("spam", 0.9, false).after(&held)
    })
    .await;
    stack.start_worker().await;
    let key = accept(&stack, "n-1").await;
    model.wait_until("it asks", |calls| calls.len() == 1).await;
    assert_eq!(stack.db().age_leases().await, 1);
    gate.open();
    stack.settle().await;
    assert_eq!(outcomes(&stack, &key).await, [ended("committed", true)]);
    assert_eq!(model.calls().len(), 1, "the answer was paid for");
    stack.finish().await;
}

pub(crate) async fn an_extraction_that_kills_its_worker_each_time_ends_with_a_person(
    kind: DatabaseKind,
) {
    let (mut stack, model) = stack(kind, &[], |_| Behaviour::Hang).await;
    let key = accept(&stack, "n-1").await;
    for attempt in 1..=MAX_ATTEMPTS {
        let worker = stack.start_worker().await;
        model
            .wait_until("it asks", |calls| calls.len() == attempt)
            .await;
        stack.kill9_worker(worker);
        assert_eq!(stack.db().age_leases().await, 1);
    }
    stack.start_worker().await;
    assert_given_up(&stack, &key).await;
    assert_eq!(model.calls().len(), MAX_ATTEMPTS);
    stack.finish().await;
}

pub(crate) async fn a_last_lease_that_only_runs_out_ends_with_a_person(kind: DatabaseKind) {
    let mut config = SHORT.to_vec();
    config.push(SINGLE);
    let (mut stack, model) = stack(kind, &config, |_| Behaviour::Hang).await;
    let key = accept(&stack, "n-1").await;
    for attempt in 1..MAX_ATTEMPTS {
        let worker = stack.start_worker().await;
        model
            .wait_until("it asks", |calls| calls.len() == attempt)
            .await;
        stack.kill9_worker(worker);
        stack.db().age_leases().await;
    }
    // The last one lives; it only stands still until another has looked.
    let last = stack.start_worker().await;
    model
        .wait_until("the last one asks", |calls| calls.len() == MAX_ATTEMPTS)
        .await;
    stack.pause_worker(last).await;
    stack.db().age_leases().await;
    stack.start_worker().await;
    assert_given_up(&stack, &key).await;
    let before = rows(&stack).await;
    stack.worker(last).process().resume();
    model
        .wait_until("the last one hangs up", |calls| {
            let last = &calls[MAX_ATTEMPTS - 1];
            matches!(last.ended, Some((Ending::Abandoned, _)))
        })
        .await;
    assert_eq!(rows(&stack).await, before);
    assert_eq!(model.calls().len(), MAX_ATTEMPTS);
    stack.finish().await;
}

/// All attempts are charged and lost, and one person is asked.
async fn assert_given_up(stack: &Stack, key: &str) {
    stack.settle().await;
    let lost = vec![ended("lease_lost", true); MAX_ATTEMPTS];
    assert_eq!(outcomes(stack, key).await, lost);
    let reviews = "SELECT reason || ' ' || status FROM review";
    assert_eq!(stack.db().texts(reviews).await, ["attempts_spent open"]);
    assert_eq!(stack.db().number("SELECT count(*) FROM result").await, 0);
}

pub(crate) async fn no_connection_is_held_while_the_model_is_asked(kind: DatabaseKind) {
    const NOTES: usize = 16;
    let gate = Gate::closed();
    let held = gate.clone();
    let (mut stack, model) = stack(kind, &[], move |_| {
        moderation("spam", 0.9, false).after(&held)
    })
    .await;
    for _ in 0..2 {
        stack.start_worker().await;
    }
    for number in 0..NOTES {
        accept(&stack, &format!("n-{number}")).await;
    }
    model
        .wait_until("all are asked for", |calls| calls.len() == NOTES)
        .await;
    if let Database::Postgres(_) = stack.db() {
        // Polls and heartbeats come and go; a call lasts.
        wait_until("no connection is in use", async || {
            let in_use = "SELECT count(*) FROM pg_stat_activity
                          WHERE datname = current_database() AND application_name = 'fencepost'
                            AND state <> 'idle'";
            (stack.db().number(in_use).await == 0).then_some(())
        })
        .await;
    }
    // With a connection held by each call, nothing more would be taken in.
    accept(&stack, "another").await;
    gate.open();
    stack.settle().await;
    assert_eq!(model.calls().len(), NOTES + 1);
    stack.finish().await;
}
