//! Findings: what a result's answer lists, each once, and nothing else.

use std::collections::BTreeMap;

use serde_json::Value;

use super::case::Case;
use crate::{
    rows::{Finding, ResultRow},
    violation::Violation,
    words::{DecisionKind, EventKind, FindingStatus},
};

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Violation>) {
    once(case, found);
    for finding in &case.findings {
        let mut results = case.results.iter().filter(|it| it.is_list);
        if !results.any(|result| result.key == finding.result) {
            found.push(Violation::FindingOfNoResult {
                report: case.key(),
                finding: finding.key.clone(),
            });
        }
    }
    for result in case.results.iter().filter(|result| result.is_list) {
        let of_result = case.findings.iter().copied();
        let findings: Vec<&Finding> = of_result.filter(|it| it.result == result.key).collect();
        listed(case, result, &findings, found);
        provenance(case, result, &findings, found);
        positions(case, result, &findings, found);
        told(case, result, &findings, found);
    }
    told_of_nothing(case, found);
}

/// At most one finding per key.
fn once(case: &Case<'_>, found: &mut Vec<Violation>) {
    let mut keys = BTreeMap::<&str, usize>::new();
    for finding in &case.findings {
        *keys.entry(&finding.key).or_default() += 1;
    }
    for (finding, rows) in keys.into_iter().filter(|(_, rows)| *rows > 1) {
        found.push(Violation::FindingTwice {
            report: case.key(),
            finding: finding.to_owned(),
            rows,
        });
    }
}

fn is_present(finding: &&&Finding) -> bool {
    finding.status == FindingStatus::Present
}

/// The lists that an answer holds, wherever they are in it: only the pipeline knows which one it
/// is.
fn lists(answer: &Value) -> Vec<&Vec<Value>> {
    match answer {
        Value::Array(items) => {
            let below = items.iter().flat_map(lists);
            std::iter::once(items).chain(below).collect()
        }
        Value::Object(members) => members.values().flat_map(lists).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn parsed(value: &str) -> Value {
    serde_json::from_str(value).unwrap_or(Value::Null)
}

/// What is present is in the answer, what is withdrawn is not, and of a list of the answer none is
/// left out: those of one key count as one, which says how many they are.
fn listed(case: &Case<'_>, result: &ResultRow, findings: &[&Finding], found: &mut Vec<Violation>) {
    let answer = parsed(result.value.as_deref().unwrap_or_default());
    let lists = lists(&answer);
    let mut all_are_there = true;
    for finding in findings {
        let value = parsed(&finding.value);
        let is_there = lists.iter().any(|items| items.contains(&value));
        let (report, finding_key) = (case.key(), finding.key.clone());
        match finding.status {
            FindingStatus::Present if !is_there => {
                all_are_there = false;
                found.push(Violation::FindingNotListed {
                    report,
                    finding: finding_key,
                });
            }
            FindingStatus::Withdrawn if is_there => found.push(Violation::WithdrawnYetListed {
                report,
                finding: finding_key,
            }),
            FindingStatus::Present | FindingStatus::Withdrawn => {}
        }
    }
    let present = findings.iter().filter(is_present);
    let says: i64 = present.map(|finding| finding.collapsed + 1).sum();
    let is_whole = |items: &&Vec<Value>| i64::try_from(items.len()) == Ok(says);
    if all_are_there && !lists.iter().any(is_whole) {
        found.push(Violation::FindingsMissing {
            report: case.key(),
            result: result.key.clone(),
            says,
        });
    }
}

/// What is present came with the answer that the result has, or from a person.
fn provenance(
    case: &Case<'_>,
    result: &ResultRow,
    findings: &[&Finding],
    found: &mut Vec<Violation>,
) {
    let corrected = case.decisions_to(DecisionKind::Correct).next().is_some();
    for finding in findings.iter().filter(is_present) {
        let is_persons = finding.attempt.is_none() && corrected;
        if !is_persons && finding.attempt != result.attempt {
            found.push(Violation::FindingOfNoCommit {
                report: case.key(),
                finding: finding.key.clone(),
                attempt: finding.attempt,
            });
        }
    }
}

/// What is present is numbered 1..n, as in the answer.
fn positions(
    case: &Case<'_>,
    result: &ResultRow,
    findings: &[&Finding],
    found: &mut Vec<Violation>,
) {
    let present = findings.iter().filter(is_present);
    let mut positions: Vec<i64> = present.map(|finding| finding.position).collect();
    positions.sort_unstable();
    if !super::case::are_counted(&positions) {
        found.push(Violation::FindingPositions {
            report: case.key(),
            result: result.key.clone(),
            positions,
        });
    }
}

/// That findings were withdrawn was told.
fn told(case: &Case<'_>, result: &ResultRow, findings: &[&Finding], found: &mut Vec<Violation>) {
    let is_told = case.events.iter().any(|event| {
        event.kind == EventKind::FindingWithdrawn && event.result.as_ref() == Some(&result.key)
    });
    if !is_told && findings.iter().any(|it| !is_present(&it)) {
        found.push(Violation::WithdrawalUntold {
            report: case.key(),
            result: result.key.clone(),
        });
    }
}

/// What was told of can be withdrawn: findings of a result of the report. Of an erased report
/// nobody can tell any more.
fn told_of_nothing(case: &Case<'_>, found: &mut Vec<Violation>) {
    let events = case.events.iter();
    for event in events.filter(|it| it.kind == EventKind::FindingWithdrawn) {
        let mut findings = case.findings.iter();
        let is_of = findings.any(|finding| Some(&finding.result) == event.result.as_ref());
        if !is_of && !case.is_erased() {
            found.push(Violation::WithdrawalOfNothing {
                report: case.key(),
                event: event.sequence,
            });
        }
    }
}
