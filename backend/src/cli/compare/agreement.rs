//! How far two extractors say the same: what is counted and named, never what they said.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_identity::key::ReportKey;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::judge::Judgement;

/// What a valid answer says, as far as answers can be compared.
pub(super) enum Said {
    /// A value that has members.
    Object(Map<String, Value>),
    /// Any other value.
    Other(Value),
    /// A list of findings, each by what recognizes it: their prose is never the same.
    Findings(BTreeSet<Vec<String>>),
}

impl Said {
    /// Nothing, where the answer would not be taken.
    pub(super) fn of(judgement: Judgement) -> Option<Self> {
        let Judgement::Valid {
            value, findings, ..
        } = judgement
        else {
            return None;
        };
        if let Some(findings) = findings {
            let fingerprints = findings.into_iter().map(|finding| finding.fingerprint);
            return Some(Self::Findings(fingerprints.collect()));
        }
        if let Ok(members) = serde_json::from_str(&value) {
            return Some(Self::Object(members));
        }
        serde_json::from_str(&value).ok().map(Self::Other)
    }
}

/// How far two of them agree, over the reports to which both gave a valid answer.
#[derive(Serialize)]
pub(super) struct Agreement {
    pub(super) extractors: [String; 2],
    pub(super) both_valid: u64,
    /// How many answers say the same; of findings, the same ones whatever their prose.
    pub(super) equal: u64,
    /// Member by member of answers that are objects.
    pub(super) members: BTreeMap<String, Member>,
    /// Of answers that list findings.
    pub(super) findings: Option<Findings>,
    /// The reports about which they differ, the newest first.
    pub(super) different: Vec<Different>,
}

/// One member of the answers.
#[derive(Default, Serialize)]
pub(super) struct Member {
    pub(super) equal: u64,
    /// Also where one of the answers has no such member.
    pub(super) different: u64,
}

/// The findings of both, counted.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct Findings {
    pub(super) both: u64,
    pub(super) only_first: u64,
    pub(super) only_second: u64,
}

/// A report about which they differ.
#[derive(Serialize)]
pub(super) struct Different {
    pub(super) report: String,
    /// In which members, where the answers are objects.
    pub(super) members: Vec<String>,
    /// How many findings only one of them has.
    pub(super) findings: Option<Findings>,
}

impl Agreement {
    pub(super) fn new(first: &str, second: &str) -> Self {
        Self {
            extractors: [first.to_owned(), second.to_owned()],
            both_valid: 0,
            equal: 0,
            members: BTreeMap::new(),
            findings: None,
            different: Vec::new(),
        }
    }

    /// Counts what both said of one report.
    pub(super) fn count(&mut self, report: ReportKey, first: &Said, second: &Said) {
        self.both_valid += 1;
        let (equal, members, findings) = match (first, second) {
            (Said::Object(first), Said::Object(second)) => {
                let members = self.count_members(first, second);
                (members.is_empty(), members, None)
            }
            (Said::Findings(first), Said::Findings(second)) => {
                let found = Findings::of(first, second);
                self.findings.get_or_insert_default().add(found);
                (first == second, Vec::new(), Some(found))
            }
            (Said::Other(first), Said::Other(second)) => (first == second, Vec::new(), None),
            (Said::Object(_) | Said::Other(_) | Said::Findings(_), _) => (false, Vec::new(), None),
        };
        if equal {
            self.equal += 1;
        } else {
            self.different.push(Different {
                report: report.to_string(),
                members,
                findings,
            });
        }
    }

    /// The members in which they differ.
    fn count_members(
        &mut self,
        first: &Map<String, Value>,
        second: &Map<String, Value>,
    ) -> Vec<String> {
        let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
        let mut different = Vec::new();
        for name in names {
            let member = self.members.entry(name.clone()).or_default();
            if first.get(name) == second.get(name) {
                member.equal += 1;
            } else {
                member.different += 1;
                different.push(name.clone());
            }
        }
        different
    }
}

impl Findings {
    fn of(first: &BTreeSet<Vec<String>>, second: &BTreeSet<Vec<String>>) -> Self {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Self {
            both: count(first.intersection(second).count()),
            only_first: count(first.difference(second).count()),
            only_second: count(second.difference(first).count()),
        }
    }

    fn add(&mut self, more: Self) {
        self.both += more.both;
        self.only_first += more.only_first;
        self.only_second += more.only_second;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::Finding;

    const REPORT: ReportKey = ReportKey::from_bytes([7; 32]);

    fn said(value: &Value, findings: Option<&[&str]>) -> Said {
        let finding = |mark: &&str| Finding {
            fingerprint: vec!["rule".to_owned(), (*mark).to_owned()],
            value: "{}".to_owned(),
            collapsed: 0,
        };
        let judgement = Judgement::Valid {
            value: value.to_string(),
            findings: findings.map(|marks| marks.iter().map(finding).collect()),
            doubt: None,
            remark: None,
        };
        Said::of(judgement).unwrap()
    }

    #[test]
    fn values_are_compared_member_by_member() {
        let mut agreement = Agreement::new("a", "b");
        let value = |value: &Value| said(value, None);
        let spam = json!({"category": "spam", "confidence": 0.9});
        agreement.count(REPORT, &value(&spam), &value(&spam));
        let other = json!({"category": "other", "confidence": 0.9, "note": null});
        agreement.count(REPORT, &value(&spam), &value(&other));
        agreement.count(REPORT, &value(&json!([1])), &value(&json!([1])));
        agreement.count(REPORT, &value(&json!([1])), &value(&spam));
        let told = serde_json::to_value(&agreement).unwrap();
        assert_eq!(
            told,
            json!({
                "extractors": ["a", "b"], "both_valid": 4, "equal": 2,
                "members": {
                    "category": {"equal": 1, "different": 1},
                    "confidence": {"equal": 2, "different": 0},
                    "note": {"equal": 0, "different": 1},
                },
                "findings": null,
                "different": [
                    {"report": REPORT.to_string(), "members": ["category", "note"],
                     "findings": null},
                    {"report": REPORT.to_string(), "members": [], "findings": null},
                ],
            })
        );
    }

    #[test]
    fn findings_are_the_same_whatever_their_prose() {
        let mut agreement = Agreement::new("a", "b");
        let list = |prose: &str, marks: &[&str]| said(&json!({"findings": [prose]}), Some(marks));
        agreement.count(REPORT, &list("one", &["x", "y"]), &list("two", &["y", "x"]));
        agreement.count(
            REPORT,
            &list("one", &["x", "y"]),
            &list("two", &["y", "z", "q"]),
        );
        let told = serde_json::to_value(&agreement).unwrap();
        assert_eq!(told["both_valid"], 2);
        assert_eq!(told["equal"], 1);
        assert_eq!(told["members"], json!({}));
        assert_eq!(
            told["findings"],
            json!({"both": 3, "only_first": 1, "only_second": 2})
        );
        assert_eq!(
            told["different"],
            json!([{
                "report": REPORT.to_string(), "members": [],
                "findings": {"both": 1, "only_first": 1, "only_second": 2},
            }])
        );
    }
}
