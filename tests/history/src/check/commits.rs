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
    for job in &case.jobs {
        reopened(case, job, found);
    }
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
/// A value that a person put there (`correct`) may name an attempt that failed, as there may be no
/// other; and what a person decided a machine does not replace, so that it may be older than the
/// last commit.
fn provenance(case: &Case<'_>, result: &ResultRow, found: &mut Vec<Violation>) {
    let decided = |kind| case.decisions_to(kind).next().is_some();
    let corrected = decided(DecisionKind::Correct);
    let named = case.attempts.iter().any(|attempt| {
        let committed = attempt.committed() && attempt.schema_version == result.schema_version;
        attempt.number == result.attempt
            && attempt.token == result.token
            && (committed || corrected)
    });
    if !named {
        found.push(Violation::ResultOfNoCommit {
            report: case.key(),
            result: result.key.clone(),
            attempt: result.attempt,
            token: result.token,
        });
        return;
    }
    if corrected || decided(DecisionKind::Accept) {
        return;
    }
    let of_version = committed(case).filter(|it| it.schema_version == result.schema_version);
    let newest = of_version.map(|attempt| attempt.token).max();
    if let Some(newest) = newest.filter(|newest| *newest > result.token) {
        found.push(Violation::StaleResult {
            report: case.key(),
            result: result.key.clone(),
            token: result.token,
            newest,
        });
    }
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
/// between, or a replay gave the job one more budget.
fn reopened(case: &Case<'_>, job: &Job, found: &mut Vec<Violation>) {
    let attempts: Vec<&Attempt> = case.attempts_of(job).collect();
    let followers = attempts.iter().skip(1).map(Some).chain([None]);
    let unasked = attempts.iter().zip(followers).filter(|(attempt, next)| {
        let goes_on = next.is_some() || job.state.is_unfinished();
        let began = next.map_or(i64::MAX, |next| next.started_ms);
        let between = |at| attempt.ended_ms.is_some_and(|ended| ended <= at) && at <= began;
        let mut retries = case.decisions_to(DecisionKind::Retry);
        attempt.committed() && goes_on && !retries.any(|retry| between(retry.decided_ms))
    });
    let replays = case.rounds(job) - 1 - case.retries();
    for (attempt, next) in unasked.skip(usize::try_from(replays).unwrap_or(0)) {
        found.push(match next {
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
    }
}
