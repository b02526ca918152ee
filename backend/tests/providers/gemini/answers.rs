use fencepost::extractor::{RequestId, Usage};

use super::*;

#[tokio::test]
async fn a_draft_is_the_text_as_it_came_and_what_is_known_of_the_call() {
    let draft = GEMINI
        .once(Behaviour::Answer(" {\"a\": 1}\n".to_owned()))
        .await
        .unwrap();
    assert_eq!(draft.text, " {\"a\": 1}\n");
    let call = draft.call;
    assert_eq!(
        (call.provider.as_str(), call.model.as_str()),
        ("gemini", "asked")
    );
    assert_eq!(call.request_id, RequestId::new("response-1"));
    assert!(call.usage.tokens_in > Some(0) && call.usage.tokens_out > Some(0));
}

#[tokio::test]
async fn what_the_model_says_wrongly_is_a_draft_for_others_to_judge() {
    for (behaviour, text) in [
        (Behaviour::Answer("no json".to_owned()), "no json"),
        // Without any part.
        (Behaviour::Answer(String::new()), ""),
        // Half a pair in the server's own JSON, where no string of Rust's can hold it.
        (
            Behaviour::Escaped(r#"{\"a\":\"\ud800\"}"#.to_owned()),
            "{\"a\":\"\\ud800\"}",
        ),
    ] {
        let draft = GEMINI.once(behaviour.clone()).await.unwrap();
        assert_eq!(draft.text, text, "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_cut_off_answer_is_told_even_where_nothing_or_all_seems_to_be_said() {
    for content in ["", "{\"a\":1}"] {
        let behaviour = Behaviour::Finish {
            content: content.to_owned(),
            reason: "MAX_TOKENS".to_owned(),
        };
        let error = GEMINI.once(behaviour).await.unwrap_err();
        assert_eq!(error.failure, Failure::Truncated, "{content}");
        assert_eq!(error.call.request_id, RequestId::new("response-1"));
        assert!(error.call.usage.tokens_in > Some(0), "{:?}", error.call);
    }
}

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
    let blocked = GEMINI
        .once(Behaviour::Refuse("no".to_owned()))
        .await
        .unwrap_err();
    assert_eq!(blocked.failure, Failure::Refused);
    assert_eq!(blocked.call.request_id, RequestId::new("response-1"));
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
