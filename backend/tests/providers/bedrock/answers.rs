use fencepost::extractor::{Draft, Failure, RequestId, Usage};
use fencepost_model::Behaviour;
use serde_json::{Value, json};

use crate::who::{BROKEN, CONVERSE, CONVERSE_TOOL, answering};

/// The draft of such a reply.
async fn said(reply: &Value) -> Draft {
    CONVERSE.once(answering(reply.to_string())).await.unwrap()
}

fn conversed(content: &Value, stop_reason: &Value) -> Value {
    let message = json!({ "role": "assistant", "content": content });
    json!({ "output": { "message": message }, "stopReason": stop_reason })
}

#[tokio::test]
async fn a_filter_or_a_guardrail_may_stop_the_model_whatever_it_said_before() {
    for reason in ["content_filtered", "guardrail_intervened"] {
        let half = Behaviour::Finish {
            content: "{\"a\":1}".to_owned(),
            reason: reason.to_owned(),
        };
        for who in [CONVERSE, CONVERSE_TOOL] {
            let error = who.once(half.clone()).await.unwrap_err();
            assert_eq!(error.failure, Failure::Refused, "{who:?} {reason}");
            assert_eq!(error.call.request_id, RequestId::new("req_1"));
        }
    }
}

#[tokio::test]
async fn reasons_and_blocks_that_are_not_known_spoil_no_answer() {
    let text = json!({ "text": "{}" });
    for content in [
        json!([text]),
        json!([{ "reasoningContent": { "reasoningText": { "text": "hm" } } }, text]),
        json!([{ "new": { "text": "x" } }, {}, text]),
    ] {
        for reason in [
            json!("end_turn"),
            json!("stop_sequence"),
            json!("malformed_model_output"),
            json!("tired"),
            json!(""),
            Value::Null,
            json!(5),
        ] {
            let draft = said(&conversed(&content, &reason)).await;
            assert_eq!(draft.text, "{}", "{content} {reason}");
            assert_eq!(draft.call.usage, Usage::default());
        }
    }
    let message = json!({ "content": [text], "new": 1 });
    let reply =
        json!({ "output": { "message": message, "new": {} }, "usage": "many", "trace": [] });
    assert_eq!(said(&reply).await.text, "{}");
}

#[tokio::test]
async fn what_the_provider_finds_malformed_is_judged_as_it_came() {
    let used = json!([{ "toolUse": { "name": "answer", "input": {} } }]);
    let draft = said(&conversed(&used, &json!("malformed_tool_use"))).await;
    assert_eq!(draft.text, "{}");
    let draft = said(&conversed(&json!([]), &json!("malformed_tool_use"))).await;
    assert_eq!(draft.text, "");
}

#[tokio::test]
async fn what_is_handed_to_the_tool_is_taken_as_it_came() {
    let call = |input: &str| {
        format!(r#"{{"toolUse":{{"toolUseId":"t","name":"answer","input":{input}}}}}"#)
    };
    let prose = r#"{"text":"Here it is."}"#;
    for (blocks, text) in [
        (vec![prose.to_owned(), call("{\"a\": 1.0}")], "{\"a\": 1.0}"),
        // JSON in a string is not what the schema asks for, and is not unpacked.
        (vec![call(r#""{\"a\":1}""#)], r#""{\"a\":1}""#),
        (vec![call(r#"{"a":"\ud800"}"#)], r#"{"a":"\ud800"}"#),
        // What the SDK's own reader would make one of, or refuse.
        (vec![call(r#"{"a":1,"a":2}"#)], r#"{"a":1,"a":2}"#),
        (vec![call(r#"{"a":1e400}"#)], r#"{"a":1e400}"#),
        // Two answers are none.
        (vec![call("{}"), call("{}")], "{}\n{}"),
        (vec![], ""),
    ] {
        let body = format!(
            r#"{{"output":{{"message":{{"content":[{}]}}}},"stopReason":"tool_use"}}"#,
            blocks.join(",")
        );
        let draft = CONVERSE_TOOL.once(answering(body.clone())).await.unwrap();
        assert_eq!(draft.text, text, "{body}");
    }
}

#[tokio::test]
async fn the_call_is_told_as_the_answer_counts_it() {
    let mut reply = conversed(&json!([{ "text": "{}" }]), &json!("end_turn"));
    reply["usage"] = json!({ "inputTokens": 12, "outputTokens": 3, "totalTokens": 15 });
    let answer = answering(reply.to_string()).with("x-amzn-requestid", "id-7");
    let call = CONVERSE.once(answer).await.unwrap().call;
    assert_eq!(
        (call.provider.as_str(), call.model.as_str()),
        ("bedrock", "asked")
    );
    assert_eq!(call.request_id, RequestId::new("id-7"));
    assert_eq!(
        (call.usage.tokens_in, call.usage.tokens_out),
        (Some(12), Some(3))
    );
}

#[tokio::test]
async fn what_has_no_message_is_no_answer() {
    for reply in [
        json!({ "output": {} }),
        json!({ "output": { "message": {} } }),
        json!({ "output": { "message": null }, "stopReason": "end_turn" }),
        json!({ "message": "upstream" }),
    ] {
        let failure = CONVERSE.failure(answering(reply.to_string())).await;
        assert_eq!(failure, BROKEN, "{reply}");
    }
}
