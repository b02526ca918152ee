//! What models and servers were seen to answer, from the wire to the judgement.

use fencepost::{
    extractor::{
        Failure,
        projection::{Limit, Problem},
    },
    schema::{Invalid, Schema, Syntax},
};
use fencepost_model::Behaviour;
use serde_json::{Value, json};

use crate::who::{CHAT, settings};

const MODERATION: &str = include_str!("../../../schemas/moderation-v3.json");
const FINDINGS: &str = r#"{
    "type": "object",
    "properties": { "findings": { "type": "array", "items": {
        "type": "object",
        "properties": { "path": { "type": "string" }, "line": { "type": "integer" } },
        "required": ["path"], "additionalProperties": false
    } } },
    "required": ["findings"], "additionalProperties": false
}"#;

/// What became of an answer.
#[derive(Clone, Debug, PartialEq)]
enum Came {
    /// It is a value.
    Valid(String),
    /// It is not JSON.
    Syntax(Syntax),
    /// The schema does not allow it, for this reason.
    Schema(String),
    /// There was no answer.
    Failed(Failure),
}

fn valid(value: &str) -> Came {
    Came::Valid(value.to_owned())
}

fn against(place: &str) -> Came {
    Came::Schema(format!("the answer does not satisfy the schema at {place}"))
}

async fn assert_came(schema: &str, behaviour: Behaviour, expected: Came) {
    let schema = Schema::compile(schema.as_bytes()).unwrap();
    let told = format!("{behaviour:?}");
    let came = match CHAT.once(behaviour).await {
        Err(error) => Came::Failed(error.failure),
        Ok(draft) => match schema.read(&draft.text) {
            Ok(report) => valid(report.canonical()),
            Err(Invalid::Syntax(error)) => Came::Syntax(error.fault),
            Err(Invalid::Schema(violations)) => Came::Schema(violations.to_string()),
        },
    };
    assert_eq!(came, expected, "{told:.200}");
}

fn moderation(category: &str, confidence: &str, rest: &str) -> Behaviour {
    Behaviour::Answer(format!(
        r#"{{"category":{category},"confidence":{confidence},"needsHumanReview":true{rest}}}"#
    ))
}

#[tokio::test]
async fn text_that_would_have_to_be_guessed_at_is_no_json() {
    let good = r#"{"category":"spam","confidence":0.5,"needsHumanReview":true}"#;
    for (behaviour, fault) in [
        (moderation(r#""spam""#, "0.5", ","), Syntax::NotJson),
        (moderation(r#""said "no", ok""#, "0.5", ""), Syntax::NotJson),
        (moderation("\"a\nb\"", "0.5", ""), Syntax::NotJson),
        (moderation("\"a\u{1}b\"", "0.5", ""), Syntax::NotJson),
        (moderation("'spam'", "0.5", ""), Syntax::NotJson),
        (moderation(r#""spam""#, "NaN", ""), Syntax::NotJson),
        (moderation(r#""spam""#, "Infinity", ""), Syntax::NotJson),
        (moderation(r#""spam""#, ".5", ""), Syntax::NotJson),
        (
            moderation(r#""spam""#, "1e400", ""),
            Syntax::NumberOutOfRange,
        ),
        (
            moderation(r#""spam""#, "1", r#","category":"other""#),
            Syntax::DuplicateMember,
        ),
        (
            Behaviour::Escaped(r#"{\"category\":\"\ud800\"}"#.to_owned()),
            Syntax::LoneSurrogate,
        ),
        (
            Behaviour::Answer(format!("{good}\n{good}")),
            Syntax::NotJson,
        ),
        (Behaviour::Answer(format!("Sure!\n{good}")), Syntax::NotJson),
        (
            Behaviour::Answer(format!("{good}\nIs that all?")),
            Syntax::NotJson,
        ),
        (
            Behaviour::Answer(format!("As asked:\n```\n{good}\n```")),
            Syntax::NotJson,
        ),
        (Behaviour::Answer(String::new()), Syntax::Empty),
        (Behaviour::Answer(" \n".to_owned()), Syntax::Empty),
        (Behaviour::Answer("[".repeat(33)), Syntax::TooDeep),
        (
            Behaviour::Answer(format!("{good}{}", " ".repeat(256 * 1024))),
            Syntax::TooLong,
        ),
    ] {
        assert_came(MODERATION, behaviour, Came::Syntax(fault)).await;
    }
}

#[tokio::test]
async fn what_reads_well_may_still_be_no_answer_to_the_question() {
    let enumeration = against("/properties/category/enum");
    for (schema, behaviour, expected) in [
        (
            MODERATION,
            moderation(r#""spam""#, "\"0.9\"", ""),
            against("/properties/confidence/type"),
        ),
        (
            MODERATION,
            moderation(r#""spam""#, "100", ""),
            against("/properties/confidence/maximum"),
        ),
        (
            MODERATION,
            moderation(r#""self-harm""#, "1", ""),
            enumeration.clone(),
        ),
        (
            MODERATION,
            moderation(r#""self_harm ""#, "1", ""),
            enumeration.clone(),
        ),
        (
            MODERATION,
            moderation(r#""SELF_HARM""#, "1", ""),
            enumeration.clone(),
        ),
        (
            MODERATION,
            moderation("\"\u{455}pam\"", "1", ""),
            enumeration,
        ),
        (
            MODERATION,
            moderation(r#""spam""#, "1", r#","reasoning":"x""#),
            against("/additionalProperties"),
        ),
        (
            FINDINGS,
            Behaviour::Answer(r#"{"findings":[{"path":"a.rs","line":null}]}"#.to_owned()),
            against("/properties/findings/items/properties/line/type"),
        ),
        (
            FINDINGS,
            Behaviour::Answer(r#"[{"path":"a.rs"}]"#.to_owned()),
            against("/additionalProperties, /type"),
        ),
        (
            FINDINGS,
            Behaviour::Answer("{}".to_owned()),
            against("/required"),
        ),
    ] {
        assert_came(schema, behaviour, expected).await;
    }
}

#[tokio::test]
async fn what_is_right_is_taken_as_it_stands() {
    let spam = r#"{"category":"spam","confidence":1,"needsHumanReview":true}"#;
    for (schema, behaviour, value) in [
        (MODERATION, moderation(r#""spam""#, "1.0", ""), spam),
        (
            MODERATION,
            Behaviour::Answer(format!("```json\n{spam}\n```")),
            spam,
        ),
        (
            FINDINGS,
            Behaviour::Answer(r#"{"findings":[]}"#.to_owned()),
            r#"{"findings":[]}"#,
        ),
        // Nothing is decoded a second time.
        (
            FINDINGS,
            Behaviour::Answer(r#"{"findings":[{"path":"a&amp;b.rs","line":42.0}]}"#.to_owned()),
            r#"{"findings":[{"line":42,"path":"a&amp;b.rs"}]}"#,
        ),
    ] {
        assert_came(schema, behaviour, valid(value)).await;
    }
}

fn responding(choice: &Value) -> Behaviour {
    Behaviour::Respond {
        status: 200,
        headers: Vec::new(),
        body: json!({ "choices": [choice], "service_tier": "on_demand" })
            .to_string()
            .into_bytes(),
    }
}

#[tokio::test]
async fn how_an_answer_ended_comes_before_what_it_says() {
    let whole = r#"{"findings":[]}"#;
    let ended = |reason: &str, content: Value| {
        responding(&json!({ "finish_reason": reason, "message": { "content": content } }))
    };
    let refused = json!({
        "finish_reason": "stop", "message": { "content": "{\"cat", "refusal": "I can't" },
    });
    for (behaviour, expected) in [
        (
            ended("length", json!(whole)),
            Came::Failed(Failure::Truncated),
        ),
        (
            ended("content_filter", json!(whole)),
            Came::Failed(Failure::Refused),
        ),
        (responding(&refused), Came::Failed(Failure::Refused)),
        (ended("stop", Value::Null), Came::Syntax(Syntax::Empty)),
        (ended("stop", json!("")), Came::Syntax(Syntax::Empty)),
        (ended("", json!(whole)), valid(whole)),
        (ended("eos", json!(whole)), valid(whole)),
        (
            Behaviour::error(400, "invalid_request_error", Some("invalid_json_schema")),
            Came::Failed(Failure::InvalidRequest),
        ),
    ] {
        assert_came(FINDINGS, behaviour, expected).await;
    }
}

/// An object with this one member.
fn with(member: &Value) -> Value {
    json!({ "type": "object", "properties": { "m": member }, "required": ["m"] })
}

#[test]
fn a_schema_that_the_provider_would_refuse_is_refused_before_anything_is_sent() {
    let own = CHAT.with(settings("https://api.openai.com/v1"), None);
    let deep = (0..10).fold(
        json!({ "type": "null" }),
        |inner, _| json!({ "type": "array", "items": inner }),
    );
    assert_eq!(
        own.check_schema(&serde_json::from_str(MODERATION).unwrap()),
        Ok(())
    );
    let other = CHAT.with(settings("http://127.0.0.1:9/v1"), None);
    for (schema, problem) in [
        (with(&deep), Problem::Limit(Limit::Levels)),
        (with(&json!({ "type": "object" })), Problem::OpenMembers),
        (
            serde_json::from_str(FINDINGS).unwrap(),
            Problem::OptionalMember,
        ),
    ] {
        let refused = own.check_schema(&schema).unwrap_err();
        assert_eq!(refused.problem(), problem, "{schema}");
        assert_eq!(other.check_schema(&schema), Ok(()), "{schema}");
    }
}
