//! What another status than 200 means. What it does not say stands in the body's details: for how
//! long to wait, and whether the limit is one of a minute or of a day.

use std::time::Duration;

use serde_json::Value;

use super::super::{
    Call, Failure,
    client::{Reply, STRANGE},
};

/// The names that are told in a log. Another text might be the report's.
const KNOWN_WORDS: [&str; 13] = [
    "ABORTED",
    "CANCELLED",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNKNOWN",
];

/// How the provider words that a question is too long.
const TOO_LONG: &str = "exceeds the maximum number of tokens";

/// What the provider says of a failure.
struct Said<'a> {
    status: &'a str,
    /// Compared, and never shown: it may quote the report.
    message: &'a str,
    details: &'a [Value],
}

impl<'a> Said<'a> {
    /// Reads `{"error": {"status", "message", "details"}}`, or nothing.
    fn read(body: &'a Value) -> Self {
        let error = body.get("error").unwrap_or(&Value::Null);
        let text = |member| error.get(member).and_then(Value::as_str);
        let details = error.get("details").and_then(Value::as_array);
        Self {
            status: text("status").unwrap_or_default(),
            message: text("message").unwrap_or_default(),
            details: details.map(Vec::as_slice).unwrap_or_default(),
        }
    }

    fn known_word(&self) -> Option<&'static str> {
        KNOWN_WORDS.into_iter().find(|word| *word == self.status)
    }

    /// A member of the details of this type.
    fn detail(&self, kind: &str, member: &str) -> Option<&'a Value> {
        let is_of_kind = |detail: &&Value| {
            let named = detail.get("@type").and_then(Value::as_str);
            named.is_some_and(|named| named.rsplit('.').next() == Some(kind))
        };
        let mut of_kind = self.details.iter().filter(is_of_kind);
        of_kind.find_map(|detail| detail.get(member))
    }

    fn delay(&self, reply: &Reply) -> Option<Duration> {
        let in_body = self
            .detail("RetryInfo", "retryDelay")
            .and_then(Value::as_str);
        let header = reply.retry_after();
        header.or_else(|| reply.delay(in_body?))
    }

    /// The message speaks of plan and billing for the limit of a minute, too.
    fn is_of_a_day(&self) -> bool {
        let violations = self.detail("QuotaFailure", "violations");
        let violations = violations.and_then(Value::as_array).into_iter().flatten();
        let mut ids = violations.filter_map(|violation| violation.get("quotaId")?.as_str());
        ids.any(|id| id.contains("PerDay"))
    }

    /// A wrong key is no 401 here.
    fn is_of_the_key(&self) -> bool {
        let reason = self.detail("ErrorInfo", "reason").and_then(Value::as_str);
        matches!(reason, Some("API_KEY_INVALID" | "API_KEY_EXPIRED"))
    }
}

/// What went wrong, and told in the log.
pub(super) fn read(reply: &Reply, _call: &mut Call) -> Failure {
    let body = reply.said();
    let said = Said::read(&body);
    let failure = classify(reply, &said);
    reply.log(said.known_word(), failure);
    failure
}

fn classify(reply: &Reply, said: &Said<'_>) -> Failure {
    let retry_after = said.delay(reply);
    let quota = Failure::Quota { retry_after };
    match reply.status.as_u16() {
        401 | 403 => Failure::Auth,
        400 if said.is_of_the_key() => Failure::Auth,
        402 => quota,
        429 if said.is_of_a_day() => quota,
        429 => Failure::RateLimited { retry_after },
        503 | 529 => Failure::Overloaded { retry_after },
        400 | 413 if said.message.contains(TOO_LONG) => Failure::ContextTooLong,
        // 499 is a call that was given up on the way.
        408 | 409 | 425 | 499 => STRANGE,
        400..=499 => Failure::InvalidRequest,
        // Also what is no answer at all, such as a redirect: another program stands there.
        _ => STRANGE,
    }
}
