//! What the strict reader takes, what it refuses, and what it keeps.

use fencepost_identity::{canonical::to_canonical, json, refusal::Refusal};
use proptest::prelude::*;

fn canonical(document: &str) -> Result<String, Refusal> {
    json::parse(document.as_bytes()).and_then(|value| to_canonical(&value))
}

#[test]
fn malformed_documents_are_refused() {
    let documents = [
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "[,1]",
        "{\"a\":1,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{'a':1}",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x10",
        "1_000",
        "Infinity",
        "NaN",
        "tru",
        "nul",
        "TRUE",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u+123\"",
        "\"a\nb\"",
        "\"a\tb\"",
        "\"\u{0}\"",
        "[1 2]",
        "1 2",
        "[1]]",
        "// x\n1",
        "\u{a0}1",
        "\u{feff}\u{feff}1",
        "\u{feff}",
        "{\"a\":1 \"b\":2}",
        "[\"a\" : 1]",
    ];
    for document in documents {
        assert_eq!(
            json::parse(document.as_bytes()),
            Err(Refusal::InvalidJson),
            "{document:?}"
        );
    }
    for bytes in [
        &b"\"\xff\""[..],
        b"\"\xed\xa0\x80\"",
        b"\xef\xbb",
        b"\xfe\xff\x001",
    ] {
        assert_eq!(json::parse(bytes), Err(Refusal::InvalidJson), "{bytes:?}");
    }
}

#[test]
fn canonical_form() {
    let cases = [
        (" [ 1 , true , null ] ", "[1,true,null]"),
        (
            "\"\\/\\b\\f\\n\\r\\t\\\"\\\\\"",
            "\"/\\b\\f\\n\\r\\t\\\"\\\\\"",
        ),
        ("\"\\u001F\\u007f\\u20ac\"", "\"\\u001f\u{7f}€\""),
        (
            "{\"b\":1,\"a\":{\"d\":[],\"c\":{}}}",
            "{\"a\":{\"c\":{},\"d\":[]},\"b\":1}",
        ),
        ("-0", "0"),
        ("-0.0", "0"),
        (
            "123456789012345678901234567890",
            "123456789012345678901234567890",
        ),
        ("1E2", "100"),
        ("333333333.33333329", "333333333.3333333"),
        ("4.50", "4.5"),
        ("2e-3", "0.002"),
        ("1e-27", "1e-27"),
        ("5e-324", "5e-324"),
        ("1e-400", "0"),
        ("1e23", "1e+23"),
        ("\"\\ud83d\\ude00\"", "\"😀\""),
        ("\"\\ude00\\ud83d\"", "\"\u{fffd}\u{fffd}\""),
        ("\"\\ud83d\\ud83d\\ude00\"", "\"\u{fffd}😀\""),
        ("\"\\ud83dx\\ude00\"", "\"\u{fffd}x\u{fffd}\""),
    ];
    for (document, expected) in cases {
        assert_eq!(canonical(document).as_deref(), Ok(expected), "{document}");
    }
    assert_eq!(canonical("1e400"), Err(Refusal::NumberOutOfRange));
    assert_eq!(canonical("-1.5e999"), Err(Refusal::NumberOutOfRange));
}

#[test]
fn names_that_only_look_alike_are_no_duplicates() {
    assert!(canonical("{\"a\":1,\"A\":2,\"\\u00e1\":3,\"a\\u0301\":4}").is_ok());
    // Half surrogates are told apart from each other and from U+FFFD, in any order of members.
    let one = canonical("{\"\\ud800\":1,\"\\ud801\":2,\"\\ufffd\":3}");
    let other = canonical("{\"\\ufffd\":3,\"\\ud801\":2,\"\\ud800\":1}");
    assert!(one.is_ok());
    assert_eq!(one, other);
    for twice in [
        "{\"\":1,\"\":2}",
        "{\"\\ud800\":1,\"\\uD800\":1}",
        "[{\"a\":{\"b\":1,\"b\":1}}]",
    ] {
        assert_eq!(canonical(twice), Err(Refusal::DuplicateMember), "{twice}");
    }
}

#[test]
fn depth_is_bounded_before_the_stack_is() {
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert!(json::parse(nested(64).as_bytes()).is_ok());
    assert_eq!(
        json::parse(nested(65).as_bytes()),
        Err(Refusal::InvalidJson)
    );
    assert_eq!(
        json::parse("[".repeat(1_000_000).as_bytes()),
        Err(Refusal::InvalidJson)
    );
    assert_eq!(
        json::parse("{\"a\":".repeat(1_000_000).as_bytes()),
        Err(Refusal::InvalidJson)
    );
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>()
            .prop_filter("finite", |f| f.is_finite())
            .prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _outcome = json::parse(&bytes).and_then(|value| to_canonical(&value));
    }

    #[test]
    fn nor_do_bytes_that_look_like_json(text in "[\\[\\]{}:,\"\\\\u0-9a-fA-FeE.+\\- dD]{0,60}") {
        let _outcome = canonical(&text);
    }

    /// The canonical form is read as the same value, and is its own canonical form.
    #[test]
    fn canonical_is_stable(value in any_json()) {
        let once = canonical(&value.to_string()).unwrap();
        prop_assert_eq!(canonical(&once).unwrap(), once.clone());
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(canonical(&pretty).unwrap(), once.clone());
        let again: serde_json::Value = serde_json::from_str(&once).unwrap();
        prop_assert_eq!(canonical(&again.to_string()).unwrap(), once);
    }

    /// What another parser takes, this one takes too, but for duplicates and depth.
    #[test]
    fn agrees_with_another_parser(text in "[\\[\\]{}:,\"0-9eE.+\\-tn ]{0,24}") {
        let other = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        let ours = match json::parse(text.as_bytes()) {
            Ok(_) | Err(Refusal::DuplicateMember) => true,
            Err(_) => false,
        };
        // The other one refuses what overflows a double, which is no question of grammar here.
        prop_assert!(ours == other || (ours && text.contains(['e', 'E'])), "{text}");
    }
}
