//! Numbers, tokens and budgets that are not as they should be.

use fencepost_history::{AttemptOutcome, History, Violation};

use super::{broken, committed};
use crate::story::{Story, attempt, job, report};

/// All of them.
pub(super) fn all() -> Vec<Violation> {
    [numbers(), leases(), counts(), budgets()]
        .into_iter()
        .flatten()
        .collect()
}

fn numbers() -> Vec<Violation> {
    vec![
        broken(
            |story, key| {
                story.ask(key);
                committed(story, key);
            },
            |history, key| {
                attempt(history, key, 2).number = 3;
                history.results[0].attempt = Some(3);
            },
            |report| Violation::AttemptNumbers {
                report,
                numbers: vec![1, 3],
            },
        ),
        broken(
            |story, key| {
                story.ask(key);
                story.grant(key);
            },
            |history, key| attempt(history, key, 1).token = 2,
            |report| Violation::TokenDidNotGrow {
                report,
                attempt: 2,
                token: 2,
                before: 2,
            },
        ),
        broken(
            |story, key| {
                story.ask(key);
                story.grant(key);
            },
            |history, key| report(history, key).fence = 1,
            |report| Violation::FenceBehind {
                report,
                fence: 1,
                token: 2,
            },
        ),
    ]
}

fn leases() -> Vec<Violation> {
    vec![
        broken(
            |story, key| {
                story.ask(key);
                story.give_back(key, AttemptOutcome::Overloaded);
            },
            |history, key| {
                let attempt = attempt(history, key, 1);
                attempt.outcome = None;
                attempt.ended_ms = None;
            },
            |report| Violation::OpenAttempt {
                report,
                attempt: 1,
                job: 1,
            },
        ),
        broken(
            |story, key| story.ask(key),
            |history, key| job(history, key).token = Some(2),
            |report| Violation::OpenAttempt {
                report,
                attempt: 1,
                job: 1,
            },
        ),
        broken(
            |story, key| {
                story.ask(key);
                story.grant(key);
            },
            |history, key| {
                let attempt = attempt(history, key, 2);
                attempt.outcome = Some(AttemptOutcome::LeaseLost);
                attempt.ended_ms = Some(attempt.started_ms);
            },
            |report| Violation::NoOpenAttempt { report, job: 1 },
        ),
    ]
}

fn counts() -> Vec<Violation> {
    let one_given_back = |story: &mut Story, key: &str| {
        story.grant(key);
        story.give_back(key, AttemptOutcome::Released);
    };
    let miscounted = |counted, says, are| {
        move |report| Violation::Miscounted {
            report,
            job: 1,
            counted,
            says,
            are,
        }
    };
    vec![
        broken(
            one_given_back,
            |history, key| job(history, key).grants = 2,
            miscounted("grants", 2, 1),
        ),
        broken(
            one_given_back,
            |history, key| job(history, key).charged = 2,
            miscounted("charged attempts", 1, 0),
        ),
        broken(
            one_given_back,
            |history, key| {
                job(history, key).charged = 2;
                job(history, key).given_back = 2;
            },
            miscounted("given back attempts", 2, 1),
        ),
    ]
}

fn budgets() -> Vec<Violation> {
    let four = |end: fn(&mut Story, &str)| {
        move |story: &mut Story, key: &str| {
            for _ in 0..4 {
                story.grant(key);
                end(story, key);
            }
            // As many again, so that this is sound before it is broken.
            job(&mut story.history, key).rounds = 2;
        }
    };
    let one_round = |history: &mut History, key: &str| job(history, key).rounds = 1;
    vec![
        broken(four(|_, _| {}), one_round, |report| {
            Violation::TooManyCharged {
                report,
                job: 1,
                charged: 4,
                allowed: 3,
            }
        }),
        broken(
            four(|story, key| story.give_back(key, AttemptOutcome::Transport)),
            one_round,
            |report| Violation::TooManyGivenBack {
                report,
                job: 1,
                given_back: 4,
                allowed: 3,
            },
        ),
    ]
}
