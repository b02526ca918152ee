//! Events that are told wrongly, and what is left over.

use fencepost_history::{
    AttemptOutcome, DecisionKind, EventKind, Finished, JobState, Terms, Violation,
};

use super::{broken, committed, found, in_review};
use crate::story::{FIRST, Story, TERMS, job, key, result_key};

/// All of them.
pub(super) fn all() -> Vec<Violation> {
    [events(), endings()].into_iter().flatten().collect()
}

fn events() -> Vec<Violation> {
    let is_final = |kind| kind == EventKind::ResultFinal;
    vec![
        broken(
            committed,
            |history, _| history.events.last_mut().unwrap().sequence = 3,
            |report| Violation::EventNumbers {
                report,
                numbers: vec![1, 3],
            },
        ),
        broken(
            |_, _| {},
            |history, key| history.events.retain(|event| event.report != key),
            |report| Violation::AcceptedAnnounced { report, times: 0 },
        ),
        broken(
            committed,
            |history, key| {
                let of_report = history.events.iter().find(|event| event.report == key);
                let mut again = of_report.unwrap().clone();
                again.sequence = 3;
                history.events.push(again);
            },
            |report| Violation::AcceptedAnnounced { report, times: 2 },
        ),
        broken(
            committed,
            |history, _| {
                let mut again = history.events.last().unwrap().clone();
                again.sequence = 3;
                history.events.push(again);
            },
            |report| Violation::FinalTwice {
                result: result_key(&report, FIRST.schema),
                report,
                times: 2,
            },
        ),
        broken(
            committed,
            |history, _| history.events.retain(|event| !is_final(event.kind)),
            |report| Violation::FinalMissing {
                result: result_key(&report, FIRST.schema),
                report,
            },
        ),
        broken(
            |story, key| {
                in_review(story, key);
                story.decide(key, DecisionKind::Accept);
            },
            |history, _| history.events.retain(|event| !is_final(event.kind)),
            |report| Violation::FinalMissing {
                result: result_key(&report, FIRST.schema),
                report,
            },
        ),
    ]
}

fn finished(tell: impl FnOnce(&mut Story, &str), expected: Violation) -> Violation {
    let mut story = Story::default();
    let key = story.accept(1);
    tell(&mut story, &key);
    let terms = Terms {
        finished: Finished::Expected,
        ..TERMS
    };
    found(&story.history, &terms, expected)
}

fn endings() -> Vec<Violation> {
    vec![
        broken(
            |story, key| story.erase(key),
            |history, key| {
                let mut revived = job(history, key).clone();
                revived.id = 3;
                revived.state = JobState::Accepted;
                revived.ending = None;
                history.jobs.push(revived);
            },
            |report| Violation::ErasedAndUnfinished {
                report,
                job: 3,
                state: JobState::Accepted,
            },
        ),
        finished(
            |story, key| {
                story.ask(key);
                story.reject(key, AttemptOutcome::SchemaInvalid);
            },
            Violation::Unfinished {
                report: key(1),
                job: 1,
                state: JobState::ValidationRejected,
            },
        ),
        finished(
            |story, key| {
                committed(story, key);
                job(&mut story.history, key).set_aside = Some("unreadable".to_owned());
            },
            Violation::SetAside {
                report: key(1),
                job: 1,
            },
        ),
    ]
}
