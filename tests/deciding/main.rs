//! The test that decides: what may never happen, tried with the built programs on either database,
//! several processes at a time, before a model that answers as the test has it.
//!
//! Every one of these ends with the history checked: each acknowledged report is there, has one
//! result or one open question, and cost at most one call per grant. Leases are aged by a verb on
//! the database; nothing waits for time to pass.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod answers;
mod clocks;
mod findings;
mod ingress;
mod leases;
mod stops;

use std::sync::Arc;

use fencepost_model::{Asked, Behaviour, ModelServer};
use fencepost_tests::{DatabaseKind, Role, Sealed, Setup, Stack};

/// Makes a test of each case for each kind of database.
macro_rules! on_both {
    ($($module:ident: { $($case:ident),+ $(,)? })+) => {
        mod on_a_file {
            $($(
                #[tokio::test(flavor = "multi_thread")]
                async fn $case() {
                    crate::$module::$case(fencepost_tests::DatabaseKind::Sqlite).await;
                }
            )+)+
        }

        mod on_a_server {
            $($(
                #[tokio::test(flavor = "multi_thread")]
                async fn $case() {
                    crate::$module::$case(fencepost_tests::DatabaseKind::Postgres).await;
                }
            )+)+
        }
    };
}

on_both! {
    ingress: {
        a_webhook_replayed_a_hundred_times_at_once_is_one_record_and_one_call,
        two_thousand_posts_of_one_report_are_one_report,
        a_sender_that_hangs_up_leaves_the_whole_report_or_nothing,
    }
    leases: {
        twenty_workers_on_one_report_ask_once,
        a_zombie_writes_nothing_not_even_a_heartbeat,
        whoever_was_overtaken_cannot_commit,
        a_lease_that_only_ran_out_may_still_commit,
        an_extraction_that_kills_its_worker_each_time_ends_with_a_person,
        a_last_lease_that_only_runs_out_ends_with_a_person,
        no_connection_is_held_while_the_model_is_asked,
    }
    answers: {
        answers_that_break_the_schema_end_with_a_person,
        a_rate_limit_is_waited_for_and_costs_no_attempt,
    }
    findings: {
        the_same_source_twice_at_once_is_one_extraction,
        killed_with_the_answer_stored_and_no_finding_committed,
        killed_with_the_findings_committed_and_nobody_told,
        a_rate_limit_and_then_an_answer,
        the_same_webhook_three_times,
    }
    stops: {
        what_outlasts_the_drain_is_released_at_once,
        what_ends_within_the_drain_is_committed,
    }
}

/// A backend that takes in, on a database of this kind, and a model. Nobody works yet.
async fn stack(
    kind: DatabaseKind,
    config: &[(&'static str, &'static str)],
    script: impl Fn(&Asked) -> Behaviour + Send + Sync + 'static,
) -> (Stack, Arc<ModelServer>) {
    let model = Arc::new(ModelServer::start(script));
    let setup = Setup {
        config: config.to_vec(),
        role: Role::Api,
        model: Some(Arc::clone(&model)),
        ..Setup::on(kind)
    };
    (Stack::with(setup).await, model)
}

/// Has a note taken in; its key.
async fn accept(stack: &Stack, id: &str) -> String {
    let note = Sealed::note(&stack.project, id, "a text of a note");
    stack.post(&note).await.unwrap().assert_accepted()
}

/// How the attempts on a report ended, and whether each counts.
async fn outcomes(stack: &Stack, key: &str) -> Vec<(String, bool)> {
    let attempts = stack.attempts(key).await;
    attempts
        .iter()
        .map(|attempt| {
            let outcome = attempt["outcome"].as_str().unwrap_or("running");
            (outcome.to_owned(), attempt["charged"].as_bool().unwrap())
        })
        .collect()
}

fn ended(outcome: &str, charged: bool) -> (String, bool) {
    (outcome.to_owned(), charged)
}

/// Everything that a holder of a lease could write, as text.
async fn rows(stack: &Stack) -> Vec<String> {
    let database = stack.db();
    let mut rows = Vec::new();
    for statement in [
        "SELECT CAST(job_id AS TEXT) || ' ' || state || ' ' || coalesce(outcome, '') || ' '
             || CAST(due_ms AS TEXT) || ' ' || coalesce(CAST(lease_until_ms AS TEXT), '') || ' '
             || CAST(token AS TEXT) || ' ' || CAST(updated_ms AS TEXT) FROM job ORDER BY 1",
        "SELECT CAST(number AS TEXT) || ' ' || coalesce(outcome, '') || ' '
             || coalesce(CAST(ended_ms AS TEXT), '') || ' ' || CAST(charged AS TEXT) || ' '
             || coalesce(verdict, '') FROM attempt ORDER BY 1",
        "SELECT value || ' ' || CAST(token AS TEXT) || ' ' || CAST(updated_ms AS TEXT)
             FROM result ORDER BY 1",
        "SELECT kind || ' ' || CAST(sequence AS TEXT) FROM outbox ORDER BY 1",
        "SELECT CAST(revision AS TEXT) || ' ' || status FROM review ORDER BY 1",
    ] {
        rows.extend(database.texts(statement).await);
    }
    rows
}
