//! What every test checks of the database at its end is checked for being able to fail: each
//! invariant is broken once, in a backup, and has to be named.

use std::collections::BTreeSet;

use fencepost_tests::{Database, Delivery, Stack};

/// Statements, and what they break; maybe more than that.
const SABOTAGE: &[(&str, &str)] = &[
    ("DELETE FROM job", "a report without exactly one job"),
    (
        "DELETE FROM outbox WHERE kind = 'report.accepted'",
        "a report without exactly one event of its acceptance",
    ),
    (
        "UPDATE outbox SET sequence = sequence + 10",
        "events that are not numbered one after the other",
    ),
    (
        "INSERT INTO outbox SELECT zeroblob(32), report_key, 9, kind, NULL, payload, created_ms,
         NULL, 0 FROM outbox WHERE kind = 'result.final'",
        "a result with more than one final event",
    ),
    (
        "INSERT INTO result (result_key, report_key, schema_version, value, token, attempt_number,
                             status, created_ms, updated_ms)
         SELECT zeroblob(32), report_key, 'another', value, token, attempt_number, 'history',
                created_ms, updated_ms FROM result LIMIT 1",
        "a report with more than one result",
    ),
    (
        "UPDATE attempt SET number = number + 1",
        "attempts that are not numbered one after the other",
    ),
    (
        "INSERT INTO attempt SELECT report_key, 2, job_id, 0, worker, token, classifier_version,
         schema_version, provider, model, request_id, tokens_in, tokens_out, started_ms, ended_ms,
         outcome, reason, raw, raw_call_key, verdict FROM attempt",
        "two attempts with one token, or a token that fell",
    ),
    (
        "UPDATE report SET fence = 0",
        "a report whose fence is behind an attempt's token",
    ),
    (
        "INSERT INTO attempt SELECT a.report_key, a.number + n.value, a.job_id, 1, a.worker,
         a.token + n.value, a.classifier_version, a.schema_version, a.provider, a.model,
         a.request_id, a.tokens_in, a.tokens_out, a.started_ms, a.ended_ms, a.outcome, a.reason,
         a.raw, a.raw_call_key, a.verdict FROM attempt a,
         (SELECT 1 AS value UNION SELECT 2 UNION SELECT 3) n",
        "more charged attempts than a job has",
    ),
    (
        "UPDATE attempt SET charged = 0",
        "a job whose count of charged attempts is not theirs",
    ),
    (
        "UPDATE attempt SET outcome = NULL, ended_ms = NULL",
        "an attempt that is open though its job is not running",
    ),
    (
        "UPDATE report SET current_result = NULL",
        "a committed report without its one current result",
    ),
    (
        "DELETE FROM outbox WHERE kind = 'result.final'",
        "a committed report without its final event",
    ),
    (
        "DELETE FROM review",
        "a report for review without an open review item, or the other way about",
    ),
    (
        "UPDATE job SET set_aside = 'a reason'",
        "a row that was set aside",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_invariant_that_is_checked_can_be_seen_to_break() {
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
    let database = stack.backup("copy.db");
    assert!(database.broken().await.is_empty());
    for (index, (statements, what)) in SABOTAGE.iter().enumerate() {
        let copy = stack.project.path(&format!("copy-{index}.db"));
        let broken = database.sabotaged(&copy, statements).await.broken().await;
        assert!(broken.contains(what), "{statements}: {broken:?}");
    }
    let sabotaged: BTreeSet<_> = SABOTAGE.iter().map(|(_, what)| *what).collect();
    let checked: BTreeSet<_> = Database::all_that_can_break().collect();
    assert_eq!(sabotaged, checked);
    stack.finish().await;
}
