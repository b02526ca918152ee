mod property;

use super::*;

const MODERATION: &str = include_str!("../../../schemas/moderation-v3.json");
const ALL: [Dialect; 5] = [
    Dialect::OpenAiStrict,
    Dialect::Lenient,
    Dialect::Anthropic,
    Dialect::Bedrock,
    Dialect::Gemini,
];

fn moderation() -> Value {
    serde_json::from_str(MODERATION).unwrap()
}

/// An object with this one member, which is required.
fn with(member: &Value) -> Value {
    json!({ "type": "object", "properties": { "m": member }, "required": ["m"] })
}

fn member(dialect: Dialect, member: &Value) -> Value {
    project(&with(member), dialect).unwrap()["properties"]["m"].take()
}

fn problem(schema: &Value, dialect: Dialect) -> (Problem, String) {
    let refused = project(schema, dialect).unwrap_err();
    (refused.problem(), refused.place().to_owned())
}

#[test]
fn the_shipped_schema_is_taken_by_all() {
    let category = json!({
        "type": "string", "enum": ["abuse", "spam", "self_harm", "other"],
        "description": "What the text is, by its most serious part.",
    });
    for dialect in ALL {
        let sent = project(&moderation(), dialect).unwrap();
        assert_eq!(sent["additionalProperties"], false);
        assert_eq!(sent.get("$schema"), None);
        let confidence = &sent["properties"]["confidence"];
        let bounds = "How sure the classification is: 0 is a guess, 1 is certain.";
        match dialect {
            Dialect::Lenient | Dialect::Gemini => {
                assert_eq!(confidence["maximum"], 1);
                assert_eq!(confidence["description"], bounds);
            }
            Dialect::OpenAiStrict | Dialect::Anthropic | Dialect::Bedrock => {
                assert_eq!(confidence.get("maximum"), None);
                let told = format!("{bounds} (maximum: 1, minimum: 0)");
                assert_eq!(confidence["description"], told);
            }
        }
        if dialect != Dialect::Lenient {
            assert_eq!(sent["properties"]["category"], category, "{dialect:?}");
        }
    }
}

#[test]
fn each_provider_gets_the_keywords_that_it_knows() {
    use Dialect::{Anthropic, Gemini, Lenient, OpenAiStrict};
    let text = |told: &str| json!({ "type": "string", "description": told });
    let short = json!({ "type": "string", "maxLength": 9, "default": "x", "examples": ["y"] });
    let date = json!({ "type": "string", "format": "date" });
    let email = json!({ "type": "string", "format": "email" });
    let part = json!({ "type": "string", "pattern": "a" });
    let list =
        json!({ "type": "array", "items": { "type": "null" }, "minItems": 1, "maxItems": 2 });
    let one = json!({ "const": "a" });
    let either = json!({ "oneOf": [{ "type": "null" }, { "type": "integer" }] });
    let any = json!({ "anyOf": [{ "type": "null" }, { "type": "integer" }] });
    let truth = json!({ "enum": [true, null] });
    for (dialect, given, sent) in [
        (OpenAiStrict, &short, text("(maxLength: 9)")),
        (Lenient, &short, json!({ "type": "string", "maxLength": 9 })),
        (OpenAiStrict, &date, text("(format: \"date\")")),
        (Anthropic, &date, date.clone()),
        (Anthropic, &email, email.clone()),
        (Lenient, &date, date.clone()),
        (Lenient, &email, text("(format: \"email\")")),
        (Gemini, &date, text("(format: \"date\")")),
        (Lenient, &part, text("(pattern: \"a\")")),
        (
            Anthropic,
            &list,
            json!({
                "type": "array", "items": { "type": "null" }, "minItems": 1,
                "description": "(maxItems: 2)",
            }),
        ),
        (Gemini, &list, list.clone()),
        (
            OpenAiStrict,
            &one,
            json!({ "type": "string", "const": "a" }),
        ),
        (Gemini, &one, json!({ "type": "string", "enum": ["a"] })),
        (Lenient, &one, one.clone()),
        (OpenAiStrict, &either, any.clone()),
        (Anthropic, &either, any.clone()),
        (Gemini, &either, any.clone()),
        (Lenient, &either, either.clone()),
        (
            OpenAiStrict,
            &truth,
            json!({ "type": ["boolean", "null"], "enum": [true, null] }),
        ),
        (
            Gemini,
            &truth,
            json!({ "type": ["boolean", "null"], "description": "(enum: [true,null])" }),
        ),
        (Lenient, &json!(true), json!({})),
        (Lenient, &json!({ "not": { "type": "null" } }), json!({})),
        (
            Lenient,
            &json!({ "properties": { "a": {} }, "anyOf": [{ "required": ["a"] }] }),
            json!({ "properties": { "a": {} } }),
        ),
    ] {
        assert_eq!(member(dialect, given), sent, "{dialect:?} {given}");
    }
}

#[test]
fn what_only_narrows_is_left_out_for_all() {
    let schema = json!({
        "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"],
        "additionalProperties": false, "not": { "required": ["b"] }, "if": {}, "then": {},
        "else": {}, "dependentRequired": {}, "dependentSchemas": {}, "propertyNames": {},
        "unevaluatedProperties": false, "x-own": 1, "$id": "https://schemas.test/a",
    });
    let left = json!({
        "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"],
        "additionalProperties": false,
    });
    for dialect in ALL {
        assert_eq!(project(&schema, dialect).unwrap(), left, "{dialect:?}");
    }
}

#[test]
fn strict_objects_require_every_member_and_close_themselves() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "object", "properties": { "b": { "type": ["integer", "null"] } } },
            "c": { "anyOf": [{ "$ref": "#/$defs/d" }, { "type": "null" }] },
        },
        "required": ["a"],
        "$defs": { "d": { "type": "object", "properties": {}, "additionalProperties": false } },
    });
    let sent = project(&schema, Dialect::OpenAiStrict).unwrap();
    assert_eq!(sent["required"], json!(["a", "c"]));
    assert_eq!(sent["properties"]["a"]["required"], json!(["b"]));
    assert_eq!(sent["properties"]["a"]["additionalProperties"], false);
    assert_eq!(sent["$defs"]["d"]["required"], json!([]));
    assert_eq!(sent["properties"]["c"], schema["properties"]["c"]);
    // Anthropic takes an absent member.
    let sent = project(&schema, Dialect::Anthropic).unwrap();
    assert_eq!(sent["required"], json!(["a"]));
    assert_eq!(sent["properties"]["a"]["additionalProperties"], false);
}

#[test]
fn what_would_mean_something_else_is_refused_by_its_place() {
    use Dialect::{Anthropic, Gemini, OpenAiStrict};
    let optional = json!({ "type": "object", "properties": { "a/b": { "type": "integer" } } });
    let choice = json!({ "type": "object", "properties": {}, "anyOf": [] });
    let unlisted = json!({ "type": "object", "properties": {}, "required": ["a"] });
    for (dialect, schema, expected, place) in [
        (
            OpenAiStrict,
            optional,
            Problem::OptionalMember,
            "/properties/a~1b",
        ),
        (OpenAiStrict, choice, Problem::ChoiceAtTheTop, ""),
        (Anthropic, unlisted, Problem::UnlistedMember, ""),
        (Gemini, with(&json!({})), Problem::NoType, "/properties/m"),
        (
            Anthropic,
            with(&json!(true)),
            Problem::NoType,
            "/properties/m",
        ),
        (
            OpenAiStrict,
            with(&json!({ "type": "array" })),
            Problem::NoItems,
            "/properties/m",
        ),
        (
            Anthropic,
            with(&json!({ "type": "object" })),
            Problem::OpenMembers,
            "/properties/m",
        ),
        (
            OpenAiStrict,
            with(&json!({ "type": "object", "additionalProperties": { "type": "integer" } })),
            Problem::OpenMembers,
            "/properties/m",
        ),
    ] {
        let found = problem(&schema, dialect);
        assert_eq!(found, (expected, place.to_owned()), "{dialect:?} {schema}");
    }
}

#[test]
fn keywords_that_would_be_lost_are_refused_by_their_place() {
    use Dialect::{Anthropic, Gemini, OpenAiStrict};
    for (dialect, schema, expected, place) in [
        (
            OpenAiStrict,
            with(&json!({ "anyOf": [], "properties": {} })),
            Problem::ChoiceBesideMembers,
            "/properties/m",
        ),
        (
            OpenAiStrict,
            with(&json!({ "type": "array", "items": { "allOf": [] } })),
            Problem::Keyword("allOf"),
            "/properties/m/items",
        ),
        (
            Anthropic,
            with(&json!({ "type": "object", "properties": {}, "patternProperties": {} })),
            Problem::Keyword("patternProperties"),
            "/properties/m",
        ),
        (
            OpenAiStrict,
            with(&json!({ "anyOf": [{ "type": "null" }, { "oneOf": [], "anyOf": [] }] })),
            Problem::TwoChoices,
            "/properties/m/anyOf/1",
        ),
        (
            Gemini,
            with(&json!({ "$ref": "#/$defs/a", "minimum": 1 })),
            Problem::BesideReference,
            "/properties/m",
        ),
        (
            OpenAiStrict,
            with(&json!({ "$ref": "#/properties/m" })),
            Problem::ReferenceElsewhere,
            "/properties/m",
        ),
        (
            Dialect::Lenient,
            with(&json!({ "type": "null", "$id": "https://schemas.test/a" })),
            Problem::Keyword("$id"),
            "/properties/m",
        ),
    ] {
        let found = problem(&schema, dialect);
        assert_eq!(found, (expected, place.to_owned()), "{dialect:?} {schema}");
    }
}

#[test]
fn an_object_that_may_hold_anything_stays_one_where_that_can_be_said() {
    let open = json!({ "type": "object", "additionalProperties": {} });
    let any = json!({ "type": "object" });
    assert_eq!(member(Dialect::Gemini, &open), any);
    assert_eq!(member(Dialect::Lenient, &open), open);
}

#[test]
fn what_explains_a_reference_is_left_out_and_the_reference_stays() {
    let described = json!({ "$ref": "#/$defs/a", "description": "x", "title": "y" });
    for dialect in [Dialect::OpenAiStrict, Dialect::Anthropic, Dialect::Gemini] {
        let sent = member(dialect, &described);
        assert_eq!(sent, json!({ "$ref": "#/$defs/a" }), "{dialect:?}");
    }
    assert_eq!(member(Dialect::Lenient, &described), described);
    let elsewhere = member(Dialect::Lenient, &json!({ "$ref": "#/properties/a" }));
    assert_eq!(elsewhere, json!({}));
}

#[test]
fn a_refusal_names_provider_place_and_remedy() {
    let refused = project(&with(&json!({})), Dialect::Gemini).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "Gemini can't take the schema at /properties/m: nothing says of which type it is; give it \
         `type`, `enum`, `const` or `anyOf`"
    );
}

/// An array of an array and so on, below the object at the top.
fn nested(arrays: usize) -> Value {
    let innermost = json!({ "type": "null" });
    let array = |inner: Value, _| json!({ "type": "array", "items": inner });
    with(&(0..arrays).fold(innermost, array))
}

#[test]
fn the_limits_are_those_of_the_strict_dialect() {
    let object = |members: usize| {
        let member = |n: usize| (format!("m{n}"), json!({ "type": ["null", "string"] }));
        let members: Map<_, _> = (0..members).map(member).collect();
        json!({ "type": "object", "properties": members })
    };
    let values = |count: usize| with(&json!({ "enum": (0..count).collect::<Vec<_>>() }));
    let characters = |count: usize| with(&json!({ "const": "é".repeat(count - 1) }));
    for (within, above, limit) in [
        (nested(9), nested(10), Limit::Levels),
        (object(5_000), object(5_001), Limit::Properties),
        (values(1_000), values(1_001), Limit::Values),
        (characters(120_000), characters(120_001), Limit::Characters),
    ] {
        assert!(project(&within, Dialect::OpenAiStrict).is_ok(), "{limit:?}");
        assert_eq!(
            problem(&above, Dialect::OpenAiStrict).0,
            Problem::Limit(limit)
        );
        for dialect in [Dialect::Lenient, Dialect::Anthropic, Dialect::Gemini] {
            assert!(project(&above, dialect).is_ok(), "{limit:?} {dialect:?}");
        }
    }
}
