//! Chat Completions.

use serde_json::{Value, json};

use super::{Answer, Said, respond, tokens};

/// A completion. Written by hand, as the content may be no string of Rust's.
pub(crate) fn completion(sequence: u64, request: &Value, said: &Said<'_>) -> Answer {
    let content = said
        .content
        .map_or_else(|| "null".to_owned(), |content| format!("\"{content}\""));
    let (prompt_tokens, completion_tokens) = tokens(request, &content);
    let usage = json!({
        "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    });
    let body = format!(
        r#"{{"id":"chatcmpl-{sequence}","object":"chat.completion","created":1741570283,"#
    ) + &format!(
        r#""model":{},"choices":[{{"index":0,"logprobs":null,"finish_reason":{},"#,
        request["model"],
        json!(said.reason.unwrap_or("stop")),
    ) + &format!(
        r#""message":{{"role":"assistant","content":{content},"refusal":{}}}}}],"usage":{usage}}}"#,
        json!(said.refusal),
    );
    respond(200, &[("x-request-id", format!("req_{sequence}"))], body)
}
