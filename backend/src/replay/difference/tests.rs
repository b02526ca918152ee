use std::sync::Arc;

use super::*;
use crate::{
    findings::{FindingsRules, KeyField},
    policy::Policy,
    schema::Schema,
};

/// The difference of two values does not depend on what an answer has to be.
fn judge(kind: Kind) -> Judge {
    let schema = Schema::compile(br#"{"type":"object","properties":{}}"#);
    Judge {
        kind,
        schema: Arc::new(schema.unwrap()),
        prompt: String::new(),
        policy: Policy::default(),
        review_when: Vec::new(),
    }
}

fn between(then: Option<&str>, now: &str) -> Result<Vec<Change>, Refusal> {
    super::between(&judge(Kind::Classification), b"{}", then, now)
}

/// Findings that are recognized by their rule.
fn of_findings(then: &str, now: &str) -> Vec<String> {
    let pointer = |text: &str| Pointer::new(text).unwrap();
    let rules = FindingsRules {
        list: pointer("/list"),
        rule: pointer("/rule"),
        severity: pointer("/severity"),
        severities: vec!["low".to_owned()],
        location: None,
        key: vec![KeyField::Rule],
    };
    let judge = judge(Kind::Findings(Box::new(rules)));
    lines(&super::between(&judge, b"{}", Some(then), now).unwrap())
}

fn told(then: Option<&str>, now: &str) -> Vec<String> {
    lines(&between(then, now).unwrap())
}

fn lines(changes: &[Change]) -> Vec<String> {
    let told = changes.iter().map(|change| {
        let side = |value: &Option<String>| value.clone().unwrap_or_default();
        let (then, now) = (side(&change.then), side(&change.now));
        format!("{} {} {then} {now}", change.word(), change.pointer)
    });
    told.collect()
}

#[test]
fn members_are_told_by_pointer() {
    let then = r#"{"a":1,"b":{"c":true,"d":"x"},"e":[1,2,3],"f":null}"#;
    let now = r#"{"a":1.0,"b":{"c":false,"g":{}},"e":[1,4],"f":0}"#;
    assert_eq!(
        told(Some(then), now),
        [
            "changed /b/c true false",
            "removed /b/d \"x\" ",
            "added /b/g  {}",
            "changed /e/1 2 4",
            "removed /e/2 3 ",
            "changed /f null 0",
        ]
    );
    assert_eq!(told(Some(then), then), [""; 0]);
}

#[test]
fn where_nothing_was_everything_is_added() {
    let now = r#"{"a/b~":"x","c":[1]}"#;
    assert_eq!(told(None, now), ["added /a~1b~0  \"x\"", "added /c  [1]"]);
}

#[test]
fn every_digit_counts_and_the_kind_of_a_value_does() {
    assert_eq!(
        told(
            Some(r#"{"n":9007199254740993}"#),
            r#"{"n":9007199254740992}"#
        ),
        ["changed /n 9007199254740993 9007199254740992"]
    );
    assert_eq!(
        told(Some(r#"{"n":[]}"#), r#"{"n":{}}"#),
        ["changed /n [] {}"]
    );
    assert!(between(Some("{"), "{}").is_err());
}

#[test]
fn nothing_of_a_value_is_in_its_debug_form() {
    let changes = between(None, r#"{"canary":"canary"}"#).unwrap();
    assert_eq!(format!("{changes:?}"), "[added]");
}

#[test]
fn a_finding_is_compared_with_itself_wherever_it_stands() {
    let then = r#"{"list":[{"rule":"a","text":"x"},{"rule":"b"},{"rule":"c"}]}"#;
    let again = r#"{"list":[{"rule":"c"},{"rule":"a","text":"x"},{"rule":"b"}]}"#;
    assert_eq!(of_findings(then, again), [""; 0]);
    let now = r#"{"list":[{"rule":"d"},{"rule":"c"},{"rule":"a","text":"y"}]}"#;
    assert_eq!(
        of_findings(then, now),
        [
            "added /list/0  {\"rule\":\"d\"}",
            "changed /list/2/text \"x\" \"y\"",
            "removed /list/1 {\"rule\":\"b\"} ",
        ]
    );
}

#[test]
fn of_equal_findings_each_is_compared_with_one() {
    let then = r#"{"list":[{"rule":"a","n":1},{"rule":"a","n":2}]}"#;
    let now = r#"{"list":[{"rule":"a","n":1}]}"#;
    assert_eq!(of_findings(then, then), [""; 0]);
    assert_eq!(
        of_findings(then, now),
        ["removed /list/1 {\"n\":2,\"rule\":\"a\"} "]
    );
}
