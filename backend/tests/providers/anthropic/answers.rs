use fencepost::extractor::{Draft, Failure, RequestId, Usage};
use fencepost_model::Behaviour;
use serde_json::{Value, json};

use crate::who::{SCHEMA, TOOL, answering};

#[tokio::test]
async fn a_model_may_decline_whatever_it_said_before() {
    let half = Behaviour::Finish {
        content: "{\"a".to_owned(),
        reason: "refusal".to_owned(),
    };
    for who in [SCHEMA, TOOL] {
        assert_eq!(who.failure(half.clone()).await, Failure::Refused, "{who:?}");
    }
}

/// The draft of such a message.
async fn said(message: &Value) -> Draft {
    SCHEMA.once(answering(message.to_string())).await.unwrap()
}

#[tokio::test]
async fn reasons_and_blocks_that_are_not_known_spoil_no_answer() {
    let text = json!({ "type": "text", "text": "{}" });
    for message in [
        json!({ "content": [text] }),
        json!({ "content": [text], "stop_reason": null }),
        json!({ "content": [text], "stop_reason": "", "usage": "many", "id": 5, "model": [] }),
        json!({ "content": [text], "stop_reason": "tired", "new": {} }),
        json!({ "content": [{ "type": "thinking", "thinking": "hm" }, text] }),
        json!({ "content": [{ "type": "new", "x": 1 }, {}, text] }),
    ] {
        let draft = said(&message).await;
        assert_eq!(draft.text, "{}", "{message}");
        assert_eq!(draft.call.model, "asked", "{message}");
        assert_eq!(draft.call.usage, Usage::default(), "{message}");
    }
}

#[tokio::test]
async fn what_is_handed_to_the_tool_is_taken_as_it_came() {
    let call = |input: &str| format!(r#"{{"type":"tool_use","name":"answer","input":{input}}}"#);
    let prose = r#"{"type":"text","text":"Here it is."}"#;
    for (blocks, text) in [
        (vec![prose.to_owned(), call("{\"a\": 1.0}")], "{\"a\": 1.0}"),
        // JSON in a string is not what the schema asks for, and is not unpacked.
        (vec![call(r#""{\"a\":1}""#)], r#""{\"a\":1}""#),
        (vec![call(r#"{"a":"\ud800"}"#)], r#"{"a":"\ud800"}"#),
        // Two answers are none.
        (vec![call("{}"), call("{}")], "{}\n{}"),
        (vec![], ""),
    ] {
        let body = format!(
            r#"{{"content":[{}],"stop_reason":"tool_use"}}"#,
            blocks.join(",")
        );
        let draft = TOOL.once(answering(body.clone())).await.unwrap();
        assert_eq!(draft.text, text, "{body}");
    }
}

#[tokio::test]
async fn the_model_and_the_call_are_told_as_the_answer_names_them() {
    let draft = said(&json!({
        "id": "msg_7", "model": "asked-2027", "content": [], "stop_reason": "end_turn",
        "usage": { "input_tokens": 12, "output_tokens": 3 },
    }))
    .await;
    let call = draft.call;
    assert_eq!(call.model, "asked-2027");
    assert_eq!(call.request_id, RequestId::new("msg_7"));
    assert_eq!(
        (call.usage.tokens_in, call.usage.tokens_out),
        (Some(12), Some(3))
    );
}
