//! Workers whose clocks are wrong.

use fencepost_model::{Gate, moderation};
use fencepost_tests::{DatabaseKind, Launch, Stack};

use crate::{accept, ended, outcomes, stack};

/// As many as two of them take at once.
const NOTES: usize = 16;

/// A worker whose clock is off by this, as a host without a time service has it.
fn off_by(minutes: &str) -> Launch {
    let library = std::env::var("FENCEPOST_FAKETIME").unwrap_or_else(|_| {
        panic!("FENCEPOST_FAKETIME names no libfaketime.so.1: `cargo xtask test` does")
    });
    // Only what time it is; how time passes stays as it is.
    Launch::default()
        .with("LD_PRELOAD", library)
        .with("FAKETIME", minutes)
        .with("FAKETIME_DONT_FAKE_MONOTONIC", "1")
}

async fn three_workers(kind: DatabaseKind) -> (Stack, Vec<String>, usize) {
    let gate = Gate::closed();
    let held = gate.clone();
    let (mut stack, model) = stack(kind, &[], move |_| {
        moderation("spam", 0.9, false).after(&held)
    })
    .await;
    for launch in [off_by("+10m"), off_by("-10m"), Launch::default()] {
        stack.start_worker_with(&launch).await;
    }
    let mut keys = Vec::new();
    for number in 0..NOTES {
        keys.push(accept(&stack, &format!("n-{number}")).await);
    }
    model
        .wait_until("all are asked for", |calls| calls.len() >= NOTES)
        .await;
    // With all its hands free, each looks again before it gets anything to do.
    let more = accept(&stack, "another").await;
    gate.open();
    stack.settle().await;
    keys.push(more);
    assert_clocks(&stack);
    let calls = model.calls().len();
    (stack, keys, calls)
}

/// The logs show by which clock each worker goes: ahead, behind, right.
fn assert_clocks(stack: &Stack) {
    let [ahead, behind, right] = [0, 1, 2].map(|worker| {
        let log = stack.project.log(&format!("worker-{worker}.stderr"));
        let line: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        line["timestamp"].as_str().unwrap().to_owned()
    });
    // They began within a minute or two of each other.
    assert!(behind < right && right < ahead, "{behind} {right} {ahead}");
}

/// The server's clock alone counts: nobody is overtaken while its lease lasts, and nothing waits
/// for ten minutes.
#[tokio::test(flavor = "multi_thread")]
async fn a_workers_clock_ten_minutes_off_changes_nothing_on_a_server() {
    let (stack, keys, calls) = three_workers(DatabaseKind::Postgres).await;
    assert_eq!(calls, keys.len());
    for key in &keys {
        assert_eq!(outcomes(&stack, key).await, [ended("committed", true)]);
    }
    stack.finish().await;
}

/// There the clock is the worker's own: one that is ahead overtakes others, which costs a second
/// call, and never a second record.
#[tokio::test(flavor = "multi_thread")]
async fn a_workers_clock_ten_minutes_off_makes_no_second_record_on_a_file() {
    let (stack, keys, calls) = three_workers(DatabaseKind::Sqlite).await;
    assert!(calls >= keys.len());
    for key in &keys {
        let last = outcomes(&stack, key).await.pop();
        assert_eq!(last, Some(ended("committed", true)));
    }
    assert_eq!(stack.db().number("SELECT count(*) FROM review").await, 0);
    stack.finish().await;
}
