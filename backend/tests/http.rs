//! The two listeners: what each accepts, what each refuses, and what neither tells.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets what it does not expect ends there"
)]

#[path = "http/admin.rs"]
mod admin;
#[path = "http/bounds.rs"]
mod bounds;
#[path = "http/corrections.rs"]
mod corrections;
#[path = "http/decisions.rs"]
mod decisions;
#[path = "http/envelope.rs"]
mod envelope;
#[path = "http/findings.rs"]
mod findings;
#[path = "http/ingest.rs"]
mod ingest;
#[path = "http/replay.rs"]
mod replay;
#[path = "http/scripted.rs"]
mod scripted;

use axum::{Router, body::Body, http::Request};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

/// What the configuration is called.
const FILE: &str = "fencepost.toml";

/// An answer, read to its end.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: axum::http::HeaderMap,
    body: Value,
}

impl Answer {
    /// The code of a problem document, which has the right type and repeats its status.
    fn code(&self) -> &str {
        assert_eq!(
            self.headers["content-type"], "application/problem+json",
            "{self:?}"
        );
        assert_eq!(self.body["status"], self.status, "{self:?}");
        self.body["code"].as_str().unwrap()
    }
}

async fn call(router: &Router, request: Request<Body>) -> Answer {
    let response = router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
    Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body,
    }
}
