use serde_json::json;

use super::*;

fn asked() -> Call {
    Call {
        provider: "openai".to_owned(),
        model: "asked".to_owned(),
        request_id: None,
        usage: Usage::default(),
    }
}

fn answer(body: &str) -> (Result<String, Failure>, Call) {
    let mut call = asked();
    (read(body.as_bytes(), &mut call), call)
}

fn failure(body: &str) -> Failure {
    answer(body).0.unwrap_err()
}

/// An answer with this choice.
fn with(choice: &Value) -> String {
    json!({ "choices": [choice] }).to_string()
}

#[test]
fn an_answer_is_taken_as_it_is_with_what_is_known_of_its_call() {
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "asked-2027",
        "choices": [{
            "index": 0, "logprobs": null, "finish_reason": "stop",
            "message": { "role": "assistant", "content": " {\"a\":1}\n", "refusal": null },
        }],
        "usage": { "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15 },
    });
    let (text, call) = answer(&body.to_string());
    assert_eq!(text.unwrap(), " {\"a\":1}\n");
    assert_eq!(call.model, "asked-2027");
    assert_eq!(call.request_id, RequestId::new("chatcmpl-1"));
    let usage = (call.usage.tokens_in, call.usage.tokens_out);
    assert_eq!(usage, (Some(12), Some(3)));
}

#[test]
fn what_servers_leave_out_or_invent_spoils_no_answer() {
    for choice in [
        json!({ "message": { "content": "{}" } }),
        json!({ "finish_reason": "", "message": { "content": "{}" } }),
        json!({ "finish_reason": "eos", "message": { "content": "{}" } }),
        json!({ "finish_reason": null, "message": { "content": "{}", "refusal": "" } }),
        json!({ "finish_reason": 7, "index": "0", "message": { "content": "{}", "x": [] } }),
    ] {
        let expected = (Ok("{}".to_owned()), asked());
        assert_eq!(answer(&with(&choice)), expected, "{choice}");
    }
    let message = json!({ "message": { "content": "{}" } });
    for (member, value) in [
        ("id", json!(5)),
        ("id", json!("with space")),
        ("model", json!(["m"])),
        ("model", json!("")),
        ("model", json!("x".repeat(129))),
        ("usage", json!("many")),
        (
            "usage",
            json!({ "prompt_tokens": -1, "completion_tokens": 1.5 }),
        ),
        ("service_tier", json!("new")),
    ] {
        let body = json!({ "choices": [message], member: value }).to_string();
        assert_eq!(answer(&body), (Ok("{}".to_owned()), asked()), "{body}");
    }
}

#[test]
fn refusals_come_before_all_else_and_cut_answers_before_their_text() {
    for (choice, expected) in [
        (
            json!({ "finish_reason": "stop", "message": { "content": "{}", "refusal": "no" } }),
            Failure::Refused,
        ),
        (
            json!({ "finish_reason": "length", "message": { "content": "", "refusal": "no" } }),
            Failure::Refused,
        ),
        (
            json!({ "finish_reason": "content_filter", "message": { "content": "{}" } }),
            Failure::Refused,
        ),
        (
            json!({ "finish_reason": "length", "message": { "content": "{\"whole\":1}" } }),
            Failure::Truncated,
        ),
    ] {
        assert_eq!(failure(&with(&choice)), expected, "{choice}");
    }
}

#[test]
fn nothing_said_is_an_empty_answer() {
    for message in [
        json!({ "content": null }),
        json!({ "content": "" }),
        json!({}),
    ] {
        let choice = json!({ "finish_reason": "stop", "message": message });
        assert_eq!(answer(&with(&choice)).0, Ok(String::new()));
    }
}

#[test]
fn what_is_no_answer_of_the_provider_may_be_paid_for() {
    for body in [
        "",
        "<html>sign in</html>",
        "{}",
        "null",
        "[]",
        r#"{"choices":null}"#,
        r#"{"choices":[]}"#,
        r#"{"choices":[{}]}"#,
        r#"{"choices":[{"message":null}]}"#,
        r#"{"choices":[{"message":{"content":["{}"]}}]}"#,
        r#"{"choices":[{"message":{"content":"{}"}}]"#,
        r#"{"error":{"message":"upstream"}}"#,
    ] {
        assert_eq!(failure(body), STRANGE, "{body}");
    }
    let broken = b"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}";
    assert_eq!(read(broken, &mut asked()), Err(STRANGE));
}

#[test]
fn a_half_surrogate_stays_one_and_a_pair_is_a_character() {
    for (written, text) in [
        (r"a\u0000b", "a\u{0}b"),
        (r"\ud83d\ude00", "\u{1f600}"),
        (r"ä\ud800z", "ä\\ud800z"),
        (r"\udfff", "\\udfff"),
        (r"\ud800\ud800", "\\ud800\\ud800"),
    ] {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"{written}"}}}}]}}"#);
        assert_eq!(answer(&body).0.unwrap(), text, "{written}");
    }
}
