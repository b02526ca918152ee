//! The newer interface: what differs in it.

use fencepost::extractor::{Failure, OutputCap};
use fencepost_model::Behaviour;
use serde_json::{Value, json};

use crate::who::{self, BROKEN, CHAT, LIMITED, QUOTA, RESPONSES, closed};

fn answering(response: &Value) -> Behaviour {
    who::answering(response.to_string())
}

fn message(parts: &Value) -> Value {
    json!({ "type": "message", "role": "assistant", "content": parts })
}

#[tokio::test]
async fn the_question_is_put_in_its_form() {
    let asked = RESPONSES.asks(|_| {}, OutputCap::Larger).await;
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
async fn a_draft_is_the_text_of_the_messages() {
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
            let draft = RESPONSES.once(answering(&response)).await.unwrap();
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
        assert_eq!(
            RESPONSES.failure(answering(&response)).await,
            expected,
            "{response}"
        );
    }
}

#[tokio::test]
async fn a_failure_may_come_with_a_200() {
    for (code, expected) in [
        ("rate_limit_exceeded", LIMITED),
        ("insufficient_quota", QUOTA),
        ("invalid_prompt", Failure::Refused),
        ("bio_policy", Failure::Refused),
        ("server_error", BROKEN),
        ("new", BROKEN),
    ] {
        let error = json!({ "code": code, "message": "told by the script" });
        let response = json!({ "status": "failed", "error": error, "output": [] });
        assert_eq!(
            RESPONSES.failure(answering(&response)).await,
            expected,
            "{code}"
        );
    }
    for status in ["queued", "in_progress", "cancelled"] {
        let response = json!({ "status": status, "output": [] });
        assert_eq!(
            RESPONSES.failure(answering(&response)).await,
            BROKEN,
            "{status}"
        );
    }
    for response in [
        json!({}),
        json!({ "choices": [] }),
        json!({ "output": null }),
    ] {
        assert_eq!(
            RESPONSES.failure(answering(&response)).await,
            BROKEN,
            "{response}"
        );
    }
}

#[test]
fn the_interface_is_part_of_the_classifier() {
    let [chat, responses] = [CHAT, RESPONSES].map(|who| who.at("http://h/v1").fingerprint());
    assert_ne!(chat, responses);
}
