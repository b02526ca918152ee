//! Schemas at random, each with a value that satisfies it.

use jsonschema::draft202012::is_valid;
use proptest::{collection::vec, option, prelude::*, sample::select};

use super::*;

/// A schema, and a value that satisfies it.
type Pair = (Value, Value);

fn scalar() -> impl Strategy<Value = Pair> {
    prop_oneof![
        ("[a-zé\u{1f600}]{0,5}", 0..3_usize).prop_map(|(text, more)| {
            let length = text.chars().count();
            let schema = json!({
                "type": "string", "minLength": length.saturating_sub(more),
                "maxLength": length + more, "pattern": "^.*$",
            });
            (schema, json!(text))
        }),
        (-9_i64..9, 0..5_i64).prop_map(|(number, more)| {
            let schema = json!({
                "type": "integer", "minimum": number - more, "exclusiveMaximum": number + more + 1,
                "multipleOf": 1, "default": 0,
            });
            (schema, json!(number))
        }),
        (select(vec![json!("a"), json!(1), json!(null), json!(true)]))
            .prop_map(|value| { (json!({ "enum": ["a", 1, null, true], "title": "t" }), value) }),
        any::<bool>().prop_map(|truth| (json!({ "const": truth }), json!(truth))),
        option::of("[a-z]{1,3}").prop_map(|text| {
            (
                json!({ "type": ["string", "null"], "description": "d" }),
                json!(text),
            )
        }),
    ]
}

fn pair() -> impl Strategy<Value = Pair> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0..3_usize).prop_map(|((schema, value), count)| {
                let array = json!({ "type": "array", "items": schema, "maxItems": count });
                (array, json!(vec![value; count]))
            }),
            (inner.clone(), any::<bool>()).prop_map(|((schema, value), first)| {
                // Of a type that nothing else has here, so that exactly one holds.
                let other = json!({ "type": "array", "maxItems": 0, "minItems": 1, "items": {
                    "type": "null" } });
                let choices = if first {
                    [schema, other]
                } else {
                    [other, schema]
                };
                (json!({ "oneOf": choices }), value)
            }),
            object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = Pair>) -> impl Strategy<Value = Pair> {
    let open = select(vec![
        None,
        Some(json!(true)),
        Some(json!(false)),
        Some(json!({})),
    ]);
    (vec((inner, any::<bool>()), 1..4), open).prop_map(|(members, open)| {
        let mut properties = Map::new();
        let mut value = Map::new();
        let mut required = Vec::new();
        for (index, ((schema, inner), is_required)) in members.into_iter().enumerate() {
            let name = format!("m{index}");
            properties.insert(name.clone(), schema);
            value.insert(name.clone(), inner);
            required.extend(is_required.then_some(name));
        }
        let mut schema = json!({
            "type": "object", "properties": properties, "required": required, "minProperties": 1,
        });
        if let Some(open) = open {
            schema["additionalProperties"] = open;
        }
        (schema, Value::Object(value))
    })
}

/// Whether each object that is sent lists and requires all its members.
fn is_strict(sent: &Value) -> bool {
    let inner = |holder: &str| match &sent[holder] {
        Value::Object(schemas) => schemas.values().all(is_strict),
        Value::Array(schemas) => schemas.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    let known = [
        "type",
        "enum",
        "const",
        "title",
        "description",
        "properties",
        "required",
        "anyOf",
    ];
    let knows = |name: &String| {
        known.contains(&name.as_str()) || ["items", "additionalProperties"].contains(&name.as_str())
    };
    let closed = sent.get("properties").is_none_or(|properties| {
        let names: Vec<_> = properties.as_object().unwrap().keys().collect();
        sent["required"] == json!(names) && sent["additionalProperties"] == false
    });
    let items = sent.get("items").is_none_or(is_strict);
    sent.as_object().unwrap().keys().all(knows)
        && closed
        && items
        && inner("properties")
        && inner("anyOf")
}

proptest! {
    #[test]
    fn what_satisfies_the_schema_satisfies_what_is_sent(pair in object(pair())) {
        let (schema, value) = pair;
        prop_assert!(is_valid(&schema, &value), "{schema} {value}");
        for dialect in ALL {
            match project(&schema, dialect) {
                Ok(sent) => {
                    prop_assert!(is_valid(&sent, &value), "{sent} {value}");
                    prop_assert_eq!(project(&schema, dialect), Ok(sent.clone()));
                    prop_assert!(dialect != Dialect::OpenAiStrict || is_strict(&sent), "{sent}");
                }
                Err(refused) => {
                    prop_assert_eq!(dialect, Dialect::OpenAiStrict);
                    prop_assert_eq!(refused.problem(), Problem::OptionalMember);
                }
            }
        }
    }
}
