//! A delivery, signed as its sender would. The signatures are made here from their definitions, not
//! by the code that checks them.

use std::time::SystemTime;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::Request;
use serde_json::Value;
use sha2::Sha256;

use crate::{
    client::Pieces,
    project::{GITHUB_SECRET, NOTES_SECRET, tenant_secret, workspace},
};

/// How a body is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// With `content-length`.
    Declared,
    /// In chunks, without.
    Chunked,
}

/// One delivery.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The method.
    pub method: &'static str,
    /// The path and query.
    pub path: String,
    /// The headers; a name may stand twice.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How it is sent.
    pub framing: Framing,
}

impl Delivery {
    /// Of GitHub, to a source of the example configuration, signed.
    #[must_use]
    pub fn github(source: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let signature = github_signature(GITHUB_SECRET, &body);
        let delivery = Self::unsigned(&format!("/hooks/{source}"), body);
        delivery
            .header("x-github-event", "issue_comment")
            .header("x-github-delivery", "8c1f2a50-0000-11ee-8000-000000000001")
            .header("x-hub-signature-256", &signature)
    }

    /// A note: source `notes` of the tests, whose ids name immutable events.
    #[must_use]
    pub fn note(id: &str, text: &str) -> Self {
        let body = serde_json::json!({ "id": id, "text": text }).to_string();
        Self::standard("/hooks/notes", NOTES_SECRET, body)
    }

    /// A report of a tenant of the route: source `reports` of the example configuration.
    #[must_use]
    pub fn report(tenant: &str, id: &str, revision: u64, text: &str) -> Self {
        let body = serde_json::json!({ "id": id, "revision": revision, "text": text });
        let path = format!("/hooks/reports/{tenant}");
        Self::standard(&path, &tenant_secret(tenant), body.to_string())
    }

    /// Signed as Standard Webhooks has it, now.
    #[must_use]
    pub fn standard(path: &str, secret: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let headers = standard_headers(secret, "msg_1", now(), &body);
        let delivery = Self::unsigned(path, body);
        headers.iter().fold(delivery, |delivery, (name, value)| {
            delivery.header(name, value)
        })
    }

    /// Without any signature.
    #[must_use]
    pub fn unsigned(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let delivery = Self {
            method: "POST",
            path: path.to_owned(),
            headers: Vec::new(),
            body: body.into(),
            framing: Framing::Declared,
        };
        delivery.header("content-type", "application/json")
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without a header.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| header != name);
        self
    }

    /// In chunks.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.framing = Framing::Chunked;
        self
    }

    pub(crate) fn request(&self, base: &str) -> Request<Pieces> {
        let authority = base.strip_prefix("http://").unwrap();
        let request = Request::builder()
            .method(self.method)
            .uri(&self.path)
            .header("host", authority);
        let headers = self.headers.iter();
        let request = headers.fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        let pieces = self.body.chunks(16 * 1024).map(Bytes::copy_from_slice);
        let declared = match self.framing {
            Framing::Declared => Some(self.body.len() as u64),
            Framing::Chunked => None,
        };
        let pieces = pieces.collect();
        request.body(Pieces { pieces, declared }).unwrap()
    }
}

/// The value of `x-hub-signature-256`.
#[must_use]
pub fn github_signature(secret: &str, body: &[u8]) -> String {
    let hex: String = code(secret.as_bytes(), body)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    format!("sha256={hex}")
}

/// The headers of Standard Webhooks.
///
/// # Panics
/// When the secret isn't `whsec_` and base64.
#[must_use]
pub fn standard_headers(
    secret: &str,
    id: &str,
    seconds: u64,
    body: &[u8],
) -> Vec<(&'static str, String)> {
    let key = BASE64_STANDARD
        .decode(secret.strip_prefix("whsec_").unwrap())
        .unwrap();
    let mut signed = format!("{id}.{seconds}.").into_bytes();
    signed.extend_from_slice(body);
    let signature = format!("v1,{}", BASE64_STANDARD.encode(code(&key, &signed)));
    vec![
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", signature),
    ]
}

pub(crate) fn code(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.chain_update(message).finalize().into_bytes().into()
}

/// Seconds since 1970.
///
/// # Panics
/// Before 1970.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "senders have a clock")]
pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// A payload that GitHub sent.
///
/// # Panics
/// When there is none of that name.
#[must_use]
pub fn sample(name: &str) -> Value {
    let path = workspace().join("samples/github").join(name);
    let text = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap()
}
