//! Results: one per key, under the newest token, and nothing goes on behind them.

use std::collections::BTreeMap;

use super::case::Case;
use crate::{
    rows::{Attempt, Job, ResultRow},
    violation::Violation,
    words::{DecisionKind, Ending, ResultStatus},
};

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Violation>) {
    once(case, found);
    current(case, found);
    settled(case, found);
    for result in &case.results {
        provenance(case, result, found);
    }
    commits(case, found);
    reopened(case, found);
}

/// At most one result per result key, and per schema version of a report.
fn once(case: &Case<'_>, found: &mut Vec<Violation>) {
    let mut keys = BTreeMap::<&str, usize>::new();
    let mut versions = BTreeMap::<&str, usize>::new();
    for result in &case.results {
        *keys.entry(&result.key).or_default() += 1;
        *versions.entry(&result.schema_version).or_default() += 1;
    }
    for (result, rows) in keys.into_iter().filter(|(_, rows)| *rows > 1) {
        found.push(Violation::ResultKeyTwice {
            report: case.key(),
            result: result.to_owned(),
            rows,
        });
    }
    for (version, rows) in versions.into_iter().filter(|(_, rows)| *rows > 1) {
        found.push(Violation::SchemaVersionTwice {
            report: case.key(),
            schema_version: version.to_owned(),
            rows,
        });
    }
}

fn current_rows<'a>(case: &Case<'a>) -> Vec<&'a ResultRow> {
    let results = case.results.iter().copied();
    results
        .filter(|result| result.status == ResultStatus::Current)
        .collect()
}

/// At most one result of a report is current, and it is the one that the report names. An erased
/// report may have neither.
fn current(case: &Case<'_>, found: &mut Vec<Violation>) {
    let rows = current_rows(case);
    if rows.len() > 1 {
        found.push(Violation::CurrentTwice {
            report: case.key(),
            rows: rows.len(),
        });
        return;
    }
    let current = rows.first().map(|result| result.key.clone());
    let named = case.report.current_result.clone();
    if current != named {
        found.push(Violation::CurrentElsewhere {
            report: case.key(),
            named,
            current,
        });
    }
}

/// A report whose job committed, or about which a person decided, has a current result.
fn settled(case: &Case<'_>, found: &mut Vec<Violation>) {
    let has_none = case.report.current_result.is_none() && current_rows(case).is_empty();
    let Some(job) = case.current_job() else {
        return;
    };
    if has_none && (job.ended(Ending::Committed) || job.ended(Ending::Decided)) {
        found.push(Violation::SettledWithoutResult {
            report: case.key(),
            job: job.id,
        });
    }
}

fn committed<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a Attempt> {
    let attempts = case.attempts.iter().copied();
    attempts.filter(|attempt| attempt.committed())
}

/// A result names, by number and token, an attempt of its report that was committed under its
/// schema version, and the one with the greatest token of those.
///
/// A value that a person put there (`correct`) may name an attempt that failed, or none, as there
/// may be no other.
fn provenance(case: &Case<'_>, result: &ResultRow, found: &mut Vec<Violation>) {
    let corrected = case.decisions_to(DecisionKind::Correct).next().is_some();
    let named = case.attempts.iter().any(|attempt| {
        Some(attempt.number) == result.attempt
            && attempt.token == result.token
            && (corrected || is_of(attempt, result))
    });
    if !(named || corrected && result.attempt.is_none()) {
        found.push(Violation::ResultOfNoCommit {
            report: case.key(),
            result: result.key.clone(),
            attempt: result.attempt,
            token: result.token,
        });
        return;
    }
    if let Some(attempt) = result.candidate_attempt
        && !committed(case).any(|it| it.number == attempt && is_of(it, result))
    {
        found.push(Violation::CandidateOfNoCommit {
            report: case.key(),
            result: result.key.clone(),
            attempt,
        });
        return;
    }
    let of_result = committed(case).filter(|attempt| is_of(attempt, result));
    if let Some(newest) = of_result.max_by_key(|attempt| attempt.token)
        && newest.token > result.token
        && !stands(case, result, newest)
    {
        found.push(Violation::StaleResult {
            report: case.key(),
            result: result.key.clone(),
            token: result.token,
            newest: newest.token,
        });
    }
}

/// Whether an attempt committed an answer of a result's schema version.
fn is_of(attempt: &Attempt, result: &ResultRow) -> bool {
    attempt.committed() && attempt.schema_version == result.schema_version
}

/// Whether a result may stay though a newer answer was committed: a person decided (`accept`,
/// `correct`, `dismiss`) after that commit, or did before it, and the answer is the result's
/// candidate. Of an erased report nobody can tell any more.
fn stands(case: &Case<'_>, result: &ResultRow, newest: &Attempt) -> bool {
    let is_candidate = result.candidate_attempt == Some(newest.number);
    let kinds = [
        DecisionKind::Accept,
        DecisionKind::Correct,
        DecisionKind::Dismiss,
    ];
    let mut decisions = kinds.into_iter().flat_map(|kind| case.decisions_to(kind));
    decisions.any(|decision| {
        let after = newest
            .ended_ms
            .is_some_and(|ended| ended <= decision.decided_ms);
        after || is_candidate || case.is_erased()
    })
}

/// What was committed is there (unless the report is erased), and was committed before anything
/// else of the report was granted: its token was the newest then.
fn commits(case: &Case<'_>, found: &mut Vec<Violation>) {
    for attempt in committed(case) {
        let is_its = |result: &&ResultRow| result.schema_version == attempt.schema_version;
        if !case.is_erased() && !case.results.iter().any(is_its) {
            found.push(Violation::CommitWithoutResult {
                report: case.key(),
                attempt: attempt.number,
            });
        }
        let too_late = |newer: &&&Attempt| {
            newer.token > attempt.token
                && attempt
                    .ended_ms
                    .is_some_and(|ended| ended > newer.started_ms)
        };
        if let Some(newer) = case.attempts.iter().find(too_late) {
            found.push(Violation::CommittedUnderOldToken {
                report: case.key(),
                attempt: attempt.number,
                newer: newer.number,
            });
        }
    }
}

/// After a commit the same job goes on only if it was opened again: no later attempt of it follows,
/// and it is not left unfinished, unless a decision that asks for another attempt (`retry`) lies
/// between. A replay leaves no decision; it counts where the report's jobs have had more budgets
/// than such decisions explain.
fn reopened(case: &Case<'_>, found: &mut Vec<Violation>) {
    let budgets: i64 = case.jobs.iter().map(|job| job.rounds - 1).sum();
    let replays = usize::try_from(budgets - case.retries()).unwrap_or(0);
    let unasked = case.jobs.iter().flat_map(|job| went_on(case, job));
    found.extend(unasked.skip(replays));
}

/// Where a job went on after a commit and no decision lies between.
fn went_on(case: &Case<'_>, job: &Job) -> Vec<Violation> {
    let attempts: Vec<&Attempt> = case.attempts_of(job).collect();
    let followers = attempts.iter().skip(1).map(Some).chain([None]);
    let unasked = attempts.iter().zip(followers).filter(|(attempt, next)| {
        let goes_on = next.is_some() || job.state.is_unfinished();
        let began = next.map_or(i64::MAX, |next| next.started_ms);
        let between = |at| attempt.ended_ms.is_some_and(|ended| ended <= at) && at <= began;
        let mut retries = case.decisions_to(DecisionKind::Retry);
        attempt.committed() && goes_on && !retries.any(|retry| between(retry.decided_ms))
    });
    let violations = unasked.map(|(attempt, next)| match next {
        Some(next) => Violation::WentOn {
            report: case.key(),
            attempt: attempt.number,
            next: next.number,
        },
        None => Violation::ResultAndUnfinished {
            report: case.key(),
            attempt: attempt.number,
            job: job.id,
            state: job.state,
        },
    });
    violations.collect()
}
