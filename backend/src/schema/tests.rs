use super::*;

const MODERATION: &str = include_str!("../../schemas/moderation-v3.json");
const GOOD: &str = r#"{"category":"spam","confidence":0.9,"needsHumanReview":false}"#;

fn moderation() -> Schema {
    Schema::compile(MODERATION.as_bytes()).unwrap()
}

/// A schema whose author forgot to close it.
fn open() -> Schema {
    Schema::compile(br#"{"type":"object","properties":{"a":{},"b":{"type":"object"}}}"#).unwrap()
}

#[test]
fn a_good_answer_passes_and_is_kept_canonically() {
    let text =
        "\u{feff} {\"needsHumanReview\":false,\n\"confidence\":9.0e-1,\"category\":\"spam\"}";
    let report = moderation().read(text).unwrap();
    assert_eq!(report.canonical(), GOOD);
    assert_eq!(report.value()["confidence"], 0.9);
}

#[test]
fn a_long_integer_keeps_its_digits() {
    let report = open()
        .read(r#"{"a":123456789012345678901234567890}"#)
        .unwrap();
    assert_eq!(
        report.canonical(),
        r#"{"a":123456789012345678901234567890}"#
    );
}

#[test]
fn what_is_not_one_json_value_is_a_syntax_error() {
    let fenced = format!("```json\n{GOOD}\n```");
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(64), "]".repeat(64));
    let long = format!("{GOOD}{}", " ".repeat(ANSWER_BYTES_MAX));
    let twice = r#"{"category":"spam","categor\u0079":"other"}"#;
    let halves = r#"{"b":{"\ud800":1,"\ud801":2}}"#;
    for (text, expected) in [
        ("", Syntax::Empty),
        (" \n", Syntax::Empty),
        (long.as_str(), Syntax::TooLong),
        (fenced.as_str(), Syntax::NotJson),
        (deep.as_str(), Syntax::NotJson),
        (r#"{"a":1,}"#, Syntax::NotJson),
        (r#"{"a":NaN}"#, Syntax::NotJson),
        ("{} {}", Syntax::NotJson),
        ("Here it is: {}", Syntax::NotJson),
        ("{\"a\":\"x\ny\"}", Syntax::NotJson),
        (twice, Syntax::DuplicateMember),
        (halves, Syntax::DuplicateMember),
        (r#"{"a":1e400}"#, Syntax::NumberOutOfRange),
    ] {
        assert_eq!(
            open().read(text),
            Err(Invalid::Syntax(expected)),
            "{text:.40}"
        );
    }
}

#[test]
fn what_the_schema_does_not_allow_is_named_by_its_place_in_the_schema() {
    for (text, place) in [
        (GOOD.replace("spam", "SPAM"), "/properties/category/enum"),
        (GOOD.replace("0.9", "1.1"), "/properties/confidence/maximum"),
        (
            GOOD.replace("0.9", "-0.1"),
            "/properties/confidence/minimum",
        ),
        (
            GOOD.replace("0.9", "\"0.9\""),
            "/properties/confidence/type",
        ),
        (
            GOOD.replace("false", "null"),
            "/properties/needsHumanReview/type",
        ),
        (GOOD.replace("\"confidence\":0.9,", ""), "/required"),
        (
            GOOD.replace('{', "{\"reasoning\":\"canary\","),
            "/additionalProperties",
        ),
        (format!("[{GOOD}]"), "/additionalProperties, /type"),
    ] {
        let reason = moderation().read(&text).unwrap_err().to_string();
        assert_eq!(
            reason,
            format!("the answer does not satisfy the schema at {place}")
        );
    }
}

#[test]
fn no_reason_quotes_the_answer() {
    for text in [
        r#"{"category":"canary","confidence":"canary","canary":{"canary":1}}"#,
        r#"{"canary":1,"canary":2}"#,
        "canary",
        "\"canary\"",
        "[\"canary\"]",
    ] {
        let invalid = moderation().read(text).unwrap_err();
        assert!(
            !format!("{invalid} {invalid:?}").contains("canary"),
            "{invalid:?}"
        );
    }
}

#[test]
fn a_reason_stays_short() {
    let names: Vec<_> = (0..9).map(|n| format!("\"m{n}\"")).collect();
    let properties: Vec<_> = names
        .iter()
        .map(|n| format!("{n}:{{\"type\":\"null\"}}"))
        .collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{{}}}}}"#,
        properties.join(",")
    );
    let answer: Vec<_> = names.iter().map(|name| format!("{name}:1")).collect();
    let schema = Schema::compile(schema.as_bytes()).unwrap();
    let reason = schema
        .read(&format!("{{{}}}", answer.join(",")))
        .unwrap_err()
        .to_string();
    assert!(
        reason.ends_with("/properties/m3/type and 5 more"),
        "{reason}"
    );
}

#[test]
fn an_additional_member_is_refused_even_where_the_schema_forgot_to() {
    assert!(open().read(r#"{"a":1,"b":{"anything":1}}"#).is_ok());
    let reason = open().read(r#"{"a":1,"c":1}"#).unwrap_err().to_string();
    assert_eq!(
        reason,
        "the answer does not satisfy the schema at /additionalProperties"
    );
}

#[test]
fn a_schema_that_can_not_hold_is_refused_when_it_is_compiled() {
    for (text, part) in [
        ("{", "not usable as JSON"),
        (
            r#"{"type":"object","type":"array"}"#,
            "names a member twice",
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#,
            "2020-12",
        ),
        ("true", "needs"),
        (r#"{"type":"object"}"#, "needs"),
        (r#"{"properties":{}}"#, "needs"),
        (
            r#"{"type":"object","properties":{"a":{"type":"strin"}}}"#,
            "strin",
        ),
        (
            r#"{"type":"object","properties":{"a":{"format":"postcode"}}}"#,
            "postcode",
        ),
        (
            r#"{"type":"object","properties":{"a":{"pattern":"(?=a)b"}}}"#,
            "(?=a)b",
        ),
        (
            r#"{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}"#,
            "127.0.0.1",
        ),
        (
            r#"{"type":"object","properties":{"a":{"$ref":"file:///etc/hostname"}}}"#,
            "file:",
        ),
    ] {
        let error = Schema::compile(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn the_digest_is_of_the_meaning_not_of_the_spelling() {
    let spaced = MODERATION.replace("  ", "\t");
    let other = MODERATION.replace("\"maximum\": 1", "\"maximum\": 2");
    let digest = |text: &str| Schema::compile(text.as_bytes()).unwrap().digest();
    assert_eq!(digest(MODERATION), digest(&spaced));
    assert_ne!(digest(MODERATION), digest(&other));
}

#[test]
fn a_pointer_to_a_member_that_is_not_there_is_noticed() {
    let describes = |text: &str| moderation().describes(&Pointer::new(text).unwrap());
    assert!(describes("/confidence") && describes(""));
    assert!(!describes("/confidense") && !describes("/confidence~1"));
    assert!(open().describes(&Pointer::new("/b/anything").unwrap()));
}
