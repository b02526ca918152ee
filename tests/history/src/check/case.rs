//! The rows of one report, in order.

use std::collections::BTreeMap;

use crate::{
    rows::{Attempt, Decision, Event, Finding, History, Job, Report, ResultRow, Review},
    violation::Violation,
    words::{DecisionKind, Ending},
};

/// A report and what hangs on it.
pub(super) struct Case<'a> {
    pub(super) report: &'a Report,
    pub(super) jobs: Vec<&'a Job>,
    /// By number.
    pub(super) attempts: Vec<&'a Attempt>,
    pub(super) results: Vec<&'a ResultRow>,
    pub(super) findings: Vec<&'a Finding>,
    pub(super) reviews: Vec<&'a Review>,
    /// By number.
    pub(super) decisions: Vec<&'a Decision>,
    /// By number.
    pub(super) events: Vec<&'a Event>,
}

impl<'a> Case<'a> {
    fn new(report: &'a Report) -> Self {
        Self {
            report,
            jobs: Vec::new(),
            attempts: Vec::new(),
            results: Vec::new(),
            findings: Vec::new(),
            reviews: Vec::new(),
            decisions: Vec::new(),
            events: Vec::new(),
        }
    }

    pub(super) fn key(&self) -> String {
        self.report.key.clone()
    }

    /// The job whose state is the report's.
    pub(super) fn current_job(&self) -> Option<&'a Job> {
        let id = self.report.current_job?;
        self.jobs.iter().copied().find(|job| job.id == id)
    }

    pub(super) fn is_erased(&self) -> bool {
        self.current_job()
            .is_some_and(|job| job.ended(Ending::Erased))
    }

    pub(super) fn attempts_of(&self, job: &Job) -> impl Iterator<Item = &'a Attempt> {
        let id = job.id;
        let attempts = self.attempts.iter().copied();
        attempts.filter(move |attempt| attempt.job == id)
    }

    pub(super) fn decisions_to(&self, kind: DecisionKind) -> impl Iterator<Item = &'a Decision> {
        let decisions = self.decisions.iter().copied();
        decisions.filter(move |decision| decision.kind == kind)
    }

    /// How many times somebody asked for another attempt.
    pub(super) fn retries(&self) -> i64 {
        count(self.decisions_to(DecisionKind::Retry))
    }
}

/// Sorts rows by report. Found on the way: two reports under one key, which one row and its
/// primary key should rule out, rows of a report that is not there, and attempts of a job that the
/// report does not have.
pub(super) fn cases(history: &History) -> (BTreeMap<&str, Case<'_>>, Vec<Violation>) {
    let mut cases = BTreeMap::<&str, Case<'_>>::new();
    let mut twice = BTreeMap::<&str, usize>::new();
    for report in &history.reports {
        if cases.insert(&report.key, Case::new(report)).is_some() {
            *twice.entry(&report.key).or_insert(1) += 1;
        }
    }
    let twice = twice
        .into_iter()
        .map(|(report, rows)| Violation::ReportTwice {
            report: report.to_owned(),
            rows,
        });
    let mut orphans: Vec<Violation> = twice.collect();

    macro_rules! sort_in {
        ($rows:ident, $what:expr) => {
            for row in &history.$rows {
                match cases.get_mut(row.report.as_str()) {
                    Some(case) => case.$rows.push(row),
                    None => orphans.push(Violation::Orphan {
                        report: row.report.clone(),
                        what: $what(row),
                    }),
                }
            }
        };
    }
    sort_in!(jobs, |row: &Job| format!("job {}", row.id));
    sort_in!(attempts, |row: &Attempt| format!("attempt {}", row.number));
    sort_in!(results, |row: &ResultRow| format!("result {}", row.key));
    sort_in!(findings, |row: &Finding| format!("finding {}", row.key));
    sort_in!(reviews, |_: &Review| "a review item".to_owned());
    sort_in!(decisions, |row: &Decision| format!(
        "decision {}",
        row.number
    ));
    sort_in!(events, |row: &Event| format!("event {}", row.sequence));

    for case in cases.values_mut() {
        case.jobs.sort_by_key(|job| job.id);
        case.attempts.sort_by_key(|attempt| attempt.number);
        case.decisions.sort_by_key(|decision| decision.number);
        case.events.sort_by_key(|event| event.sequence);
        for attempt in &case.attempts {
            if !case.jobs.iter().any(|job| job.id == attempt.job) {
                orphans.push(Violation::Orphan {
                    report: case.key(),
                    what: format!("attempt {}", attempt.number),
                });
            }
        }
    }
    (cases, orphans)
}

/// How many there are, in the type that databases count in.
pub(super) fn count<T>(things: impl Iterator<Item = T>) -> i64 {
    things.fold(0, |count, _| count + 1)
}

/// Whether numbers, in order, are 1, 2, 3 and so on.
pub(super) fn are_counted(numbers: &[i64]) -> bool {
    (1..)
        .zip(numbers)
        .all(|(expected, number)| expected == *number)
}
