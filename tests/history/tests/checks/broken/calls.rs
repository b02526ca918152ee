//! Calls that no grant is for.

use fencepost_history::{AttemptOutcome, History, ModelCall, Violation};

use super::broken;
use crate::story::{FIRST, call_key};

/// All of them.
pub(super) fn all() -> Vec<Violation> {
    [calls()].into_iter().flatten().collect()
}

fn ask_again(history: &mut History, call_key: String) {
    history.model_calls.push(ModelCall { call_key, at_ms: 1 });
}

fn calls() -> Vec<Violation> {
    let once_too_often = |n| {
        move |report: String| Violation::MoreCallsThanGrants {
            call_key: call_key(&report, FIRST.classifier, n),
            report,
            calls: 2,
            grants: 1,
        }
    };
    vec![
        // A question that nobody may ask yet.
        broken(
            |story, key| story.ask(key),
            |history, report| ask_again(history, call_key(report, FIRST.classifier, 2)),
            |report| Violation::CallWithoutGrant {
                call_key: call_key(&report, FIRST.classifier, 2),
                calls: 1,
            },
        ),
        // A report that nobody was granted.
        broken(
            |_, _| {},
            |history, report| ask_again(history, call_key(report, FIRST.classifier, 1)),
            |report| Violation::CallWithoutGrant {
                call_key: call_key(&report, FIRST.classifier, 1),
                calls: 1,
            },
        ),
        broken(
            |story, key| story.ask(key),
            |history, report| ask_again(history, call_key(report, FIRST.classifier, 1)),
            once_too_often(1),
        ),
        // The grant of another question is no excuse.
        broken(
            |story, key| {
                story.ask(key);
                story.reject(key, AttemptOutcome::SchemaInvalid);
                story.ask(key);
            },
            |history, report| ask_again(history, call_key(report, FIRST.classifier, 1)),
            once_too_often(1),
        ),
        // Nor is one that was given back before it asked.
        broken(
            |story, key| {
                story.grant(key);
                story.give_back(key, AttemptOutcome::Released);
                story.ask(key);
            },
            |history, report| ask_again(history, call_key(report, FIRST.classifier, 1)),
            once_too_often(1),
        ),
        // Nor is one of another report, nor an erasure.
        broken(
            |story, key| {
                story.ask(key);
                story.erase(key);
            },
            |history, report| ask_again(history, call_key(report, FIRST.classifier, 1)),
            once_too_often(1),
        ),
    ]
}
