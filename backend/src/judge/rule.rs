//! When a person has to look at a value that is valid.

use std::fmt;

use fencepost_identity::pointer::Pointer;
use serde_json::Value;

use super::Kind;
use crate::schema::ValidReport;

/// One entry of `review_when`: a member of the value or of a finding, and what makes it a person's
/// matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Which member.
    pub pointer: Pointer,
    /// What is asked of it.
    pub test: Test,
}

/// What a rule asks of a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// It is this value.
    Is(Value),
    /// It is a number below this one, or no number.
    Below(f64),
    /// It is a number above this one, or no number.
    Above(f64),
}

/// The first rule that holds, in the order of the pipeline: for the value, or for one finding of
/// its list.
pub(super) fn first_that_holds<'r>(
    rules: &'r [Rule],
    kind: &Kind,
    report: &ValidReport,
) -> Option<&'r Rule> {
    let value = report.value();
    let judged = match kind {
        Kind::Classification => std::slice::from_ref(value),
        Kind::Findings(of) => {
            let list = value.pointer(of.list.as_str());
            list.and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice)
        }
    };
    let holds = |rule: &&Rule| judged.iter().any(|value| rule.holds(value));
    rules.iter().find(holds)
}

impl Rule {
    fn holds(&self, value: &Value) -> bool {
        let found = value.pointer(self.pointer.as_str());
        // A threshold that nothing can be compared with asks for a person: that is the safe side.
        let number = found.and_then(Value::as_f64);
        match &self.test {
            Test::Is(wanted) => found.is_some_and(|found| same(found, wanted)),
            Test::Below(limit) => number.is_none_or(|number| number < *limit),
            Test::Above(limit) => number.is_none_or(|number| number > *limit),
        }
    }
}

/// Equal as JSON values: 1 and 1.0 are one number.
fn same(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left_number), Some(right_number)) => left == right || left_number == right_number,
        (None, _) | (_, None) => left == right,
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.test {
            Test::Is(wanted) => write!(f, "{} is {wanted}", self.pointer),
            Test::Below(limit) => write!(f, "{} below {limit}", self.pointer),
            Test::Above(limit) => write!(f, "{} above {limit}", self.pointer),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Schema;

    const SCHEMA: &str = r#"{"type":"object","properties":{"c":{},"n":{"type":"object"},"r":{}}}"#;

    fn rule(pointer: &str, test: Test) -> Rule {
        Rule {
            pointer: Pointer::new(pointer).unwrap(),
            test,
        }
    }

    fn holds(rule: Rule, answer: &str) -> bool {
        let report = Schema::compile(SCHEMA.as_bytes())
            .unwrap()
            .read(answer)
            .unwrap();
        first_that_holds(&[rule], &Kind::Classification, &report).is_some()
    }

    #[test]
    fn thresholds_are_exclusive() {
        for (answer, below, above) in [
            (r#"{"c":0.69999999}"#, true, false),
            (r#"{"c":0.7}"#, false, false),
            (r#"{"c":0.70000001}"#, false, true),
            (r#"{"c":1}"#, false, true),
        ] {
            assert_eq!(
                holds(rule("/c", Test::Below(0.7)), answer),
                below,
                "{answer}"
            );
            assert_eq!(
                holds(rule("/c", Test::Above(0.7)), answer),
                above,
                "{answer}"
            );
        }
    }

    #[test]
    fn what_can_not_be_compared_needs_a_person() {
        for answer in ["{}", r#"{"c":"high"}"#, r#"{"c":null}"#] {
            assert!(holds(rule("/c", Test::Below(0.7)), answer), "{answer}");
            assert!(holds(rule("/c", Test::Above(0.7)), answer), "{answer}");
        }
    }

    #[test]
    fn a_value_is_compared_as_json() {
        for (wanted, answer, expected) in [
            (json!(true), r#"{"r":true}"#, true),
            (json!(true), r#"{"r":false}"#, false),
            (json!(true), r#"{"r":"true"}"#, false),
            (json!(true), "{}", false),
            (json!("abuse"), r#"{"r":"abuse"}"#, true),
            (json!(1), r#"{"r":1.0}"#, true),
            (json!(1), r#"{"r":"1"}"#, false),
        ] {
            assert_eq!(
                holds(rule("/r", Test::Is(wanted)), answer),
                expected,
                "{answer}"
            );
        }
        assert!(holds(
            rule("/n/a~1b", Test::Is(json!(1))),
            r#"{"n":{"a/b":1}}"#
        ));
    }

    #[test]
    fn the_first_rule_that_holds_is_named() {
        let rules = [
            rule("/r", Test::Is(json!(true))),
            rule("/c", Test::Below(0.7)),
        ];
        let schema = Schema::compile(SCHEMA.as_bytes()).unwrap();
        let report = schema.read(r#"{"c":0.1,"r":true}"#).unwrap();
        let first = first_that_holds(&rules, &Kind::Classification, &report).unwrap();
        assert_eq!(first.to_string(), "/r is true");
        let report = schema.read(r#"{"c":0.1,"r":false}"#).unwrap();
        let first = first_that_holds(&rules, &Kind::Classification, &report).unwrap();
        assert_eq!(first.to_string(), "/c below 0.7");
    }
}
