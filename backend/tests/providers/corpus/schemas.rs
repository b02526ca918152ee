//! Schemas that a provider can't take: refused before anything is sent where that is known, and
//! else by the provider.

use fencepost::extractor::{
    Failure, OutputCap, Question,
    anthropic::Output,
    projection::{Limit, Problem},
};
use fencepost_identity::key::CallKey;
use fencepost_model::{Behaviour, ModelServer, in_turn};
use serde_json::{Value, json};

use super::{INVALID, Row};
use crate::who::{ALL, CHAT, GEMINI, INPUT, RESPONSES, SCHEMA, Who, settings};

const MODERATION: &str = include_str!("../../../schemas/moderation-v3.json");

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::own(
            "TanStack/ai #682: the grammar that is made of the schema is too large",
            |who| {
                let said = "The compiled grammar is too large.";
                Some(match who {
                    Who::OpenAi(_) => {
                        Behaviour::error(400, "invalid_request_error", Some("invalid_json_schema"))
                    }
                    Who::Anthropic(_) => {
                        Behaviour::anthropic_error(400, "invalid_request_error", said)
                    }
                    Who::Gemini => Behaviour::google_error(400, "INVALID_ARGUMENT", said, &[]),
                    Who::Bedrock(_) => Behaviour::amazon_error(400, "ValidationException", said),
                })
            },
            INVALID,
        )
        .numbered(51),
    ]
}

/// An object with this one member.
fn with(member: &Value) -> Value {
    json!({ "type": "object", "properties": { "m": member }, "required": ["m"] })
}

fn levels(inside: usize) -> Value {
    (0..inside).fold(
        json!({ "type": "null" }),
        |inner, _| json!({ "type": "array", "items": inner }),
    )
}

/// 52, ellmer #671: a limit of the provider, here with what the top level adds.
#[test]
fn a_schema_that_the_provider_would_refuse_is_refused_before_anything_is_sent() {
    let optional = json!({
        "type": "object", "properties": { "m": { "type": "string" } }, "required": [],
        "additionalProperties": false,
    });
    for who in [CHAT, RESPONSES] {
        let own = who.with(settings("https://api.openai.com/v1"), None);
        let other = who.with(settings("http://127.0.0.1:9/v1"), None);
        let shipped = serde_json::from_str(MODERATION).unwrap();
        assert_eq!(own.check_schema(&shipped), Ok(()));
        assert_eq!(own.check_schema(&with(&levels(9))), Ok(()));
        for (schema, problem) in [
            (with(&levels(10)), Problem::Limit(Limit::Levels)),
            (with(&json!({ "type": "object" })), Problem::OpenMembers),
            (optional.clone(), Problem::OptionalMember),
        ] {
            let refused = own.sent_schema(&schema).unwrap_err();
            assert_eq!(refused.problem(), problem, "{who:?} {schema}");
            assert_eq!(other.check_schema(&schema), Ok(()), "{who:?} {schema}");
        }
    }
}

/// What none of them can say: a reference into a schema inside, a map, a choice of all.
fn unsaid(who: Who) -> Option<Value> {
    match who {
        CHAT | RESPONSES => Some(with(&json!({ "$id": "urn:a", "type": "object" }))),
        SCHEMA | Who::Bedrock(Output::Schema) => Some(with(&json!({
            "type": "object", "additionalProperties": { "type": "integer" },
        }))),
        GEMINI => Some(with(&json!({ "allOf": [] }))),
        // A tool takes any.
        Who::Anthropic(_) | Who::Bedrock(_) => None,
    }
}

#[tokio::test]
async fn what_a_provider_can_not_take_is_never_sent() {
    let answer = || Behaviour::Answer("{}".to_owned());
    for who in ALL {
        let server = ModelServer::start(in_turn([answer()]));
        let extractor = who.at(&server.base_url());
        let Some(schema) = unsaid(who) else {
            assert!(who.is_given_a_tool(), "{who:?}");
            continue;
        };
        assert!(extractor.check_schema(&schema).is_err(), "{who:?}");
        let question = Question {
            call_key: CallKey::from_bytes([0xab; 32]),
            input: INPUT.as_bytes(),
            prompt: "Classify.",
            schema: &schema,
            cap: OutputCap::Ordinary,
        };
        let error = extractor.extract(&question).await.unwrap_err();
        assert_eq!(error.failure, Failure::InvalidRequest, "{who:?}");
        assert_eq!(server.calls(), [], "{who:?}");
    }
}
