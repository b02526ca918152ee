//! Converse.

use http::HeaderMap;
use serde_json::{Value, json};

use super::{Answer, Said, respond, tokens};

/// Without a signature or a key nothing is asked of the model.
pub(crate) fn refusal(headers: &HeaderMap) -> Option<Answer> {
    let authorization = super::text(headers, "authorization");
    let known = ["AWS4-HMAC-SHA256 Credential=", "Bearer "];
    if known.iter().any(|kind| authorization.starts_with(kind)) {
        return None;
    }
    let name = "MissingAuthenticationTokenException".to_owned();
    let body = json!({ "message": "Missing Authentication Token" });
    let headers = [("x-amzn-errortype", name)];
    Some(respond(403, &headers, body.to_string()))
}

/// A message. Written by hand, as the content may be no string of Rust's.
pub(crate) fn conversed(sequence: u64, request: &Value, said: &Said<'_>) -> Answer {
    let (content, reason) = match (said.content, said.refusal) {
        (Some(content), _) => block(sequence, request, content),
        // A guardrail speaks in the model's place.
        (None, words) => (json!({ "text": words }).to_string(), "guardrail_intervened"),
    };
    let reason = json!(said.reason.unwrap_or(reason));
    let (input_tokens, output_tokens) = tokens(request, &content);
    let usage = json!({
        "inputTokens": input_tokens, "outputTokens": output_tokens,
        "totalTokens": input_tokens + output_tokens,
    });
    let body = format!(r#"{{"output":{{"message":{{"role":"assistant","content":[{content}]}}}},"#)
        + &format!(r#""stopReason":{reason},"usage":{usage},"metrics":{{"latencyMs":1}}}}"#);
    let headers = [("x-amzn-requestid", format!("req_{sequence}"))];
    respond(200, &headers, body)
}

/// What was said goes to the tool where one is forced and takes it, and why the model stopped.
fn block(sequence: u64, request: &Value, content: &str) -> (String, &'static str) {
    let forced = &request["toolConfig"]["toolChoice"]["tool"]["name"];
    let unescaped = serde_json::from_str::<String>(&format!("\"{content}\""));
    let object = unescaped
        .ok()
        .filter(|text| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()));
    match object {
        Some(input) if forced.is_string() => {
            let id = json!(format!("tooluse_{sequence}"));
            let call = format!(r#"{{"toolUseId":{id},"name":{forced},"input":{input}}}"#);
            (format!(r#"{{"toolUse":{call}}}"#), "tool_use")
        }
        _ => (format!(r#"{{"text":"{content}"}}"#), "end_turn"),
    }
}
