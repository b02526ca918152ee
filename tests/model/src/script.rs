//! What is asked, and what the test has answered to it.

use std::time::Duration;

use http::HeaderMap;
use serde_json::{Value, json};

use crate::Gate;

/// A call as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Counted from 1, over all calls of the server.
    pub sequence: u64,
    /// The header `Idempotency-Key`; empty where it was missing.
    pub call_key: String,
    /// How often this key was seen, this time included.
    pub seen: u64,
    /// The request's headers.
    pub headers: HeaderMap,
    /// The request's body.
    pub request: Value,
    /// What was reported, as the user message has it, its marks read as the instructions say; null
    /// where it has none.
    pub report: Value,
}

impl Asked {
    /// The report's member `text`, or nothing.
    #[must_use]
    pub fn text(&self) -> &str {
        self.report["text"].as_str().unwrap_or_default()
    }
}

/// What becomes of a call.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// The model answers this, and has said all.
    Answer(String),
    /// The model answers this, escaped already as it is to stand between the quotes of JSON: so
    /// it can hold what a string can't, such as half a surrogate pair.
    Escaped(String),
    /// The model answers this, and stops for another reason, such as `length`, in the words of
    /// the provider that is played.
    Finish {
        /// The answer so far.
        content: String,
        /// The value of `finish_reason`, or what the provider calls it.
        reason: String,
    },
    /// The model declines, with these words.
    Refuse(String),
    /// The server answers without its model.
    Respond {
        /// The status.
        status: u16,
        /// Headers beside the usual, or in their place: also a `content-length` that is wrong.
        headers: Vec<(&'static str, String)>,
        /// The body, JSON or not.
        body: Vec<u8>,
    },
    /// Nothing, until the gate is open; then this.
    Hold(Gate, Box<Self>),
    /// Nothing, until the other side gives up.
    Hang,
    /// The connection is closed without an answer.
    HangUp,
    /// The connection is closed in the middle of an answer.
    BreakOff,
}

impl Behaviour {
    /// A refusal of the server, in the provider's form.
    #[must_use]
    pub fn error(status: u16, kind: &str, code: Option<&str>) -> Self {
        let body = json!({ "error": {
            "message": "told by the script", "type": kind, "param": null, "code": code,
        } });
        Self::Respond {
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
        }
    }

    /// A refusal in Anthropic's form.
    #[must_use]
    pub fn anthropic_error(status: u16, kind: &str, message: &str) -> Self {
        let error = json!({ "type": kind, "message": message });
        let body = json!({ "type": "error", "error": error, "request_id": "req_of_the_body" });
        Self::Respond {
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
        }
    }

    /// A refusal in Amazon's form: its name stands in a header.
    #[must_use]
    pub fn amazon_error(status: u16, name: &str, message: &str) -> Self {
        let refused = Self::Respond {
            status,
            headers: Vec::new(),
            body: json!({ "message": message }).to_string().into_bytes(),
        };
        refused.with("x-amzn-errortype", name)
    }

    /// A refusal in Google's form, with details as its interfaces have them.
    #[must_use]
    pub fn google_error(status: u16, name: &str, message: &str, details: &[Value]) -> Self {
        let error = json!({
            "code": status, "message": message, "status": name, "details": details,
        });
        Self::Respond {
            status,
            headers: Vec::new(),
            body: json!({ "error": error }).to_string().into_bytes(),
        }
    }

    /// 429, to come again after a whole number of seconds.
    #[must_use]
    pub fn rate_limited(retry_after: Duration) -> Self {
        Self::error(429, "requests", Some("rate_limit_exceeded"))
            .with("retry-after", retry_after.as_secs().to_string())
    }

    /// 503, as a server that is out of room answers.
    #[must_use]
    pub fn overloaded() -> Self {
        Self::error(503, "server_error", None)
    }

    /// With another header, where the server answers without its model.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Respond { headers, .. } = &mut self {
            headers.push((name, value.into()));
        }
        self
    }

    /// This, once the gate is open.
    #[must_use]
    pub fn after(self, gate: &Gate) -> Self {
        Self::Hold(gate.clone(), Box::new(self))
    }
}

/// A result that fits the schema `moderation-v3.json`.
#[must_use]
pub fn moderation(category: &str, confidence: f64, needs_human_review: bool) -> Behaviour {
    let value = json!({
        "category": category, "confidence": confidence, "needsHumanReview": needs_human_review,
    });
    Behaviour::Answer(value.to_string())
}

/// The first for the first call of all, and so on; the last for all that come after.
pub fn in_turn(
    behaviours: impl Into<Vec<Behaviour>>,
) -> impl Fn(&Asked) -> Behaviour + Send + Sync + 'static {
    let behaviours = behaviours.into();
    move |asked| nth(&behaviours, asked.sequence)
}

/// The first for the first call with a key, and so on; the last for all that come after.
pub fn by_key(
    behaviours: impl Into<Vec<Behaviour>>,
) -> impl Fn(&Asked) -> Behaviour + Send + Sync + 'static {
    let behaviours = behaviours.into();
    move |asked| nth(&behaviours, asked.seen)
}

fn nth(behaviours: &[Behaviour], n: u64) -> Behaviour {
    let index = usize::try_from(n - 1).unwrap_or(usize::MAX);
    let behaviour = behaviours.get(index).or_else(|| behaviours.last());
    behaviour.cloned().unwrap()
}
