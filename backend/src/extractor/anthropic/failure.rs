//! What another status than 200 means. The status alone does not say: a limit that its owner set
//! comes as a 400, and one that waiting does not lift as a 429.

use serde_json::Value;

use super::super::{
    Call, Failure, RequestId,
    client::{Reply, STRANGE},
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

/// What the provider says of a failure.
#[derive(Default)]
struct Said {
    kind: String,
    /// In small letters. It is compared, and never shown: it may quote the report.
    message: String,
}

impl Said {
    /// Reads `{"type": "error", "error": {"type", "message"}}`, or nothing: what is too large is
    /// refused before the provider by a server with a page of its own.
    fn read(body: &Value) -> Self {
        let text = |pointer| {
            let text = body.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default().to_ascii_lowercase()
        };
        Self {
            kind: text("/error/type"),
            message: text("/error/message"),
        }
    }

    fn known_word(&self) -> Option<&'static str> {
        KNOWN_WORDS.into_iter().find(|word| *word == self.kind)
    }

    fn speaks_of(&self, words: &[&str]) -> bool {
        words.iter().any(|words| self.message.contains(words))
    }
}

/// What went wrong, and told in the log.
pub(super) fn read(reply: &Reply, call: &mut Call) -> Failure {
    let body = reply.said();
    if call.request_id.is_none() {
        let id = body.get("request_id").and_then(Value::as_str);
        call.request_id = id.and_then(RequestId::new);
    }
    let said = Said::read(&body);
    let failure = classify(reply, &said);
    reply.log(said.known_word(), failure);
    failure
}

fn classify(reply: &Reply, said: &Said) -> Failure {
    let retry_after = reply.retry_after();
    let quota = Failure::Quota { retry_after };
    match reply.status.as_u16() {
        401 | 403 => Failure::Auth,
        402 => quota,
        // Whoever names a time expects another try; a cap on what may be spent has none.
        429 if said.speaks_of(&SPENT) && !reply.names_a_time() => quota,
        429 => Failure::RateLimited { retry_after },
        503 | 529 => Failure::Overloaded { retry_after },
        400 if said.speaks_of(&SPENT) => quota,
        400 if said.message.contains(FILTERED) => Failure::Refused,
        400 | 413 if said.speaks_of(&TOO_LONG) => Failure::ContextTooLong,
        408 | 409 | 425 => STRANGE,
        400..=499 => Failure::InvalidRequest,
        500..=599 if said.kind == "overloaded_error" => Failure::Overloaded { retry_after },
        // Also what is no answer at all, such as a redirect: another program stands there.
        _ => STRANGE,
    }
}
