//! Which keyword each provider knows.
//!
//! What is not listed as known is left out: a keyword that a provider does not know spoils the
//! whole request at some and is ignored by others.

use serde_json::{Map, Value, json};

use super::Dialect;

/// What becomes of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// It is sent as it stands.
    Keep,
    /// Its value is a schema.
    Schema,
    /// Its value is an object of schemas.
    Members,
    /// Its value is an array of schemas.
    Schemas,
    /// One of several schemas: sent as `anyOf`.
    Choice,
    /// One value: sent as an `enum` of it.
    Values,
    /// Left out, and told in the description.
    Tell,
    /// Left out. What it says the pipeline's own schema still asks for.
    Drop,
    /// Left out, the schema would mean something else.
    Refuse(&'static str),
}

const ANTHROPIC_FORMATS: [&str; 10] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "time",
    "uri",
    "uuid",
];

/// What all servers know that know `format` at all.
const LENIENT_FORMATS: [&str; 4] = ["date", "date-time", "time", "uuid"];

/// What becomes of one keyword of a schema.
pub(super) fn rule(
    dialect: Dialect,
    name: &str,
    value: &Value,
    source: &Map<String, Value>,
) -> Rule {
    match name {
        "type" | "required" | "title" | "description" => Rule::Keep,
        "properties" | "$defs" => Rule::Members,
        "items" => Rule::Schema,
        "enum" | "const" => values(dialect, name, value),
        "additionalProperties" | "patternProperties" => others(dialect, name, value),
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => several(dialect, name, source),
        "$ref" | "$dynamicRef" | "$id" | "definitions" => reference(dialect, name, value),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "minLength"
        | "maxLength" | "minItems" | "maxItems" | "pattern" | "format" => {
            match knows_bound(dialect, name, value) {
                true => Rule::Keep,
                false => Rule::Tell,
            }
        }
        "multipleOf" | "uniqueItems" | "minProperties" | "maxProperties" => Rule::Tell,
        _ => Rule::Drop,
    }
}

/// Whether a keyword rules nothing, and so may be left out without a word.
pub(super) fn only_explains(name: &str) -> bool {
    [
        "$comment",
        "default",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    ]
    .contains(&name)
}

fn values(dialect: Dialect, name: &str, value: &Value) -> Rule {
    let is_plain = |value: &Value| value.is_string() || value.is_number();
    match (dialect, name) {
        (Dialect::OpenAiStrict | Dialect::Lenient | Dialect::Anthropic | Dialect::Bedrock, _) => {
            Rule::Keep
        }
        (Dialect::Gemini, "const") if is_plain(value) => Rule::Values,
        (Dialect::Gemini, _) => match value.as_array() {
            Some(values) if values.iter().all(is_plain) => Rule::Keep,
            Some(_) | None => Rule::Tell,
        },
    }
}

/// What an object may hold beside the members that are listed.
fn others(dialect: Dialect, name: &str, value: &Value) -> Rule {
    match (dialect, name) {
        (Dialect::OpenAiStrict | Dialect::Anthropic | Dialect::Bedrock, "patternProperties") => {
            Rule::Refuse("patternProperties")
        }
        // Said of each object, whether it stands there or not.
        (Dialect::OpenAiStrict | Dialect::Anthropic | Dialect::Bedrock, _) => Rule::Drop,
        (Dialect::Lenient | Dialect::Gemini, "patternProperties") => Rule::Drop,
        (Dialect::Lenient | Dialect::Gemini, _) if value.is_boolean() => Rule::Keep,
        // Anything: so it is where nothing is said.
        (Dialect::Gemini, _) if value.as_object().is_some_and(Map::is_empty) => Rule::Drop,
        (Dialect::Lenient | Dialect::Gemini, _) => Rule::Schema,
    }
}

fn several(dialect: Dialect, name: &str, source: &Map<String, Value>) -> Rule {
    match (dialect, name) {
        // Some servers see the choice alone, and forget the members beside it.
        (Dialect::Lenient, "anyOf" | "oneOf") if source.contains_key("properties") => Rule::Drop,
        (Dialect::Lenient, _) | (_, "anyOf") => Rule::Schemas,
        (Dialect::Gemini, "prefixItems") => Rule::Schemas,
        (_, "oneOf") => Rule::Choice,
        // Closed one by one, its objects could hold none of the others' members.
        (_, "allOf") => Rule::Refuse("allOf"),
        (_, _) => Rule::Refuse("prefixItems"),
    }
}

/// References that stand beside other keywords, and what they could lead to.
fn reference(dialect: Dialect, name: &str, value: &Value) -> Rule {
    let followed = |target: &str| {
        target == "#" || target.starts_with("#/$defs/") || target.starts_with("#/definitions/")
    };
    match (dialect, name) {
        // Below the top level it changes what all references lead to.
        (_, "$id") => Rule::Refuse("$id"),
        (Dialect::Lenient, "$ref") if value.as_str().is_some_and(followed) => Rule::Keep,
        (Dialect::Lenient, "definitions") => Rule::Members,
        (
            Dialect::OpenAiStrict | Dialect::Anthropic | Dialect::Bedrock | Dialect::Gemini,
            "$dynamicRef",
        ) => Rule::Refuse("$dynamicRef"),
        (_, _) => Rule::Drop,
    }
}

fn knows_bound(dialect: Dialect, name: &str, value: &Value) -> bool {
    let is_format = |known: &[&str]| value.as_str().is_some_and(|text| known.contains(&text));
    match dialect {
        // Some of its models and its twin at another vendor refuse the whole schema for one.
        Dialect::OpenAiStrict => false,
        Dialect::Anthropic | Dialect::Bedrock => match name {
            "format" => is_format(&ANTHROPIC_FORMATS),
            "minItems" => value.as_u64().is_some_and(|least| least <= 1),
            _ => false,
        },
        Dialect::Gemini => ["minimum", "maximum", "minItems", "maxItems"].contains(&name),
        Dialect::Lenient => match name {
            "format" => is_format(&LENIENT_FORMATS),
            // Others make some servers refuse the request.
            "pattern" => value
                .as_str()
                .is_some_and(|text| text.starts_with('^') && text.ends_with('$')),
            _ => true,
        },
    }
}

/// The type that the values of `enum` or `const` have; nothing where they are objects or arrays.
pub(super) fn type_of_values(source: &Map<String, Value>) -> Option<Value> {
    let listed = source.get("enum").and_then(Value::as_array);
    let values: Vec<&Value> = match source.get("const") {
        Some(value) => vec![value],
        None => listed?.iter().collect(),
    };
    let mut types: Vec<&str> = Vec::new();
    for value in values {
        let kind = match value {
            Value::String(_) => "string",
            Value::Bool(_) => "boolean",
            Value::Null => "null",
            Value::Number(_) => "number",
            Value::Array(_) | Value::Object(_) => return None,
        };
        if !types.contains(&kind) {
            types.push(kind);
        }
    }
    match types.as_slice() {
        [] => None,
        [one] => Some(json!(one)),
        several => Some(json!(several)),
    }
}
