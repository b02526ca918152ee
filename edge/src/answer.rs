//! What a sender gets.

use fencepost_identity::{
    admission::{self, HandshakeAnswer},
    canonical::write_str,
    key::ReportKey,
};

use crate::refusal::Refusal;

/// When to deliver again, in seconds: what keeps a backend from storing is over soon or not at all.
const RETRY_AFTER_SECONDS: &str = "5";

/// An HTTP answer, complete but for its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers beside `content-length`.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The body: JSON, but for what a handshake gets back.
    pub body: String,
}

/// Whether the backend had the report already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receipt {
    First,
    Again,
    /// It had another content under the same identity, and keeps that one.
    AgainOtherwise,
}

impl Answer {
    pub(crate) fn stored(report_key: &ReportKey, state: &str, receipt: Receipt) -> Self {
        let mut body = format!("{{\"report_key\":\"{report_key}\",\"state\":");
        write_str(state, &mut body);
        body.push_str(match receipt {
            Receipt::First => ",\"duplicate\":false}",
            Receipt::Again => ",\"duplicate\":true}",
            Receipt::AgainOtherwise => ",\"duplicate\":true,\"conflict\":true}",
        });
        let status = match receipt {
            Receipt::First => 202,
            Receipt::Again | Receipt::AgainOtherwise => 200,
        };
        Self {
            status,
            headers: vec![("content-type", "application/json")],
            body,
        }
    }

    /// For an event that the source's filter passes over.
    pub(crate) fn ignored() -> Self {
        let headers = vec![("content-type", "application/json")];
        Self {
            status: 200,
            headers,
            body: "{\"ignored\":true}".to_owned(),
        }
    }

    /// For a provider that asks whether the address is ours. No browser may take what it sent for
    /// anything but text.
    pub(crate) fn handshake(answer: HandshakeAnswer) -> Self {
        let (content_type, body) = match answer {
            HandshakeAnswer::Text(text) => (Some("text/plain; charset=utf-8"), text),
            HandshakeAnswer::Json(json) => (Some("application/json"), json),
            HandshakeAnswer::Empty => (None, String::new()),
        };
        let mut headers = vec![("x-content-type-options", "nosniff")];
        headers.extend(content_type.map(|content_type| ("content-type", content_type)));
        Self {
            status: 200,
            headers,
            body,
        }
    }

    /// A problem document, RFC 9457.
    pub(crate) fn problem(refusal: &Refusal) -> Self {
        let mut body = String::from("{\"type\":\"about:blank\",\"title\":");
        write_str(refusal.title(), &mut body);
        body.push_str(&format!(",\"status\":{},\"code\":", refusal.status()));
        write_str(refusal.code(), &mut body);
        body.push('}');
        let mut headers = vec![("content-type", "application/problem+json")];
        match refusal {
            Refusal::Delivery(admission::Refusal::MethodNotAllowed { allow }) => {
                headers.push(("allow", allow));
            }
            Refusal::Delivery(_) => {}
            Refusal::Misconfigured(_) | Refusal::NotStored(_) => {
                headers.push(("retry-after", RETRY_AFTER_SECONDS));
            }
        }
        Self {
            status: refusal.status(),
            headers,
            body,
        }
    }
}
