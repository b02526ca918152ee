//! Messages.

use http::HeaderMap;
use serde_json::{Value, json};

use super::{Answer, Said, respond, tokens};

/// Without a key, a version and a bound nothing is asked of the model.
pub(crate) fn refusal(headers: &HeaderMap, request: &Value) -> Option<Answer> {
    let refused = |status, kind, message| {
        let error = json!({ "type": kind, "message": message });
        let body = json!({ "type": "error", "error": error, "request_id": "req_refused" });
        Some(respond(status, &[], body.to_string()))
    };
    if !headers.contains_key("x-api-key") {
        return refused(401, "authentication_error", "x-api-key header is required");
    }
    if !headers.contains_key("anthropic-version") {
        let message = "anthropic-version: header is required";
        return refused(400, "invalid_request_error", message);
    }
    if !request["max_tokens"].is_u64() {
        return refused(400, "invalid_request_error", "max_tokens: Field required");
    }
    None
}

/// A message. Written by hand, as the content may be no string of Rust's.
pub(crate) fn message(sequence: u64, request: &Value, said: &Said<'_>) -> Answer {
    let (content, stop_reason, details) = match (said.content, said.refusal) {
        (Some(content), _) => {
            let (block, reason) = block(sequence, request, content);
            (block, said.reason.unwrap_or(reason), Value::Null)
        }
        (None, words) => {
            let details = json!({ "type": "refusal", "category": null, "explanation": words });
            (String::new(), "refusal", details)
        }
    };
    let (input_tokens, output_tokens) = tokens(request, &content);
    let usage = json!({ "input_tokens": input_tokens, "output_tokens": output_tokens });
    let body = format!(
        r#"{{"id":"msg_{sequence}","type":"message","role":"assistant","model":{},"#,
        request["model"],
    ) + &format!(
        r#""content":[{content}],"stop_reason":{},"stop_sequence":null,"#,
        json!(stop_reason),
    ) + &format!(r#""stop_details":{details},"usage":{usage}}}"#);
    respond(200, &[("request-id", format!("req_{sequence}"))], body)
}

/// What was said goes to the tool where one is forced and takes it, and why the model stopped.
fn block(sequence: u64, request: &Value, content: &str) -> (String, &'static str) {
    let forced = &request["tool_choice"]["name"];
    let unescaped = serde_json::from_str::<String>(&format!("\"{content}\""));
    let object = unescaped
        .ok()
        .filter(|text| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()));
    match object {
        Some(input) if forced.is_string() => (
            format!(
                r#"{{"type":"tool_use","id":"toolu_{sequence}","name":{forced},"input":{input}}}"#
            ),
            "tool_use",
        ),
        _ => (
            format!(r#"{{"type":"text","text":"{content}"}}"#),
            "end_turn",
        ),
    }
}
