//! What the provider says of a failure besides its status stands in the body's details: for how
//! long to wait, and whether the limit is one of a minute or of a day.

use serde_json::Value;

use super::super::{
    client::Reply,
    status::{Meaning, Said},
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

/// Reads `{"error": {"status", "message", "details"}}`, or nothing.
pub(super) fn said(reply: &Reply, body: &Value) -> Said {
    let error = body.get("error").unwrap_or(&Value::Null);
    let text = |member| error.get(member).and_then(Value::as_str);
    let status = text("status").unwrap_or_default();
    let details = error.get("details").and_then(Value::as_array);
    let details = Details(details.map(Vec::as_slice).unwrap_or_default());
    let delay = details.member("RetryInfo", "retryDelay");
    // It is compared, and never shown: it may quote the report.
    let message = text("message").unwrap_or_default();
    Said {
        word: KNOWN_WORDS.into_iter().find(|word| *word == status),
        request_id: None,
        delay: delay
            .and_then(Value::as_str)
            .and_then(|delay| reply.delay(delay)),
        meant: meant(reply, message, &details),
    }
}

fn meant(reply: &Reply, message: &str, details: &Details<'_>) -> Option<Meaning> {
    match reply.status.as_u16() {
        400 if details.name_the_key() => Some(Meaning::Auth),
        400 | 413 if message.contains(TOO_LONG) => Some(Meaning::ContextTooLong),
        429 if details.name_a_day() => Some(Meaning::Quota),
        // A call that was given up on the way.
        499 => Some(Meaning::Strange),
        _ => None,
    }
}

/// What comes with a failure, each of a type of its own.
struct Details<'a>(&'a [Value]);

impl<'a> Details<'a> {
    /// A member of the details of this type.
    fn member(&self, kind: &str, member: &str) -> Option<&'a Value> {
        let is_of_kind = |detail: &&Value| {
            let named = detail.get("@type").and_then(Value::as_str);
            named.is_some_and(|named| named.rsplit('.').next() == Some(kind))
        };
        let mut of_kind = self.0.iter().filter(is_of_kind);
        of_kind.find_map(|detail| detail.get(member))
    }

    /// The message speaks of plan and billing for the limit of a minute, too.
    fn name_a_day(&self) -> bool {
        let violations = self.member("QuotaFailure", "violations");
        let violations = violations.and_then(Value::as_array).into_iter().flatten();
        let mut ids = violations.filter_map(|violation| violation.get("quotaId")?.as_str());
        ids.any(|id| id.contains("PerDay"))
    }

    /// A wrong key is no 401 here.
    fn name_the_key(&self) -> bool {
        let reason = self.member("ErrorInfo", "reason").and_then(Value::as_str);
        matches!(reason, Some("API_KEY_INVALID" | "API_KEY_EXPIRED"))
    }
}
