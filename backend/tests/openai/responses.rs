//! The newer interface: what differs in it.

use std::sync::{Arc, Mutex};

use fencepost::extractor::RequestId;

use super::*;

/// One question to a server that behaves so. It is asked once, whatever it does.
async fn once(behaviour: Behaviour) -> Result<Draft, Box<ExtractError>> {
    let server = ModelServer::start(in_turn([behaviour]));
    let openai = openai_by(Api::Responses, &server.base_url(), Some(KEY));
    let answer = ask(&openai, OutputCap::Ordinary).await;
    assert_eq!(server.calls().len(), 1, "{:?}", server.calls());
    answer
}

async fn failure(behaviour: Behaviour) -> Failure {
    once(behaviour).await.unwrap_err().failure
}

fn answering(response: &Value) -> Behaviour {
    Behaviour::Respond {
        status: 200,
        headers: Vec::new(),
        body: response.to_string().into_bytes(),
    }
}

fn message(parts: &Value) -> Value {
    json!({ "type": "message", "role": "assistant", "content": parts })
}

#[tokio::test]
async fn the_question_is_put_in_its_form() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let server = ModelServer::start(move |asked| {
        listener.lock().unwrap().push(asked.clone());
        Behaviour::Answer("{}".to_owned())
    });
    let openai = openai_by(Api::Responses, &server.base_url(), Some(KEY));
    ask(&openai, OutputCap::Larger).await.unwrap();
    let asked = heard.lock().unwrap().pop().unwrap();
    assert!(asked.report.to_string().contains("canary-of-the-report"));
    let request = asked.request;
    assert_eq!(request["model"], "asked");
    assert_eq!(request["store"], false);
    assert_eq!(request["max_output_tokens"], 400);
    let instructions = request["instructions"].as_str().unwrap();
    assert!(instructions.starts_with("Classify.\n\n") && !instructions.contains("canary"));
    let format = json!({
        "type": "json_schema", "name": "answer", "strict": true, "schema": closed(),
    });
    assert_eq!(request["text"], json!({ "format": format }));
    for absent in ["messages", "response_format", "temperature", "tools"] {
        assert_eq!(request.get(absent), None, "{absent}");
    }
}

#[tokio::test]
async fn a_draft_is_the_text_of_the_messages_as_it_came() {
    let draft = once(Behaviour::Answer("{\"a\": 1}".to_owned()))
        .await
        .unwrap();
    assert_eq!(draft.text, "{\"a\": 1}");
    let call = draft.call;
    assert_eq!(
        (call.provider.as_str(), call.model.as_str()),
        ("openai", "asked")
    );
    assert_eq!(call.request_id, RequestId::new("req_1"));
    assert!(call.usage.tokens_in > Some(0) && call.usage.tokens_out > Some(0));
    let escaped = Behaviour::Escaped(r#"{\"a\":\"\ud800\"}"#.to_owned());
    assert_eq!(once(escaped).await.unwrap().text, "{\"a\":\"\\ud800\"}");
    let text = |text| json!({ "type": "output_text", "text": text });
    for (output, expected) in [
        (json!([]), ""),
        (json!([message(&json!([]))]), ""),
        (json!([message(&json!([text("{"), text("}")]))]), "{}"),
        (
            json!([
                { "type": "reasoning", "summary": [], "content": "hm" },
                { "type": "new" },
                {},
                message(&json!([{ "type": "new", "text": "x" }, text("{}")])),
            ]),
            "{}",
        ),
    ] {
        for status in ["completed", "", "new"] {
            let response = json!({ "status": status, "output": output });
            let draft = once(answering(&response)).await.unwrap();
            assert_eq!(draft.text, expected, "{response}");
        }
    }
}

#[tokio::test]
async fn refusals_come_before_all_else_and_cut_answers_before_their_text() {
    let text = json!({ "type": "output_text", "text": "{}" });
    let refusal = json!({ "type": "refusal", "refusal": "no" });
    let incomplete = |part: &Value, reason: &str| {
        json!({
            "status": "incomplete", "incomplete_details": { "reason": reason },
            "output": [message(&json!([part]))],
        })
    };
    for (response, expected) in [
        (incomplete(&text, "max_output_tokens"), Failure::Truncated),
        (incomplete(&text, "content_filter"), Failure::Refused),
        (incomplete(&text, "new"), Failure::Truncated),
        (incomplete(&refusal, "max_output_tokens"), Failure::Refused),
        (
            json!({ "status": "completed", "output": [message(&json!([text, refusal]))] }),
            Failure::Refused,
        ),
    ] {
        assert_eq!(failure(answering(&response)).await, expected, "{response}");
    }
    let declined = Behaviour::Refuse("I can't help with that".to_owned());
    assert_eq!(failure(declined).await, Failure::Refused);
    let cut = Behaviour::Finish {
        content: "{\"a\":1}".to_owned(),
        reason: "max_output_tokens".to_owned(),
    };
    let error = once(cut).await.unwrap_err();
    assert_eq!(error.failure, Failure::Truncated);
    assert!(error.call.usage.tokens_out > Some(0), "{:?}", error.call);
}

#[tokio::test]
async fn a_failure_may_come_with_a_200() {
    for (code, expected) in [
        (
            "rate_limit_exceeded",
            Failure::RateLimited { retry_after: None },
        ),
        ("insufficient_quota", Failure::Quota { retry_after: None }),
        ("invalid_prompt", Failure::Refused),
        ("bio_policy", Failure::Refused),
        ("server_error", BROKEN),
        ("new", BROKEN),
    ] {
        let error = json!({ "code": code, "message": "told by the script" });
        let response = json!({ "status": "failed", "error": error, "output": [] });
        assert_eq!(failure(answering(&response)).await, expected, "{code}");
    }
    for status in ["queued", "in_progress", "cancelled"] {
        let response = json!({ "status": status, "output": [] });
        assert_eq!(failure(answering(&response)).await, BROKEN, "{status}");
    }
    for response in [
        json!({}),
        json!({ "choices": [] }),
        json!({ "output": null }),
    ] {
        assert_eq!(failure(answering(&response)).await, BROKEN, "{response}");
    }
}

#[tokio::test]
async fn other_statuses_mean_what_they_mean_elsewhere() {
    for (status, code, expected) in [
        (400, "context_length_exceeded", Failure::ContextTooLong),
        (401, "invalid_api_key", Failure::Auth),
        (
            429,
            "rate_limit_exceeded",
            Failure::RateLimited { retry_after: None },
        ),
        (
            429,
            "insufficient_quota",
            Failure::Quota { retry_after: None },
        ),
        (500, "server_error", BROKEN),
    ] {
        let behaviour = Behaviour::error(status, "some_type", Some(code));
        assert_eq!(failure(behaviour).await, expected, "{status} {code}");
    }
}

#[test]
fn the_interface_is_part_of_the_classifier() {
    let fingerprint = |api| openai_by(api, "http://h/v1", None).fingerprint();
    assert_ne!(fingerprint(Api::Chat), fingerprint(Api::Responses));
}
