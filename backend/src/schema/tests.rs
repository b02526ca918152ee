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
fn what_is_not_one_json_value_is_a_syntax_error_with_its_place() {
    let long = format!("{GOOD}{}", " ".repeat(ANSWER_BYTES_MAX));
    let deep = format!("{{\"a\":\n{}{}}}", "[".repeat(32), "]".repeat(32));
    for (text, fault, place) in [
        ("", Syntax::Empty, None),
        (" \n", Syntax::Empty, None),
        ("```json\n \n```", Syntax::Empty, None),
        (long.as_str(), Syntax::TooLong, None),
        (&deep, Syntax::TooDeep, Some("line 2, column 32")),
        (r#"{"a":1,}"#, Syntax::NotJson, Some("line 1, column 8")),
        (r#"{"a":NaN}"#, Syntax::NotJson, Some("line 1, column 6")),
        ("{}\n {}", Syntax::NotJson, Some("line 2, column 2")),
        ("Here it is: {}", Syntax::NotJson, Some("line 1, column 1")),
        ("{} as you see", Syntax::NotJson, Some("line 1, column 4")),
        (
            "{\"a\":\"x\ny\"}",
            Syntax::NotJson,
            Some("line 1, column 8"),
        ),
        ("{'a':1}", Syntax::NotJson, Some("line 1, column 2")),
        (
            "{\"a\":1 /* one */}",
            Syntax::NotJson,
            Some("line 1, column 8"),
        ),
        ("{\"a\":1", Syntax::NotJson, Some("line 1, column 6")),
        (
            r#"{"a":1,"\u0061":2}"#,
            Syntax::DuplicateMember,
            Some("line 1, column 15"),
        ),
        (
            r#"{"b":{"c":1,"c":2}}"#,
            Syntax::DuplicateMember,
            Some("line 1, column 15"),
        ),
        (
            "{\"a\":\n1e400}",
            Syntax::NumberOutOfRange,
            Some("line 2, column 5"),
        ),
        (
            r#"{"a":"\ud800"}"#,
            Syntax::LoneSurrogate,
            Some("line 1, column 13"),
        ),
        (
            r#"{"b":{"\ud800":1,"\ud801":2}}"#,
            Syntax::LoneSurrogate,
            Some("line 1, column 14"),
        ),
    ] {
        let Err(Invalid::Syntax(error)) = open().read(text) else {
            panic!("{text:.40}")
        };
        let found = error.place.map(|place| place.to_string());
        assert_eq!(
            (error.fault, found.as_deref()),
            (fault, place),
            "{text:.40}"
        );
    }
}

#[test]
fn depth_is_counted_in_containers_and_not_in_strings() {
    let nested = |levels: usize| {
        let inner = format!("{}{}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        format!("{{\"a\":{inner}}}")
    };
    assert!(open().read(&nested(ANSWER_DEPTH_MAX)).is_ok());
    let Err(Invalid::Syntax(error)) = open().read(&nested(ANSWER_DEPTH_MAX + 1)) else {
        panic!("it is too deep")
    };
    assert_eq!(error.fault, Syntax::TooDeep);
    let text = format!("{{\"a\":\"\\\"{}\"}}", "[".repeat(99));
    assert!(open().read(&text).is_ok());
}

#[test]
fn one_fence_around_the_whole_answer_is_taken_away_and_told() {
    for fenced in [
        format!("```json\n{GOOD}\n```"),
        format!("```\r\n{GOOD}\r\n```\r\n"),
        format!("\n  ``` JSON \n\n{GOOD}\n  ```\n\n"),
        format!("\u{feff}```json\n{GOOD}\n```"),
    ] {
        let report = moderation().read(&fenced).unwrap();
        assert_eq!(
            (report.canonical(), report.wrapping()),
            (GOOD, Wrapping::Fenced)
        );
    }
    assert_eq!(moderation().read(GOOD).unwrap().wrapping(), Wrapping::Bare);
    for other in [
        format!("```json\n{GOOD}"),
        format!("{GOOD}\n```"),
        format!("```json\n{GOOD}```"),
        format!("```json {GOOD}\n```"),
        format!("```json\n```json\n{GOOD}\n```\n```"),
        format!("Here it is:\n```json\n{GOOD}\n```"),
        format!("```json\n{GOOD}\n```\nThat is all."),
        format!("```json\n{GOOD}\n```\n```json\n{GOOD}\n```"),
        format!("``\n{GOOD}\n``"),
    ] {
        let Err(Invalid::Syntax(error)) = moderation().read(&other) else {
            panic!("{other}")
        };
        assert_eq!(error.fault, Syntax::NotJson, "{other}");
    }
}

#[test]
fn what_is_wrong_inside_a_fence_is_placed_in_the_whole_answer() {
    let Err(invalid) = moderation().read("\n```json\n{\n\"a\":1,}\n```") else {
        panic!("it is not JSON")
    };
    assert_eq!(
        invalid.to_string(),
        "the answer is not one JSON value: line 4, column 7"
    );
    let fenced = format!("```\n{}\n```", GOOD.replace("spam", "SPAM"));
    let reason = moderation().read(&fenced).unwrap_err().to_string();
    let told = "/properties/category/enum; the answer stood in a fence, which was taken away";
    assert!(reason.ends_with(told), "{reason}");
}

#[test]
fn a_number_without_a_fraction_is_an_integer() {
    let schema = br#"{"type":"object","properties":{"a":{"type":"integer"}}}"#;
    let schema = Schema::compile(schema).unwrap();
    for (written, kept) in [
        ("42", "42"),
        ("42.0", "42"),
        ("4.2e1", "42"),
        ("-0.0", "0"),
        (
            "123456789012345678901234567890",
            "123456789012345678901234567890",
        ),
    ] {
        let report = schema.read(&format!("{{\"a\":{written}}}")).unwrap();
        assert_eq!(report.canonical(), format!("{{\"a\":{kept}}}"));
    }
    for written in ["42.5", "\"42\"", "true"] {
        let invalid = schema.read(&format!("{{\"a\":{written}}}")).unwrap_err();
        assert!(
            matches!(invalid, Invalid::Schema(_)),
            "{written}: {invalid}"
        );
    }
}

#[test]
fn a_schema_is_bounded() {
    let padded = |bytes: usize| {
        let text = r#"{"type":"object","properties":{}}"#;
        format!("{text}{}", " ".repeat(bytes - text.len()))
    };
    assert!(Schema::compile(padded(SCHEMA_BYTES_MAX).as_bytes()).is_ok());
    let error = Schema::compile(padded(SCHEMA_BYTES_MAX + 1).as_bytes()).unwrap_err();
    assert!(matches!(error, SchemaError::TooLong), "{error}");
    let deep = |levels: usize| {
        let not = "{\"not\":".repeat(levels);
        format!(
            "{{\"type\":\"object\",\"properties\":{{\"a\":{not}{{}}{}}}}}",
            "}".repeat(levels)
        )
    };
    assert!(Schema::compile(deep(61).as_bytes()).is_ok());
    let error = Schema::compile(deep(62).as_bytes()).unwrap_err();
    assert!(matches!(error, SchemaError::Json(_)), "{error}");
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
        (format!("[{GOOD}]"), "/type"),
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
