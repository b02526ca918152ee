//! What a server says of a failure besides its status: a code, a type, or only a message.

use serde_json::Value;

use super::super::{
    client::Reply,
    status::{Meaning, Said},
};

/// The codes that are told in a log. Another text might be the report's.
const KNOWN_WORDS: [&str; 20] = [
    "billing_hard_limit_reached",
    "billing_not_active",
    "content_filter",
    "content_policy_violation",
    "context_length_exceeded",
    "exceed_context_size_error",
    "insufficient_quota",
    "invalid_api_key",
    "invalid_json_schema",
    "invalid_request_error",
    "invalid_type",
    "invalid_value",
    "model_not_found",
    "rate_limit_exceeded",
    "server_error",
    "unavailable_error",
    "unknown_parameter",
    "unsupported_country_region_territory",
    "unsupported_parameter",
    "unsupported_value",
];

/// How servers word that a question is too long; they share no code for it.
const TOO_LONG: [&str; 6] = [
    "context length",
    "context window",
    "context size",
    "input is too long",
    "prompt is too long",
    "too many input tokens",
];

/// Reads `{"error": {"code", "type", "message"}}`, `{"error": "…"}`, or nothing.
pub(super) fn said(reply: &Reply, body: &Value) -> Said {
    let words = Words::read(body);
    Said {
        word: words.known(),
        meant: words.meant(reply.status.as_u16()),
        ..Said::default()
    }
}

/// In small letters.
#[derive(Default)]
struct Words {
    code: String,
    kind: String,
    /// It is compared, and never shown: it may quote the report.
    message: String,
}

impl Words {
    fn read(body: &Value) -> Self {
        let Some(error) = body.get("error") else {
            return Self::default();
        };
        let text = |value: Option<&Value>| {
            let text = value.and_then(Value::as_str).unwrap_or_default();
            text.to_ascii_lowercase()
        };
        let message = error.get("message").or(error.is_string().then_some(error));
        Self {
            code: text(error.get("code")),
            kind: text(error.get("type")),
            message: text(message),
        }
    }

    /// The server's word for it, if it is one that is known.
    fn known(&self) -> Option<&'static str> {
        let known = |said: &str| KNOWN_WORDS.into_iter().find(|word| *word == said);
        known(&self.code).or_else(|| known(&self.kind))
    }

    fn meant(&self, status: u16) -> Option<Meaning> {
        match status {
            400 | 429 if self.is_quota() => Some(Meaning::Quota),
            400 if self.is_refusal() => Some(Meaning::Refused),
            400 | 413 | 422 if self.is_too_long() => Some(Meaning::ContextTooLong),
            429 if self.is_more_than_the_limit() => Some(Meaning::InvalidRequest),
            _ => None,
        }
    }

    fn is(&self, word: &str) -> bool {
        self.code == word || self.kind == word
    }

    fn is_quota(&self) -> bool {
        self.is("insufficient_quota")
            || self.code.starts_with("billing")
            || self.kind.starts_with("billing")
            || self.message.contains("credit balance")
    }

    /// One question that is longer than the limit for a minute: waiting does not help.
    fn is_more_than_the_limit(&self) -> bool {
        self.message.starts_with("request too large")
    }

    fn is_refusal(&self) -> bool {
        self.is("content_filter") || self.is("content_policy_violation")
    }

    fn is_too_long(&self) -> bool {
        self.is("context_length_exceeded")
            || self.is("exceed_context_size_error")
            || TOO_LONG.iter().any(|words| self.message.contains(words))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::super::{Call, Failure, status},
        *,
    };

    const QUOTA: Failure = Failure::Quota { retry_after: None };

    fn failure(status: u16, error: Value) -> Failure {
        let body = json!({ "error": error }).to_string();
        status::read(&Reply::of(status, &body), said, &mut Call::default())
    }

    #[test]
    fn what_shares_a_status_is_told_apart_by_what_is_said() {
        let limited = Failure::RateLimited { retry_after: None };
        for (status, error, expected) in [
            (
                429,
                json!({ "code": "rate_limit_exceeded", "type": "tokens" }),
                limited,
            ),
            (429, json!({ "code": "insufficient_quota" }), QUOTA),
            (
                429,
                json!({ "code": null, "type": "insufficient_quota" }),
                QUOTA,
            ),
            (429, json!({ "code": "billing_hard_limit_reached" }), QUOTA),
            (
                429,
                json!({ "message": "Your credit balance is too low" }),
                QUOTA,
            ),
            (
                429,
                json!({ "message": "Request too large for m: Limit 9, Requested 10." }),
                Failure::InvalidRequest,
            ),
            (429, json!("slow down"), limited),
            (429, json!(null), limited),
            (402, json!("no credit"), QUOTA),
            (
                400,
                json!({ "code": "context_length_exceeded" }),
                Failure::ContextTooLong,
            ),
            (
                400,
                json!({ "code": 400, "type": "exceed_context_size_error" }),
                Failure::ContextTooLong,
            ),
            (
                400,
                json!({ "message": "This model's maximum context length is 8192 tokens." }),
                Failure::ContextTooLong,
            ),
            (
                413,
                json!("the prompt is too long"),
                Failure::ContextTooLong,
            ),
            (400, json!({ "code": "content_filter" }), Failure::Refused),
            (
                400,
                json!({ "code": "invalid_json_schema" }),
                Failure::InvalidRequest,
            ),
            (
                400,
                json!({ "message": "billing is not set up; credit balance 0" }),
                QUOTA,
            ),
        ] {
            assert_eq!(failure(status, error.clone()), expected, "{status} {error}");
        }
    }

    #[test]
    fn only_words_of_the_list_are_told() {
        for (error, word) in [
            (
                json!({ "code": "invalid_api_key", "message": "canary" }),
                Some("invalid_api_key"),
            ),
            (
                json!({ "code": "canary", "type": "server_error" }),
                Some("server_error"),
            ),
            (json!({ "code": "canary", "type": "canary" }), None),
            (json!("canary"), None),
        ] {
            let words = Words::read(&json!({ "error": error }));
            assert_eq!(words.known(), word, "{error}");
        }
    }
}
