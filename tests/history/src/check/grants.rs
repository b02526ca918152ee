//! Grants: their numbers, their tokens, and how many there may be.

use super::{
    Terms,
    case::{Case, are_counted, count},
};
use crate::{rows::Job, violation::Violation, words::JobState};

/// These rules hold of every report, erased and superseded ones too: attempts are never removed
/// and tokens never taken back.
pub(super) fn check(case: &Case<'_>, terms: &Terms, found: &mut Vec<Violation>) {
    tokens(case, found);
    open_attempts(case, found);
    for job in &case.jobs {
        counted(case, job, found);
        budget(case, job, terms, found);
    }
}

/// Attempts are numbered 1..n, their tokens grow strictly with their numbers, and the report's
/// fence is not behind any of them. It may be ahead: a job that ends without a grant raises it too.
fn tokens(case: &Case<'_>, found: &mut Vec<Violation>) {
    let numbers: Vec<i64> = case.attempts.iter().map(|attempt| attempt.number).collect();
    if !are_counted(&numbers) {
        found.push(Violation::AttemptNumbers {
            report: case.key(),
            numbers,
        });
    }
    for (before, attempt) in case.attempts.iter().zip(case.attempts.iter().skip(1)) {
        if attempt.token <= before.token {
            found.push(Violation::TokenDidNotGrow {
                report: case.key(),
                attempt: attempt.number,
                token: attempt.token,
                before: before.token,
            });
        }
    }
    let fence = case.report.fence;
    let newest = case.attempts.iter().map(|attempt| attempt.token).max();
    if let Some(token) = newest.filter(|token| *token > fence) {
        found.push(Violation::FenceBehind {
            report: case.key(),
            fence,
            token,
        });
    }
}

/// An attempt without an outcome belongs to a job that is running under its token, and a running
/// job has one.
fn open_attempts(case: &Case<'_>, found: &mut Vec<Violation>) {
    let running = |job: &Job| job.state == JobState::Running;
    for attempt in case
        .attempts
        .iter()
        .filter(|attempt| attempt.outcome.is_none())
    {
        let holds =
            |job: &&&Job| job.id == attempt.job && running(job) && job.token == Some(attempt.token);
        if case.jobs.iter().find(holds).is_none() {
            found.push(Violation::OpenAttempt {
                report: case.key(),
                attempt: attempt.number,
                job: attempt.job,
            });
        }
    }
    for job in case.jobs.iter().filter(|job| running(job)) {
        if case
            .attempts_of(job)
            .all(|attempt| attempt.outcome.is_some())
        {
            found.push(Violation::NoOpenAttempt {
                report: case.key(),
                job: job.id,
            });
        }
    }
}

/// What a job says of its grants is what its attempts say: how many there were, how many count,
/// and how many were given back.
fn counted(case: &Case<'_>, job: &Job, found: &mut Vec<Violation>) {
    let grants = count(case.attempts_of(job));
    let charged = count(case.attempts_of(job).filter(|attempt| attempt.charged));
    for (counted, says, are) in [
        ("grants", job.grants, grants),
        ("charged attempts", job.charged - job.given_back, charged),
        ("given back attempts", job.given_back, grants - charged),
    ] {
        if says != are {
            found.push(Violation::Miscounted {
                report: case.key(),
                job: job.id,
                counted,
                says,
                are,
            });
        }
    }
}

/// A job has at most `max_attempts` charged attempts for each time that it was opened, and at most
/// as many were given back.
fn budget(case: &Case<'_>, job: &Job, terms: &Terms, found: &mut Vec<Violation>) {
    let allowed = terms.max_attempts.saturating_mul(job.rounds);
    let charged = count(case.attempts_of(job).filter(|attempt| attempt.charged));
    if charged > allowed {
        found.push(Violation::TooManyCharged {
            report: case.key(),
            job: job.id,
            charged,
            allowed,
        });
    }
    if job.given_back > allowed {
        found.push(Violation::TooManyGivenBack {
            report: case.key(),
            job: job.id,
            given_back: job.given_back,
            allowed,
        });
    }
}
