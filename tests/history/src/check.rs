//! What must hold of every run.
//!
//! A *grant* is a row of `attempt`; one report's grants are in the order of their numbers. A job is
//! *unfinished* while it is accepted, running or rejected by validation. Erased reports keep their
//! key, their attempts and their token but may have lost results and events; superseded ones may
//! have ended before any result. The files below say of each rule what it asks of those.

mod calls;
mod case;
mod commits;
mod endings;
mod findings;
mod grants;
mod reviews;

use std::collections::BTreeMap;

pub(crate) use calls::questions;
use case::{Case, cases};

use crate::{
    rows::History,
    verdict::{Counts, Verdict},
    violation::Violation,
};

/// What the run was allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The attempts that each job has until a person, or a replay, gives it as many again; of
    /// pipelines that differ, the most.
    pub max_attempts: i64,
    /// Whether anything may be left to do.
    pub finished: Finished,
}

/// Whether anything may be left to do when a history is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Nothing: workers had the time that they needed, and no row was set aside.
    Expected,
    /// The run may have ended anywhere.
    NotYet,
}

/// Checks a history, report by report.
#[must_use]
pub fn check(history: &History, terms: &Terms) -> Verdict {
    let (cases, mut violations) = cases(history);
    lost(history, &cases, &mut violations);
    current_versions(history, &mut violations);
    calls::check(history, &cases, &mut violations);
    for case in cases.values() {
        let mut found = Vec::new();
        grants::check(case, terms, &mut found);
        commits::check(case, &mut found);
        findings::check(case, &mut found);
        reviews::check(case, &mut found);
        endings::check(case, terms, &mut found);
        violations.append(&mut found);
    }
    Verdict {
        violations,
        counts: Counts::of(history),
    }
}

/// Every acknowledged report is there, erased or not.
fn lost(history: &History, cases: &BTreeMap<&str, Case<'_>>, found: &mut Vec<Violation>) {
    let mut times = BTreeMap::<&str, usize>::new();
    for ack in history
        .acknowledgements
        .iter()
        .filter(|ack| ack.is_promise())
    {
        *times.entry(&ack.key).or_default() += 1;
    }
    for (key, times) in times {
        if !cases.contains_key(key) {
            found.push(Violation::Lost {
                report: key.to_owned(),
                times,
            });
        }
    }
}

/// Of the versions of one thing at most one is current; none is where versions have no order.
fn current_versions(history: &History, found: &mut Vec<Violation>) {
    let mut current = BTreeMap::<&[String; 3], Vec<&str>>::new();
    let of_all = history.reports.iter();
    for report in of_all.filter(|report| report.is_current == Some(true)) {
        current.entry(&report.thing).or_default().push(&report.key);
    }
    for keys in current.into_values().filter(|keys| keys.len() > 1) {
        if let Some(first) = keys.first() {
            found.push(Violation::CurrentVersions {
                report: (*first).to_owned(),
                versions: keys.len(),
            });
        }
    }
}
