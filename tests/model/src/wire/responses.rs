//! Responses.

use serde_json::{Value, json};

use super::{Answer, Said, respond, tokens};

/// A response. Written by hand, as the content may be no string of Rust's.
pub(crate) fn response(sequence: u64, request: &Value, said: &Said<'_>) -> Answer {
    let part = match (said.content, said.refusal) {
        (Some(text), _) => format!(r#"{{"type":"output_text","annotations":[],"text":"{text}"}}"#),
        (None, words) => json!({ "type": "refusal", "refusal": words }).to_string(),
    };
    let (status, details) = match said.reason {
        Some(reason) => ("incomplete", json!({ "reason": reason })),
        None => ("completed", Value::Null),
    };
    let (input_tokens, output_tokens) = tokens(request, &part);
    let usage = json!({
        "input_tokens": input_tokens, "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    });
    let body = format!(
        r#"{{"id":"resp_{sequence}","object":"response","created_at":1741570283,"error":null,"#
    ) + &format!(
        r#""model":{},"status":"{status}","incomplete_details":{details},"usage":{usage},"#,
        request["model"],
    ) + r#""output":[{"type":"reasoning","id":"rs_1","summary":[]},"#
        + &format!(r#"{{"type":"message","id":"msg_1","role":"assistant","status":"{status}","#)
        + &format!(r#""content":[{part}]}}]}}"#);
    respond(200, &[("x-request-id", format!("req_{sequence}"))], body)
}
