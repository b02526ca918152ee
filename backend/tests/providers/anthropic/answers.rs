use fencepost::extractor::{RequestId, Usage};

use super::*;

#[tokio::test]
async fn a_draft_is_the_text_as_it_came_and_what_is_known_of_the_call() {
    for who in [SCHEMA, TOOL] {
        let draft = who
            .once(Behaviour::Answer("{\"a\": 1}".to_owned()))
            .await
            .unwrap();
        assert_eq!(draft.text, "{\"a\": 1}", "{who:?}");
        let call = draft.call;
        assert_eq!(
            (call.provider.as_str(), call.model.as_str()),
            ("anthropic", "asked")
        );
        assert_eq!(call.request_id, RequestId::new("req_1"));
        assert!(call.usage.tokens_in > Some(0) && call.usage.tokens_out > Some(0));
    }
}

#[tokio::test]
async fn what_the_model_says_wrongly_is_a_draft_for_others_to_judge() {
    for (behaviour, text) in [
        (Behaviour::Answer("no json".to_owned()), "no json"),
        (Behaviour::Answer(String::new()), ""),
        (
            Behaviour::Answer("{\"a\":1,\"a\":2}".to_owned()),
            "{\"a\":1,\"a\":2}",
        ),
        // Half a pair in the server's own JSON, where no string of Rust's can hold it.
        (
            Behaviour::Escaped(r#"{\"a\":\"\ud800\"}"#.to_owned()),
            "{\"a\":\"\\ud800\"}",
        ),
    ] {
        for who in [SCHEMA, TOOL] {
            let draft = who.once(behaviour.clone()).await.unwrap();
            assert_eq!(draft.text, text, "{who:?} {behaviour:?}");
        }
    }
}

#[tokio::test]
async fn a_cut_off_answer_is_told_with_what_it_cost_even_where_it_reads_well() {
    for reason in ["max_tokens", "model_context_window_exceeded"] {
        let behaviour = Behaviour::Finish {
            content: "{\"a\":1}".to_owned(),
            reason: reason.to_owned(),
        };
        for who in [SCHEMA, TOOL] {
            let error = who.once(behaviour.clone()).await.unwrap_err();
            assert_eq!(error.failure, Failure::Truncated, "{who:?} {reason}");
            assert_eq!(error.call.request_id, RequestId::new("req_1"));
            assert!(error.call.usage.tokens_out > Some(0), "{:?}", error.call);
        }
    }
}

#[tokio::test]
async fn a_model_may_decline_whatever_it_said_before() {
    let half = Behaviour::Finish {
        content: "{\"a".to_owned(),
        reason: "refusal".to_owned(),
    };
    for behaviour in [Behaviour::Refuse("I can't help with that".to_owned()), half] {
        let failure = SCHEMA.failure(behaviour.clone()).await;
        assert_eq!(failure, Failure::Refused, "{behaviour:?}");
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
