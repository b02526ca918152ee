//! Reviews: one item at most, open exactly while a person has to decide.

use super::case::{Case, are_counted};
use crate::{
    rows::Review,
    violation::Violation,
    words::{Ending, JobState, ReviewStatus},
};

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Violation>) {
    open_item(case, found);
    for review in case.reviews.iter().filter(|review| review.revision < 1) {
        found.push(Violation::Revision {
            report: case.key(),
            revision: review.revision,
        });
    }
    decisions(case, found);
}

/// At most one item of a report is open; one is if and only if the report's current job is ready
/// for review. So one that is erased, superseded, decided or committed has none.
fn open_item(case: &Case<'_>, found: &mut Vec<Violation>) {
    let is_open = |review: &&&Review| review.status == ReviewStatus::Open;
    let items = case.reviews.iter().filter(is_open).count();
    if items > 1 {
        found.push(Violation::OpenReviews {
            report: case.key(),
            items,
        });
    }
    let Some(job) = case.current_job() else {
        return;
    };
    let is_ready = job.state == JobState::ReadyForReview;
    if is_ready && items == 0 {
        found.push(Violation::ReviewMissing {
            report: case.key(),
            job: job.id,
        });
    }
    if !is_ready && items > 0 {
        found.push(if job.ended(Ending::Committed) {
            Violation::ResultAndOpenReview { report: case.key() }
        } else {
            Violation::ReviewForNothing {
                report: case.key(),
                job: job.id,
                state: job.state,
            }
        });
    }
}

/// Decisions are numbered 1..n, and each names a revision that the review item has had.
fn decisions(case: &Case<'_>, found: &mut Vec<Violation>) {
    let numbers: Vec<i64> = case
        .decisions
        .iter()
        .map(|decision| decision.number)
        .collect();
    if !are_counted(&numbers) {
        found.push(Violation::DecisionNumbers {
            report: case.key(),
            numbers,
        });
    }
    let revisions = case.reviews.iter().map(|review| review.revision);
    let newest = revisions.max().unwrap_or(0);
    for decision in &case.decisions {
        if !(1..=newest).contains(&decision.revision_seen) {
            found.push(Violation::DecisionOnNothing {
                report: case.key(),
                decision: decision.number,
                revision: decision.revision_seen,
            });
        }
    }
}
