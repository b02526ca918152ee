//! What every test checks of the database at its end is checked for being able to fail: rows are
//! broken in a backup, each in one way, and what is wrong has to be named.

use fencepost_history::{Finished, Terms};
use fencepost_tests::{Delivery, Stack};

/// Statements, and what they break; maybe more than that.
const SABOTAGE: &[(&str, &str)] = &[
    ("DELETE FROM job", "names no job of its own"),
    (
        "DELETE FROM outbox WHERE kind = 'report.accepted'",
        "its acceptance was announced 0 times",
    ),
    (
        "UPDATE outbox SET sequence = sequence + 10",
        "events are numbered",
    ),
    (
        "UPDATE attempt SET number = number + 1",
        "attempts are numbered",
    ),
    (
        "UPDATE report SET fence = 0",
        "behind token 1 that was granted",
    ),
    ("UPDATE attempt SET charged = 0", "of its charged attempts"),
    (
        "UPDATE attempt SET outcome = NULL, ended_ms = NULL",
        "is not running under it",
    ),
    (
        "UPDATE report SET current_result = NULL",
        "names None as its result",
    ),
    (
        "UPDATE result SET token = 7",
        "which committed no such thing",
    ),
    (
        "DELETE FROM outbox WHERE kind = 'result.final'",
        "is final, and nobody was told",
    ),
    ("DELETE FROM review", "no review item is open"),
    ("UPDATE job SET set_aside = 'a reason'", "set aside"),
    (
        "UPDATE job SET state = 'accepted', outcome = NULL",
        "is accepted",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_were_tampered_with_are_seen_to_be() {
    let stack = Stack::start().await;
    let sure = "I can reproduce this on the latest version. Stack trace attached.";
    stack
        .deliver(&Delivery::note("n-1", sure))
        .await
        .assert_accepted();
    stack
        .deliver(&Delivery::note("n-2", "LGTM"))
        .await
        .assert_accepted();
    stack.settle().await;
    let terms = Terms {
        max_attempts: stack.project.max_attempts(),
        finished: Finished::Expected,
    };
    let database = stack.backup("copy.db");
    let verdict = database.verdict(terms).await;
    assert!(verdict.is_sound(), "{verdict}");
    assert_eq!((verdict.counts.finals, verdict.counts.open_reviews), (1, 1));
    for (index, (statements, what)) in SABOTAGE.iter().enumerate() {
        let copy = stack.project.path(&format!("copy-{index}.db"));
        let copy = database.sabotaged(&copy, statements).await;
        let found = copy.verdict(terms).await.to_string();
        assert!(found.contains(what), "{statements}: {found}");
    }
    stack.finish().await;
}

/// A promise that was not kept is seen, even though no row tells of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_was_acknowledged_and_is_gone_is_missed() {
    let stack = Stack::start().await;
    let key = stack
        .deliver(&Delivery::note("n-1", "LGTM"))
        .await
        .assert_accepted();
    stack.settle().await;
    let (mut history, verdict) = stack.judge(Finished::Expected).await;
    assert!(verdict.is_sound(), "{verdict}");
    assert_eq!(verdict.counts.acknowledged, 1);
    history.reports.clear();
    let terms = Terms {
        max_attempts: stack.project.max_attempts(),
        finished: Finished::Expected,
    };
    let found = fencepost_history::check(&history, &terms).to_string();
    assert!(
        found.contains(&key) && found.contains("not there"),
        "{found}"
    );
    stack.finish().await;
}
