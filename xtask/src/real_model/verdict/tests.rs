use serde_json::json;

use super::*;

fn rules() -> Rules {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Rules::read(&root.join("backend/schemas/moderation-v3.json"), 3).unwrap()
}

/// A committed report, changed in some places before it is read.
fn story(label: &str, changes: &[(&str, Value)]) -> Story {
    let mut told = json!({
        "report": {
            "state": "terminal", "outcome": "committed", "charged_count": "1",
            "result": {"value":
                {"category": "other", "confidence": 0.9, "needsHumanReview": false}},
            "review": null,
        },
        "attempts": {"attempts": [{"charged": true, "outcome": "committed", "call_key": "k1"}]},
    });
    for (place, value) in changes {
        *told.pointer_mut(place).unwrap() = value.clone();
    }
    Story::read(label, &told).unwrap()
}

fn holds(label: &str, changes: &[(&str, Value)]) -> bool {
    story(label, changes).judge(&rules()).is_ok()
}

fn call(key: &str, status: u16) -> Call {
    Call {
        key: Some(key.to_owned()),
        status,
        milliseconds: Some(1),
    }
}

const VALUE: &str = "/report/result/value";
const REVIEW: &str = "/report/review";
const STATE: &str = "/report/state";

#[test]
fn a_valid_record_holds_and_any_other_value_does_not() {
    assert!(holds("a", &[]));
    for (member, value) in [
        ("category", json!("harmless")),
        ("confidence", json!(1.5)),
        ("confidence", json!("0.9")),
        ("needsHumanReview", json!(null)),
    ] {
        assert!(
            !holds("a", &[(&format!("{VALUE}/{member}"), value)]),
            "{member}"
        );
    }
    let more = json!({"category": "other", "confidence": 1, "needsHumanReview": false, "a": 1});
    assert!(!holds("a", &[(VALUE, more)]));
}

#[test]
fn a_person_is_asked_exactly_where_the_rules_say() {
    let asked = || {
        [
            (STATE, json!("ready_for_review")),
            (REVIEW, json!({"reason": "policy"})),
        ]
    };
    assert!(!holds("a", &asked()));
    assert!(!holds(HIDDEN, &[]));
    assert!(holds(HIDDEN, &asked()));
    for (member, value) in [
        ("category", json!("self_harm")),
        ("confidence", json!(0.69)),
        ("needsHumanReview", json!(true)),
    ] {
        let place = format!("{VALUE}/{member}");
        let change = (place.as_str(), value);
        assert!(!holds("a", std::slice::from_ref(&change)), "{member}");
        let [state, review] = asked();
        assert!(holds("a", &[change, state, review]), "{member}");
    }
}

#[test]
fn without_a_record_there_is_a_question_to_a_person() {
    let invalid = |count| {
        let attempt = json!({"charged": true, "outcome": "schema_invalid", "call_key": null});
        [
            ("/report/result", json!(null)),
            ("/attempts/attempts", json!(vec![attempt; count])),
            ("/report/charged_count", json!(count.to_string())),
        ]
    };
    let spent = [
        (STATE, json!("ready_for_review")),
        (REVIEW, json!({"reason": "spent"})),
    ];
    let with =
        |count, more: &[(&'static str, Value)]| holds("a", &[&invalid(count)[..], more].concat());
    assert!(with(3, &spent));
    assert!(!with(4, &spent), "more attempts than there may be");
    assert!(!with(3, &[]), "it came to nothing");
    assert!(with(0, &[("/report/outcome", json!("superseded"))]));
    assert!(!holds(
        "a",
        &[
            ("/report/result", json!(null)),
            spent[0].clone(),
            spent[1].clone()
        ]
    ));
    assert!(!holds("a", &[("/report/charged_count", json!("2"))]));
    assert!(!holds(
        "a",
        &[("/attempts/attempts/0/outcome", json!(null))]
    ));
}

#[test]
fn each_kept_answer_has_its_call_and_no_grant_has_two() {
    let stories = [
        story("a", &[]),
        story("b", &[("/attempts/attempts/0/call_key", json!("k2"))]),
    ];
    let made = |calls: &[Call]| calls_match(&stories, calls).is_ok();
    assert!(made(&[call("k1", 200), call("k2", 200)]));
    assert!(made(&[call("k1", 200), call("k2", 503), call("k2", 200)]));
    assert!(!made(&[call("k1", 200)]));
    assert!(!made(&[call("k1", 200), call("k2", 200), call("k2", 200)]));
    assert!(!made(&[call("k1", 200), call("k2", 200), call("k3", 200)]));
    assert!(!made(&[call("k1", 200), call("k2", 400)]));
    let lost = json!([
        {"charged": true, "outcome": "timeout", "call_key": null},
        {"charged": true, "outcome": "committed", "call_key": "k1"},
    ]);
    let stories = [story("a", &[("/attempts/attempts", lost)])];
    assert!(calls_match(&stories, &[call("k1", 499), call("k1", 200)]).is_ok());
    // The one that was given up was answered in that moment.
    assert!(calls_match(&stories, &[call("k1", 200), call("k1", 200)]).is_ok());
    assert!(calls_match(&stories, &[call("k1", 200)]).is_ok());
}

#[test]
fn the_rules_are_those_of_the_shipped_pipeline() {
    let shipped = include_str!("../../../../fencepost.toml");
    let max_attempts = format!("max_attempts = {}\n", crate::up::ATTEMPTS_MAX);
    let below = format!("{{ pointer = \"/confidence\", below = {CONFIDENCE_MIN:?} }}");
    for rule in [max_attempts.as_str(), &below] {
        assert!(shipped.contains(rule), "{rule}");
    }
    let rules = shipped.matches("\n  { pointer = \"/").count();
    assert_eq!(rules, 3, "a rule that is not known here");
}
