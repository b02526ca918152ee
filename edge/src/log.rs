//! The one line that a refused or ignored delivery leaves.
//!
//! It is made of the configuration's words, of numbers and of fixed tokens: nothing that a sender
//! wrote can get into it.

use fencepost_identity::{admission, canonical::write_str};

use crate::refusal::{Misconfigured, NotStored, Refusal};

/// What is known of a delivery so far.
#[derive(Debug, Default)]
pub(crate) struct Trail<'c> {
    /// Seconds since 1970.
    pub(crate) time: u64,
    pub(crate) source: Option<&'c str>,
    pub(crate) body_bytes: Option<usize>,
}

impl Trail<'_> {
    pub(crate) fn ignored(&self) -> String {
        let mut line = Line::begin("ignored");
        self.describe(&mut line);
        line.text("code", "ignored");
        line.text("reason", "filter");
        line.end()
    }

    pub(crate) fn handshake(&self) -> String {
        let mut line = Line::begin("handshake");
        self.describe(&mut line);
        line.text("code", "handshake");
        line.text("reason", "handshake");
        line.end()
    }

    pub(crate) fn refused(&self, refusal: &Refusal) -> String {
        let mut line = Line::begin("refused");
        self.describe(&mut line);
        line.text("code", refusal.code());
        line.text("reason", refusal.reason());
        match refusal {
            Refusal::Delivery(refusal) => describe_fault(refusal, &mut line),
            Refusal::Misconfigured(Misconfigured::File(detail)) => line.text("detail", detail),
            Refusal::Misconfigured(Misconfigured::Variable { name, why }) => {
                line.text("variable", name);
                line.text("detail", why);
            }
            Refusal::NotStored(NotStored::Refused { status, .. } | NotStored::Odd { status }) => {
                line.number("backend_status", status);
            }
            Refusal::NotStored(
                NotStored::Deadline | NotStored::Unreachable | NotStored::Denied,
            ) => {}
        }
        line.end()
    }

    fn describe(&self, line: &mut Line) {
        line.number("time", self.time);
        if let Some(source) = self.source {
            line.text("source", source);
        }
        if let Some(bytes) = self.body_bytes {
            line.number("body_bytes", bytes);
        }
    }
}

fn describe_fault(refusal: &admission::Refusal, line: &mut Line) {
    match refusal {
        admission::Refusal::Mismatch { secrets } => line.text("secret", &secrets.join(" ")),
        admission::Refusal::OutOfWindow(proof) => {
            line.text("secret", &proof.secret);
            line.number("skew_seconds", proof.skew_seconds.unwrap_or_default());
        }
        admission::Refusal::TooLarge { limit } => line.number("limit_bytes", limit),
        admission::Refusal::MethodNotAllowed { .. }
        | admission::Refusal::UnknownSource
        | admission::Refusal::ContentEncoding
        | admission::Refusal::BadContentEncoding
        | admission::Refusal::Interrupted
        | admission::Refusal::Signature(_)
        | admission::Refusal::NoSecret
        | admission::Refusal::TenantNotAllowed
        | admission::Refusal::Handshake
        | admission::Refusal::HandshakeRefused
        | admission::Refusal::Form
        | admission::Refusal::Payload(_) => {}
    }
}

/// A JSON object in the making.
struct Line(String);

impl Line {
    fn begin(event: &str) -> Self {
        let mut line = Self(String::from("{"));
        line.text("event", event);
        line
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        write_str(value, &mut self.0);
    }

    fn number(&mut self, name: &str, value: impl std::fmt::Display) {
        self.name(name);
        self.0.push_str(&value.to_string());
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_str(name, &mut self.0);
        self.0.push(':');
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
