//! Reviews that wait for nobody, or for somebody who is not told.

use fencepost_history::{DecisionKind, Ending, EventKind, JobState, ReviewStatus, Violation};

use super::{broken, in_review};
use crate::story::{FIRST, job, result_key};

/// All of them.
pub(super) fn all() -> Vec<Violation> {
    [reviews(), decisions()].into_iter().flatten().collect()
}

fn reviews() -> Vec<Violation> {
    vec![
        broken(
            in_review,
            |history, key| {
                let result = Some(result_key(key, FIRST.schema));
                job(history, key).state = JobState::Terminal;
                job(history, key).ending = Some(Ending::Committed);
                let mut told = history.events.last().unwrap().clone();
                told.kind = EventKind::ResultFinal;
                told.sequence += 1;
                told.result = result;
                history.events.push(told);
            },
            |report| Violation::ResultAndOpenReview { report },
        ),
        broken(
            in_review,
            |history, _| history.reviews[0].status = ReviewStatus::Closed,
            |report| Violation::ReviewMissing { report, job: 1 },
        ),
        broken(
            |story, key| {
                in_review(story, key);
                story.supersede(key);
            },
            |history, _| history.reviews[0].status = ReviewStatus::Open,
            |report| Violation::ReviewForNothing {
                report,
                job: 1,
                state: JobState::Terminal,
            },
        ),
        broken(
            in_review,
            |history, _| history.reviews.push(history.reviews[0].clone()),
            |report| Violation::OpenReviews { report, items: 2 },
        ),
        broken(
            in_review,
            |history, _| history.reviews[0].revision = 0,
            |report| Violation::Revision {
                report,
                revision: 0,
            },
        ),
    ]
}

fn decisions() -> Vec<Violation> {
    vec![
        broken(
            |story, key| {
                in_review(story, key);
                story.decide(key, DecisionKind::Accept);
            },
            |history, _| history.decisions[0].number = 2,
            |report| Violation::DecisionNumbers {
                report,
                numbers: vec![2],
            },
        ),
        broken(
            |story, key| {
                in_review(story, key);
                story.decide(key, DecisionKind::Dismiss);
            },
            |history, _| history.decisions[0].revision_seen = 2,
            |report| Violation::DecisionOnNothing {
                report,
                decision: 1,
                revision: 2,
            },
        ),
        broken(
            |story, key| {
                in_review(story, key);
                story.decide(key, DecisionKind::Dismiss);
            },
            |history, _| history.decisions[0].revision_seen = 0,
            |report| Violation::DecisionOnNothing {
                report,
                decision: 1,
                revision: 0,
            },
        ),
    ]
}
