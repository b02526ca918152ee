//! What the provider says of a failure besides its status: a limit that its owner set comes as a
//! 400, and one that waiting does not lift as a 429.

use serde_json::Value;

use super::super::{
    RequestId,
    client::Reply,
    status::{Meaning, Said},
};

/// The types that are told in a log. Another text might be the report's.
const KNOWN_WORDS: [&str; 12] = [
    "api_error",
    "authentication_error",
    "billing_error",
    "conflict_error",
    "gateway_timeout",
    "invalid_request_error",
    "not_found_error",
    "overloaded_error",
    "permission_error",
    "rate_limit_error",
    "request_too_large",
    "timeout_error",
];

/// How the provider words that no money is left, or no more may be spent.
const SPENT: [&str; 6] = [
    "credit balance",
    "spend cap",
    "spend limit",
    "spending cap",
    "spending limit",
    "usage limit",
];

/// How it words that a question is too long.
const TOO_LONG: [&str; 3] = [
    "exceed context limit",
    "exceeds the context window",
    "prompt is too long",
];

/// How it words that what the model said is not handed out.
const FILTERED: &str = "content filtering policy";

/// Reads `{"type": "error", "error": {"type", "message"}, "request_id"}`, or nothing: what is too
/// large is refused before the provider by a server with a page of its own.
pub(super) fn said(reply: &Reply, body: &Value) -> Said {
    let text = |pointer| body.pointer(pointer).and_then(Value::as_str);
    let kind = text("/error/type").unwrap_or_default();
    let message = text("/error/message").unwrap_or_default();
    Said {
        word: KNOWN_WORDS.into_iter().find(|word| *word == kind),
        request_id: text("/request_id").and_then(RequestId::new),
        delay: None,
        // It is compared, and never shown: it may quote the report.
        meant: meant(reply, kind, &message.to_ascii_lowercase()),
    }
}

fn meant(reply: &Reply, kind: &str, message: &str) -> Option<Meaning> {
    let speaks_of = |words: &[&str]| words.iter().any(|words| message.contains(words));
    match reply.status.as_u16() {
        // Whoever names a time expects another try; a cap on what may be spent has none.
        429 if speaks_of(&SPENT) && !reply.names_a_time() => Some(Meaning::Quota),
        400 if speaks_of(&SPENT) => Some(Meaning::Quota),
        400 if message.contains(FILTERED) => Some(Meaning::Refused),
        400 | 413 if speaks_of(&TOO_LONG) => Some(Meaning::ContextTooLong),
        500..=599 if kind == "overloaded_error" => Some(Meaning::Overloaded),
        _ => None,
    }
}
