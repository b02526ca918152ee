//! Several processes on one database of either kind: one takes reports in, others work. A worker
//! that is killed or stands still while the model is asked is replaced when its leases are over,
//! and the model is asked once more per report; that is all that it costs.

use std::sync::Arc;

use fencepost_model::{Gate, ModelServer, moderation};
use fencepost_tests::{DatabaseKind, Role, Sealed, Setup, Stack};

/// As many as a worker takes at once.
const NOTES: usize = 8;

/// What becomes of the first worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Killed,
    /// It goes on when another has done its work.
    Suspended,
}

async fn a_worker_is_replaced(kind: DatabaseKind, fate: Fate) {
    let gate = Gate::closed();
    let held = gate.clone();
    let model = ModelServer::start(move |_| moderation("spam", 0.9, false).after(&held));
    let model = Arc::new(model);
    let mut stack = Stack::with(Setup {
        role: Role::Api,
        model: Some(Arc::clone(&model)),
        ..Setup::on(kind)
    })
    .await;
    let first = stack.start_worker().await;
    let mut keys = Vec::new();
    for number in 0..NOTES {
        let note = Sealed::note(&stack.project, &format!("n-{number}"), "a text of a note");
        keys.push(stack.post(&note).await.unwrap().assert_accepted());
    }
    model
        .wait_until("the first one asks", |calls| calls.len() == NOTES)
        .await;
    match fate {
        Fate::Killed => stack.kill9_worker(first),
        Fate::Suspended => stack.pause_worker(first).await,
    }
    assert_eq!(stack.db().age_leases().await, NOTES as u64);
    gate.open();
    stack.start_worker().await;
    stack.settle().await;
    if fate == Fate::Suspended {
        stack.worker(first).process().resume();
        stack.stop_worker(first).await;
    }
    assert_eq!(model.calls().len(), 2 * NOTES);
    for key in &keys {
        let attempts = stack.attempts(key).await;
        let outcomes: Vec<_> = attempts.iter().map(|it| it["outcome"].as_str()).collect();
        assert_eq!(outcomes, [Some("lease_lost"), Some("committed")], "{key}");
        let results = "SELECT count(*) FROM result WHERE report_key = $1";
        assert_eq!(stack.db().number_of(results, key).await, 1, "{key}");
    }
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_worker_is_replaced_on_a_file() {
    a_worker_is_replaced(DatabaseKind::Sqlite, Fate::Killed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_worker_is_replaced_on_a_server() {
    a_worker_is_replaced(DatabaseKind::Postgres, Fate::Killed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_worker_is_replaced_on_a_file() {
    a_worker_is_replaced(DatabaseKind::Sqlite, Fate::Suspended).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_worker_is_replaced_on_a_server() {
    a_worker_is_replaced(DatabaseKind::Postgres, Fate::Suspended).await;
}
