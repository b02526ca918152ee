//! Results that are not the one answer of the newest grant.

use fencepost_history::{
    AttemptOutcome, DecisionKind, EventKind, History, JobState, ResultStatus, Violation,
};

use super::{broken, committed, in_review};
use crate::story::{
    FIRST, OTHER_CLASSIFIER, OTHER_SCHEMA, Story, attempt, key, report, result_key,
};

/// All of them.
pub(super) fn all() -> Vec<Violation> {
    [
        results(),
        current_results(),
        tokens(),
        old_tokens(),
        candidates(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn two_schemas(story: &mut Story, key: &str) {
    committed(story, key);
    story.replay(key, OTHER_SCHEMA);
    committed(story, key);
}

fn results() -> Vec<Violation> {
    vec![
        broken(
            in_review,
            |history, _| {
                let mut told = history.events.last().unwrap().clone();
                told.kind = EventKind::ResultFinal;
                told.sequence = 3;
                told.result = Some(key(9));
                history.events.push(told);
            },
            |report| Violation::FinalOfNothing { report, event: 3 },
        ),
        broken(
            two_schemas,
            |history, _| {
                let first = history.results[0].key.clone();
                history
                    .events
                    .retain(|event| event.result.as_deref() != Some(&first));
                history.events.last_mut().unwrap().sequence = 2;
                history.results[0].key = history.results[1].key.clone();
            },
            |report| Violation::ResultKeyTwice {
                result: result_key(&report, OTHER_SCHEMA.schema),
                report,
                rows: 2,
            },
        ),
        broken(
            |story, key| {
                committed(story, key);
                story.replay(key, OTHER_CLASSIFIER);
                committed(story, key);
            },
            |history, _| {
                let mut older = history.results[0].clone();
                older.key = key(9);
                older.status = ResultStatus::History;
                history.results.push(older);
            },
            |report| Violation::SchemaVersionTwice {
                report,
                schema_version: FIRST.schema.to_owned(),
                rows: 2,
            },
        ),
    ]
}

fn current_results() -> Vec<Violation> {
    vec![
        broken(
            two_schemas,
            |history, _| history.results[0].status = ResultStatus::Current,
            |report| Violation::CurrentTwice { report, rows: 2 },
        ),
        broken(
            two_schemas,
            |history, key| {
                let older = result_key(key, FIRST.schema);
                report(history, key).current_result = Some(older);
            },
            |report| Violation::CurrentElsewhere {
                named: Some(result_key(&report, FIRST.schema)),
                current: Some(result_key(&report, OTHER_SCHEMA.schema)),
                report,
            },
        ),
        broken(
            committed,
            |history, key| {
                report(history, key).current_result = None;
                history.results[0].status = ResultStatus::History;
            },
            |report| Violation::SettledWithoutResult { report, job: 1 },
        ),
        broken(
            |story, key| {
                in_review(story, key);
                story.decide(key, DecisionKind::Accept);
            },
            |history, key| {
                report(history, key).current_result = None;
                history.results[0].status = ResultStatus::History;
            },
            |report| Violation::SettledWithoutResult { report, job: 1 },
        ),
        broken(
            in_review,
            |history, key| {
                report(history, key).current_result = None;
                history.results.clear();
            },
            |report| Violation::CommitWithoutResult { report, attempt: 1 },
        ),
    ]
}

/// Lets the first attempt end after the second was granted.
pub(super) fn late(history: &mut History, key: &str) -> i64 {
    let newer = attempt(history, key, 2).started_ms;
    attempt(history, key, 1).ended_ms = Some(newer + 1);
    newer
}

fn tokens() -> Vec<Violation> {
    let of_lost_attempt = |report: String| Violation::ResultOfNoCommit {
        result: result_key(&report, FIRST.schema),
        report,
        attempt: Some(1),
        token: 1,
    };
    vec![
        // The worker that was taken over wrote last, whatever its attempt says.
        broken(
            |story, key| {
                story.ask(key);
                committed(story, key);
            },
            |history, _| {
                history.results[0].attempt = Some(1);
                history.results[0].token = 1;
            },
            of_lost_attempt,
        ),
        broken(
            committed,
            |history, _| history.results[0].token = 9,
            |report| Violation::ResultOfNoCommit {
                result: result_key(&report, FIRST.schema),
                report,
                attempt: Some(1),
                token: 9,
            },
        ),
        broken(
            |story, key| {
                committed(story, key);
                story.replay(key, OTHER_CLASSIFIER);
                committed(story, key);
            },
            |history, _| {
                history.results[0].attempt = Some(1);
                history.results[0].token = 1;
            },
            |report| Violation::StaleResult {
                result: result_key(&report, FIRST.schema),
                report,
                token: 1,
                newest: 2,
            },
        ),
        // Of a commit, but of one of another schema version.
        broken(
            two_schemas,
            |history, key| {
                let newest = result_key(key, OTHER_SCHEMA.schema);
                let mut results = history.results.iter_mut();
                let result = results.find(|row| row.key == newest).unwrap();
                result.attempt = Some(1);
                result.token = 1;
            },
            |report| Violation::ResultOfNoCommit {
                result: result_key(&report, OTHER_SCHEMA.schema),
                report,
                attempt: Some(1),
                token: 1,
            },
        ),
    ]
}

fn decided_then_replayed(story: &mut Story, key: &str) {
    in_review(story, key);
    story.decide(key, DecisionKind::Accept);
    let decided = story.history.results[0].clone();
    story.replay(key, OTHER_CLASSIFIER);
    committed(story, key);
    story.history.results[0] = decided;
    story.history.results[0].candidate_attempt = Some(2);
}

fn candidates() -> Vec<Violation> {
    vec![
        broken(
            decided_then_replayed,
            |history, key| {
                let replayed = attempt(history, key, 2);
                replayed.outcome = Some(AttemptOutcome::SchemaInvalid);
            },
            |report| Violation::CandidateOfNoCommit {
                result: result_key(&report, FIRST.schema),
                report,
                attempt: 2,
            },
        ),
        // The newer answer is lost.
        broken(
            decided_then_replayed,
            |history, _| history.results[0].candidate_attempt = None,
            |report| Violation::StaleResult {
                result: result_key(&report, FIRST.schema),
                report,
                token: 1,
                newest: 2,
            },
        ),
        // Nobody decided, so that the newer answer should have replaced the older.
        broken(
            |story, key| {
                committed(story, key);
                story.replay(key, OTHER_CLASSIFIER);
                committed(story, key);
            },
            |history, _| {
                history.results[0].attempt = Some(1);
                history.results[0].token = 1;
                history.results[0].candidate_attempt = Some(2);
            },
            |report| Violation::StaleResult {
                result: result_key(&report, FIRST.schema),
                report,
                token: 1,
                newest: 2,
            },
        ),
        // Only a person can do without an attempt.
        broken(
            committed,
            |history, _| history.results[0].attempt = None,
            |report| Violation::ResultOfNoCommit {
                result: result_key(&report, FIRST.schema),
                report,
                attempt: None,
                token: 1,
            },
        ),
    ]
}

fn old_tokens() -> Vec<Violation> {
    vec![
        broken(
            two_schemas,
            |history, key| {
                late(history, key);
            },
            |report| Violation::CommittedUnderOldToken {
                report,
                attempt: 1,
                newer: 2,
            },
        ),
        broken(
            |story, key| {
                in_review(story, key);
                story.decide(key, DecisionKind::Retry);
                committed(story, key);
            },
            // The person asked before the commit, not after it.
            |history, key| history.decisions[0].decided_ms = attempt(history, key, 1).started_ms,
            |report| Violation::WentOn {
                report,
                attempt: 1,
                next: 2,
            },
        ),
        broken(
            |story, key| {
                in_review(story, key);
                story.decide(key, DecisionKind::Retry);
                committed(story, key);
            },
            // Nor after the grant that it is to explain.
            |history, key| {
                history.decisions[0].decided_ms = attempt(history, key, 2).started_ms + 1;
            },
            |report| Violation::WentOn {
                report,
                attempt: 1,
                next: 2,
            },
        ),
        broken(
            |story, key| {
                in_review(story, key);
                story.decide(key, DecisionKind::Retry);
            },
            |history, key| history.decisions[0].decided_ms = attempt(history, key, 1).started_ms,
            |report| Violation::ResultAndUnfinished {
                report,
                attempt: 1,
                job: 1,
                state: JobState::Accepted,
            },
        ),
    ]
}
