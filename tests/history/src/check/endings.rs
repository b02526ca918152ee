//! Events, and what is left to do.

use std::collections::BTreeMap;

use super::{
    Finished, Terms,
    case::{Case, are_counted},
};
use crate::{
    rows::Event,
    violation::Violation,
    words::{Ending, EventKind, JobState},
};

pub(super) fn check(case: &Case<'_>, terms: &Terms, found: &mut Vec<Violation>) {
    if case.current_job().is_none() {
        found.push(Violation::NoCurrentJob { report: case.key() });
    }
    numbers(case, found);
    accepted(case, found);
    finals(case, found);
    erased(case, found);
    match terms.finished {
        Finished::Expected => finished(case, found),
        Finished::NotYet => {}
    }
}

/// Events are numbered 1..n. Of an erased report those that nobody had been told of may be gone,
/// but no number is there twice.
fn numbers(case: &Case<'_>, found: &mut Vec<Violation>) {
    let numbers: Vec<i64> = case.events.iter().map(|event| event.sequence).collect();
    let grow = numbers.is_sorted_by(|number, next| number < next);
    if !(are_counted(&numbers) || case.is_erased() && grow) {
        found.push(Violation::EventNumbers {
            report: case.key(),
            numbers,
        });
    }
}

fn events<'a>(case: &Case<'a>, kind: EventKind) -> impl Iterator<Item = &'a Event> {
    let events = case.events.iter().copied();
    events.filter(move |event| event.kind == kind)
}

/// That a report was accepted is announced once; of an erased one at most once.
fn accepted(case: &Case<'_>, found: &mut Vec<Violation>) {
    let times = events(case, EventKind::ReportAccepted).count();
    if times > 1 || times == 0 && !case.is_erased() {
        found.push(Violation::AcceptedAnnounced {
            report: case.key(),
            times,
        });
    }
}

/// No result is announced as final twice; the current one of a report that is committed or decided
/// is announced. One that waits for a person, or was superseded, may never be.
fn finals(case: &Case<'_>, found: &mut Vec<Violation>) {
    let mut times = BTreeMap::<&str, usize>::new();
    for event in events(case, EventKind::ResultFinal) {
        let is_there = |key: &str| case.results.iter().any(|result| result.key == key);
        match event.result.as_deref() {
            Some(key) if is_there(key) || case.is_erased() => {
                *times.entry(key).or_default() += 1;
            }
            None if case.is_erased() => {}
            Some(_) | None => found.push(Violation::FinalOfNothing {
                report: case.key(),
                event: event.sequence,
            }),
        }
    }
    let settled = |ending| case.current_job().is_some_and(|job| job.ended(ending));
    if (settled(Ending::Committed) || settled(Ending::Decided))
        && let Some(current) = &case.report.current_result
        && !times.contains_key(current.as_str())
    {
        found.push(Violation::FinalMissing {
            report: case.key(),
            result: current.clone(),
        });
    }
    for (result, times) in times.into_iter().filter(|(_, times)| *times > 1) {
        found.push(Violation::FinalTwice {
            report: case.key(),
            result: result.to_owned(),
            times,
        });
    }
}

/// Nothing is left to do for an erased report, by any of its jobs.
fn erased(case: &Case<'_>, found: &mut Vec<Violation>) {
    let left = case
        .jobs
        .iter()
        .filter(|job| job.state != JobState::Terminal);
    for job in left.filter(|_| case.is_erased()) {
        found.push(Violation::ErasedAndUnfinished {
            report: case.key(),
            job: job.id,
            state: job.state,
        });
    }
}

/// Nothing is left to do, and nothing was set aside.
fn finished(case: &Case<'_>, found: &mut Vec<Violation>) {
    for job in &case.jobs {
        if job.state.is_unfinished() {
            found.push(Violation::Unfinished {
                report: case.key(),
                job: job.id,
                state: job.state,
            });
        }
        if job.set_aside.is_some() {
            found.push(Violation::SetAside {
                report: case.key(),
                job: job.id,
            });
        }
    }
}
