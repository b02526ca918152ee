//! Who declines, and how: before the model is asked, by the model, or after it has begun.

use fencepost::extractor::openai::Api;
use fencepost_model::Behaviour;
use serde_json::{Value, json};

use super::{FINE, REFUSED, Row};
use crate::who::{Who, answering};

const HALF: &str = r#"{"cat"#;

/// What each provider's own filter says of an answer that it holds back.
fn filters(who: Who) -> &'static [&'static str] {
    match who {
        Who::OpenAi(_) => &["content_filter"],
        Who::Anthropic(_) => &["refusal"],
        Who::Gemini => &[
            "BLOCKLIST",
            "IMAGE_SAFETY",
            "LANGUAGE",
            "MODEL_ARMOR",
            "PROHIBITED_CONTENT",
            "RECITATION",
            "SAFETY",
            "SPII",
        ],
        Who::Bedrock(_) => &["content_filtered", "guardrail_intervened"],
    }
}

/// A refusal in words, behind an answer that had begun.
fn partly(who: Who) -> Option<Value> {
    match who {
        Who::OpenAi(Api::Chat) => Some(json!({ "choices": [{
            "finish_reason": "stop", "message": { "content": HALF, "refusal": "I can't" },
        }] })),
        Who::OpenAi(Api::Responses) => Some(json!({ "status": "completed", "output": [{
            "type": "message", "content": [
                { "type": "output_text", "text": HALF }, { "type": "refusal", "refusal": "no" },
            ],
        }] })),
        Who::Anthropic(_) => Some(json!({
            "content": [{ "type": "text", "text": HALF }], "stop_reason": "refusal",
            "stop_details": { "type": "refusal", "category": "x", "explanation": "no" },
        })),
        Who::Gemini => None,
        Who::Bedrock(_) => Some(who.ended("content_filtered", HALF)),
    }
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = by_the_model();
    rows.extend(before_the_model());
    rows.extend(by_a_filter());
    rows
}

fn by_the_model() -> Vec<Row> {
    vec![
        Row::behaviour(
            "declined outright",
            Behaviour::Refuse("I can't help with that".to_owned()),
            REFUSED,
        ),
        Row::own(
            "genai's StopReason; Anthropic's stop_details: declined behind half an answer",
            |who| Some(answering(partly(who)?.to_string())),
            REFUSED,
        )
        .numbered(28),
        Row::own(
            "openai-agents-js #1686: declined with an empty text",
            |who| match who {
                Who::OpenAi(Api::Chat) => Some(answering(
                    json!({ "choices": [{
                        "finish_reason": "stop", "message": { "content": "", "refusal": "no" },
                    }] })
                    .to_string(),
                )),
                Who::OpenAi(Api::Responses) | Who::Anthropic(_) | Who::Gemini | Who::Bedrock(_) => {
                    None
                }
            },
            REFUSED,
        ),
    ]
}

fn before_the_model() -> Vec<Row> {
    vec![
        Row::own(
            "a question that is not let through",
            |who| match who {
                Who::OpenAi(_) => Some(Behaviour::error(
                    400,
                    "invalid_request_error",
                    Some("content_filter"),
                )),
                Who::Anthropic(_) => Some(Behaviour::anthropic_error(
                    400,
                    "invalid_request_error",
                    "Output blocked by content filtering policy",
                )),
                Who::Gemini => Some(answering(
                    json!({ "promptFeedback": { "blockReason": "A_NEW_ONE" } }).to_string(),
                )),
                // A guardrail answers in the model's place.
                Who::Bedrock(_) => Some(answering(
                    who.ended("guardrail_intervened", "Not here.").to_string(),
                )),
            },
            REFUSED,
        ),
        Row::own(
            "a question that is not let through, by a 200 that tells of a failure",
            |who| match who {
                Who::OpenAi(Api::Responses) => Some(answering(
                    json!({
                        "status": "failed", "output": [],
                        "error": { "code": "invalid_prompt", "message": "told by the script" },
                    })
                    .to_string(),
                )),
                Who::OpenAi(Api::Chat) | Who::Anthropic(_) | Who::Gemini | Who::Bedrock(_) => None,
            },
            REFUSED,
        ),
    ]
}

fn by_a_filter() -> Vec<Row> {
    let mut rows = Vec::new();
    // As many as the provider that has the most.
    for index in 0..filters(Who::Gemini).len() {
        for content in [FINE, HALF] {
            rows.push(Row::own(
                "held back by a filter, whatever it says",
                move |who| {
                    let reason = filters(who).get(index)?;
                    Some(answering(who.ended(reason, content).to_string()))
                },
                REFUSED,
            ));
        }
    }
    rows
}
