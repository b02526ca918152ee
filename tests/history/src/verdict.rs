//! What a check came to.

use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
};

use crate::{
    rows::History,
    violation::Violation,
    words::{AttemptOutcome, EventKind, ReviewStatus},
};

/// How much there was to check: a run that did nothing is sound too, and proves nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Different reports that clients were promised.
    pub acknowledged: usize,
    /// Reports.
    pub reports: usize,
    /// Jobs that a worker still has something to do for.
    pub unfinished: usize,
    /// Questions that reached a model.
    pub model_calls: usize,
    /// Grants.
    pub grants: usize,
    /// Those that count.
    pub charged: usize,
    /// Those that a later grant cut off.
    pub lost: usize,
    /// Those whose answer was committed.
    pub commits: usize,
    /// Results.
    pub results: usize,
    /// Review items.
    pub reviews: usize,
    /// Those that are open.
    pub open_reviews: usize,
    /// Decisions.
    pub decisions: usize,
    /// Events.
    pub events: usize,
    /// Those that announce a final result.
    pub finals: usize,
}

impl Counts {
    pub(crate) fn of(history: &History) -> Self {
        let promised = history
            .acknowledgements
            .iter()
            .filter(|ack| ack.is_promise());
        let keys: BTreeSet<&str> = promised.map(|ack| ack.key.as_str()).collect();
        let grants = || history.attempts.iter();
        let ended = |how| {
            grants()
                .filter(move |attempt| attempt.outcome == Some(how))
                .count()
        };
        let open = |status| status == ReviewStatus::Open;
        let is_final = |kind| kind == EventKind::ResultFinal;
        Self {
            acknowledged: keys.len(),
            reports: history.reports.len(),
            unfinished: history
                .jobs
                .iter()
                .filter(|job| job.state.is_unfinished())
                .count(),
            model_calls: history.model_calls.len(),
            grants: history.attempts.len(),
            charged: grants().filter(|attempt| attempt.charged).count(),
            lost: ended(AttemptOutcome::LeaseLost),
            commits: ended(AttemptOutcome::Committed),
            results: history.results.len(),
            reviews: history.reviews.len(),
            open_reviews: history
                .reviews
                .iter()
                .filter(|item| open(item.status))
                .count(),
            decisions: history.decisions.len(),
            events: history.events.len(),
            finals: history
                .events
                .iter()
                .filter(|event| is_final(event.kind))
                .count(),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} reports ({} acknowledged), {} grants ({} charged, {} lost), {} model calls, \
             {} commits, {} results, {} review items ({} open), {} decisions, {} events \
             ({} final), {} unfinished",
            self.reports,
            self.acknowledged,
            self.grants,
            self.charged,
            self.lost,
            self.model_calls,
            self.commits,
            self.results,
            self.reviews,
            self.open_reviews,
            self.decisions,
            self.events,
            self.finals,
            self.unfinished,
        )
    }
}

/// What a check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What must not be, report by report.
    pub violations: Vec<Violation>,
    /// How much was checked.
    pub counts: Counts,
}

impl Verdict {
    /// Whether everything holds.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.violations.is_empty()
    }

    /// The verdict with the story of each report that something is wrong with, of the first `most`
    /// of them.
    #[must_use]
    pub fn explain(&self, history: &History, most: usize) -> String {
        let mut text = format!("{self}\n");
        let mut told = BTreeSet::new();
        for report in self.violations.iter().filter_map(Violation::report) {
            if told.len() == most {
                break;
            }
            if told.insert(report) {
                text.push_str(&history.describe(report));
            }
        }
        text
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_sound() {
            return write!(f, "sound: {}", self.counts);
        }
        let mut lines = String::new();
        for violation in &self.violations {
            write!(lines, "\n{violation}")?;
        }
        write!(
            f,
            "{} violations in {}{lines}",
            self.violations.len(),
            self.counts
        )
    }
}
