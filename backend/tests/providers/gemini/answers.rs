use fencepost::extractor::{Draft, Failure, Usage};
use fencepost_model::Behaviour;
use serde_json::{Value, json};

use crate::who::{GEMINI, answering};

#[tokio::test]
async fn filters_decline_before_or_after_the_model_is_asked() {
    for reason in [
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
    ] {
        let behaviour = Behaviour::Finish {
            content: "{\"a\":1}".to_owned(),
            reason: reason.to_owned(),
        };
        assert_eq!(
            GEMINI.failure(behaviour).await,
            Failure::Refused,
            "{reason}"
        );
    }
    for feedback in [
        json!({ "blockReason": "SAFETY" }),
        json!({ "blockReason": "OTHER" }),
        json!({ "blockReason": "JAILBREAK", "safetyRatings": [] }),
        json!({ "blockReason": "A_NEW_ONE" }),
        json!({ "safetyRatings": [] }),
    ] {
        for body in [
            json!({ "promptFeedback": feedback }),
            json!({ "promptFeedback": feedback, "candidates": [] }),
        ] {
            let failure = GEMINI.failure(answering(body.to_string())).await;
            assert_eq!(failure, Failure::Refused, "{body}");
        }
    }
}

/// The draft of such a response.
async fn said(response: &Value) -> Draft {
    GEMINI.once(answering(response.to_string())).await.unwrap()
}

#[tokio::test]
async fn what_is_left_out_or_not_known_spoils_no_answer() {
    let content = json!({ "role": "model", "parts": [{ "text": "{}" }] });
    for response in [
        json!({ "candidates": [{ "content": content }] }),
        json!({ "candidates": [{ "content": content, "finishReason": "" }] }),
        json!({ "candidates": [{ "content": content, "finishReason": "OTHER" }] }),
        json!({ "candidates": [{ "content": content, "finishReason": "A_NEW_ONE" }] }),
        json!({ "candidates": [{ "content": content }], "promptFeedback": {} }),
        json!({ "candidates": [{ "content": content }],
            "promptFeedback": { "blockReason": null }, "usageMetadata": [], "responseId": 1 }),
    ] {
        let draft = said(&response).await;
        assert_eq!(draft.text, "{}", "{response}");
        assert_eq!(draft.call.usage, Usage::default(), "{response}");
    }
}

#[tokio::test]
async fn nothing_said_is_an_empty_answer() {
    for candidate in [
        json!({}),
        json!({ "content": null, "finishReason": "STOP" }),
        json!({ "content": {}, "finishReason": "MALFORMED_FUNCTION_CALL" }),
        json!({ "content": { "parts": [] } }),
        json!({ "content": { "parts": [{ "functionCall": {} }] } }),
    ] {
        let draft = said(&json!({ "candidates": [candidate] })).await;
        assert_eq!(draft.text, "", "{candidate}");
    }
}

#[tokio::test]
async fn what_the_model_thought_is_paid_for_and_is_no_answer() {
    let draft = said(&json!({
        "candidates": [{ "content": { "parts": [
            { "text": "hm", "thought": true },
            { "text": "{\"a\"", "thoughtSignature": "x" },
            { "text": ":1}" },
        ] } }],
        "usageMetadata": {
            "promptTokenCount": 12, "candidatesTokenCount": 3, "thoughtsTokenCount": 40,
        },
        "modelVersion": "models/asked-002",
    }))
    .await;
    assert_eq!(draft.text, "{\"a\":1}");
    assert_eq!(draft.call.model, "asked-002");
    let usage = draft.call.usage;
    assert_eq!((usage.tokens_in, usage.tokens_out), (Some(12), Some(43)));
}
