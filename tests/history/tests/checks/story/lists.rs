//! Answers that are lists.

use fencepost_history::{
    AttemptOutcome, DecisionKind, Ending, EventKind, Finding, FindingStatus, JobState, ResultRow,
};
use fencepost_identity::key::{FindingKey, ResultKey};

use super::{Story, job};

/// The key of what a rule found.
pub(crate) fn finding_key(result: &str, rule: &str) -> String {
    let result: ResultKey = result.parse().unwrap();
    FindingKey::of(&result, &[rule]).to_string()
}

fn value(rule: &str) -> String {
    format!(r#"{{"rule":"{rule}","line":7}}"#)
}

impl Story {
    /// The answer lists what these rules found, and that is that.
    pub(crate) fn commit_list(&mut self, key: &str, rules: &[&str]) {
        self.end(key, AttemptOutcome::Committed, JobState::Terminal);
        job(&mut self.history, key).ending = Some(Ending::Committed);
        let result = self.put_result(key);
        let attempt = self.result(&result).attempt;
        self.put_list(&result, rules, attempt);
        self.announce_final(key, result);
    }

    /// A person writes what these rules should have found.
    pub(crate) fn correct_list(&mut self, key: &str, rules: &[&str]) {
        self.decide(key, DecisionKind::Correct);
        let mut reports = self.history.reports.iter();
        let report = reports.find(|report| report.key == key).unwrap();
        let result = report.current_result.clone().unwrap();
        self.put_list(&result, rules, None);
    }

    fn result(&mut self, result: &str) -> &mut ResultRow {
        let mut results = self.history.results.iter_mut();
        results.find(|row| row.key == result).unwrap()
    }

    fn put_list(&mut self, result: &str, rules: &[&str], attempt: Option<i64>) {
        let row = self.result(result);
        let values: Vec<_> = rules.iter().map(|rule| value(rule)).collect();
        row.value = Some(format!(r#"{{"found":[{}]}}"#, values.join(",")));
        row.is_list = true;
        let report = row.report.clone();
        let keys: Vec<_> = rules.iter().map(|rule| finding_key(result, rule)).collect();
        let mut withdrawn = false;
        let findings = &mut self.history.findings;
        for finding in findings.iter_mut().filter(|it| it.result == result) {
            if finding.status == FindingStatus::Present && !keys.contains(&finding.key) {
                finding.status = FindingStatus::Withdrawn;
                withdrawn = true;
            }
        }
        findings.retain(|finding| !keys.contains(&finding.key));
        for ((position, key), value) in (1..).zip(keys).zip(values) {
            findings.push(Finding {
                key,
                report: report.clone(),
                result: result.to_owned(),
                position,
                value,
                collapsed: 0,
                status: FindingStatus::Present,
                attempt,
            });
        }
        if withdrawn {
            let result = result.to_owned();
            self.announce(&report, EventKind::FindingWithdrawn, Some(result));
        }
    }
}
