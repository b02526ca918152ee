//! `generateContent`.

use http::HeaderMap;
use serde_json::{Value, json};

use super::{Answer, Place, Said, respond, tokens};

/// Without a key, or a token, nothing is asked of the model.
pub(crate) fn refusal(headers: &HeaderMap, place: Place) -> Option<Answer> {
    let (known, code, status, message) = match place {
        Place::Gemini => (
            headers.contains_key("x-goog-api-key"),
            403,
            "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers.",
        ),
        Place::Vertex => (
            super::text(headers, "authorization").starts_with("Bearer "),
            401,
            "UNAUTHENTICATED",
            "Request is missing required authentication credential.",
        ),
    };
    if known {
        return None;
    }
    let error = json!({ "code": code, "message": message, "status": status });
    let body = json!({ "error": error });
    Some(respond(code, &[], body.to_string()))
}

/// A response. Written by hand, as the content may be no string of Rust's.
pub(crate) fn generated(sequence: u64, model: &str, request: &Value, said: &Said<'_>) -> Answer {
    let content = said.content.unwrap_or_default();
    let (prompt_tokens, candidate_tokens) = tokens(request, content);
    let usage = json!({
        "promptTokenCount": prompt_tokens, "candidatesTokenCount": candidate_tokens,
        "totalTokenCount": prompt_tokens + candidate_tokens,
    });
    let said_so_far = match said.content {
        // What is blocked before it is asked has no candidates at all.
        None => json!({ "blockReason": "PROHIBITED_CONTENT" }).to_string(),
        Some(_) => candidate(content, said.reason.unwrap_or("STOP")),
    };
    let member = match said.content {
        None => "promptFeedback",
        Some(_) => "candidates",
    };
    let body = format!(
        r#"{{"{member}":{said_so_far},"usageMetadata":{usage},"modelVersion":{},"#,
        json!(model),
    ) + &format!(r#""responseId":"response-{sequence}"}}"#);
    respond(200, &[], body)
}

/// The only one. It has no parts where nothing was said.
fn candidate(content: &str, reason: &str) -> String {
    let parts = match content {
        "" => String::new(),
        text => format!(r#""parts":[{{"text":"{text}"}}],"#),
    };
    let reason = json!(reason);
    format!(r#"[{{"content":{{{parts}"role":"model"}},"finishReason":{reason},"index":0}}]"#)
}
