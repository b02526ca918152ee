//! Envelopes as the edge makes them, and as it would not.

use axum::{body::Body, http::Request};
use fencepost::clock::UnixMillis;
use fencepost_identity::{
    envelope::{
        EdgeSecret, Envelope, HEADER_KEY_ID, HEADER_SIGNATURE, HEADER_TIME, REPORTS_PATH, seal,
    },
    identity::{Identity, Namespace, ReportId, Revision, Tenant, Version},
    json,
    key::MappingDigest,
    mapping::Input,
};

pub(crate) const SECRET: &str = "edge-canary-0123456789";
/// What no log and no answer may ever show.
pub(crate) const TEXT: &str = "text-canary: you are right!";
/// The clock of these tests, in seconds.
pub(crate) const NOW: u64 = 1_800_000_000;

pub(crate) fn clock() -> UnixMillis {
    UnixMillis::new(i64::try_from(NOW).unwrap() * 1000 + 999)
}

pub(crate) fn envelope() -> Envelope {
    let input = serde_json::json!({"text": TEXT}).to_string();
    let input = Input::of_object(&json::parse(input.as_bytes()).unwrap()).unwrap();
    Envelope {
        source: "reports".to_owned(),
        identity: Identity {
            tenant: Tenant::new("acme").unwrap(),
            namespace: Namespace::new("reports").unwrap(),
            report_id: ReportId::new("id-canary").unwrap(),
            version: Version::Revision(Revision::new(3).unwrap()),
        },
        input: Some(input),
        order: Some("3".to_owned()),
        links: vec![(
            "page".to_owned(),
            "https://example.test/link-canary".to_owned(),
        )],
        mapping_digest: MappingDigest::from_bytes([7; 32]),
    }
}

/// The three headers over a body.
pub(crate) fn headers(secret: &str, time: u64, body: &str) -> Vec<(&'static str, String)> {
    let secret = EdgeSecret::new(secret).unwrap();
    let names = [HEADER_TIME, HEADER_KEY_ID, HEADER_SIGNATURE];
    names
        .into_iter()
        .zip(seal(&secret, time, body.as_bytes()))
        .collect()
}

pub(crate) fn request(headers: &[(&'static str, String)], body: impl Into<Body>) -> Request<Body> {
    let mut request = Request::post(REPORTS_PATH);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    request.body(body.into()).unwrap()
}

/// A body, signed now with the live secret.
pub(crate) fn signed(body: &str) -> Request<Body> {
    request(&headers(SECRET, NOW, body), body.to_owned())
}
