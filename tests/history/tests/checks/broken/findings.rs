//! Findings that are not what the answer lists.

use fencepost_history::{EventKind, FindingStatus, Violation};

use super::broken;
use crate::story::{FIRST, OTHER_CLASSIFIER, Story, lists::finding_key, result_key};

/// All of them.
pub(super) fn all() -> Vec<Violation> {
    [rows(), answers(), events()]
        .into_iter()
        .flatten()
        .collect()
}

fn listed(story: &mut Story, key: &str) {
    story.ask(key);
    story.commit_list(key, &["a", "b"]);
}

/// Of two findings one is withdrawn.
fn withdrawn(story: &mut Story, key: &str) {
    listed(story, key);
    story.replay(key, OTHER_CLASSIFIER);
    story.ask(key);
    story.commit_list(key, &["b"]);
}

fn finding(report: &str, rule: &str) -> String {
    finding_key(&result_key(report, FIRST.schema), rule)
}

fn rows() -> Vec<Violation> {
    vec![
        broken(
            listed,
            |history, _| {
                // As it was left by an answer that also listed it twice.
                let mut again = history.findings[1].clone();
                again.position = 3;
                again.status = FindingStatus::Present;
                history.findings[1].collapsed = -1;
                history.findings.push(again);
            },
            |report| Violation::FindingTwice {
                finding: finding(&report, "b"),
                report,
                rows: 2,
            },
        ),
        broken(
            listed,
            |history, _| {
                let mut stray = history.findings[0].clone();
                stray.key = "e".repeat(64);
                stray.result = "f".repeat(64);
                history.findings.push(stray);
            },
            |report| Violation::FindingOfNoResult {
                report,
                finding: "e".repeat(64),
            },
        ),
        broken(
            listed,
            |history, _| history.findings[1].position = 3,
            |report| Violation::FindingPositions {
                result: result_key(&report, FIRST.schema),
                report,
                positions: vec![1, 3],
            },
        ),
        broken(
            withdrawn,
            |history, _| history.findings.last_mut().unwrap().attempt = Some(1),
            |report| Violation::FindingOfNoCommit {
                finding: finding(&report, "b"),
                report,
                attempt: Some(1),
            },
        ),
        broken(
            listed,
            |history, _| history.findings[0].attempt = None,
            |report| Violation::FindingOfNoCommit {
                finding: finding(&report, "a"),
                report,
                attempt: None,
            },
        ),
    ]
}

fn answers() -> Vec<Violation> {
    vec![
        broken(
            listed,
            |history, _| history.findings[0].value = "{}".to_owned(),
            |report| Violation::FindingNotListed {
                finding: finding(&report, "a"),
                report,
            },
        ),
        broken(
            withdrawn,
            |history, _| {
                let present = history.findings[1].value.clone();
                history.findings[0].value = present;
            },
            |report| Violation::WithdrawnYetListed {
                finding: finding(&report, "a"),
                report,
            },
        ),
        // Half of a list.
        broken(
            listed,
            |history, _| history.findings.truncate(1),
            |report| Violation::FindingsMissing {
                result: result_key(&report, FIRST.schema),
                report,
                says: 1,
            },
        ),
        // None of it.
        broken(
            listed,
            |history, _| history.findings.clear(),
            |report| Violation::FindingsMissing {
                result: result_key(&report, FIRST.schema),
                report,
                says: 0,
            },
        ),
    ]
}

fn events() -> Vec<Violation> {
    vec![
        broken(
            withdrawn,
            |history, _| {
                let mut events = history.events.iter_mut();
                let told = events.find(|it| it.kind == EventKind::FindingWithdrawn);
                // Another one, so that the numbers are right.
                let told = told.unwrap();
                (told.kind, told.result) = (EventKind::ReviewOpened, None);
            },
            |report| Violation::WithdrawalUntold {
                result: result_key(&report, FIRST.schema),
                report,
            },
        ),
        broken(
            super::committed,
            |history, _| {
                let mut told = history.events.last().unwrap().clone();
                told.kind = EventKind::FindingWithdrawn;
                told.sequence = 3;
                history.events.push(told);
            },
            |report| Violation::WithdrawalOfNothing { report, event: 3 },
        ),
    ]
}
