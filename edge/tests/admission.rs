//! What the edge makes of deliveries, natively: every refusal, the order of the checks, and that
//! nothing but the chosen members of a payload goes anywhere.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
};

use fencepost_edge::{
    Answer, Delivery, Host, Interrupted, Post, PostError, Reply, VariableUnavailable, handle,
};
use fencepost_identity::{
    config::Sources,
    envelope::{EdgeSecret, Envelope, Seal, open},
    signature::{Preset, SigningKey, derive_secret, sign},
};
use futures::executor::block_on;
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: u64 = 1_800_000_000;
const SECRET: &str = "fp_test_secret_0123456789abcdef";
const OLD_SECRET: &str = "fp_old_secret_0123456789abcdef";
const EDGE_SECRET: &str = "fp_edge_secret_0123456789abcdef";
const WHSEC: &str = "whsec_ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==";

const CONFIGURATION: &str = r#"
[source.comments]
verify = "github"
secrets = ["github_secret"]
sender = "trusted"
pipeline = "moderation"
filter = { "/action" = ["created", "edited"] }
max_body_bytes = 600

[source.comments.identity]
tenant = { pointer = "/owner/id" }
report_id = "/comment/id"
version = { content = ["/comment/body"] }
order = "/comment/updated_at"

[source.comments.input]
text = "/comment/body"

[source.comments.links]
page = "/comment/html_url"

[source.rotating]
verify = "github"
secrets = ["github_secret", { name = "old_secret", not_after = 2027-01-15T08:00:00Z }]
tenants = ["acme", "7"]
pipeline = "moderation"
ack_deadline_ms = 1234

[source.rotating.identity]
tenant = { pointer = "/tenant" }
report_id = "/id"
version = { revision = "/rev" }

[source.rotating.input]
text = "/text"

[source.events]
verify = "standard-webhooks"
secrets = ["events_secret"]
pipeline = "moderation"

[source.events.identity]
tenant = { value = "acme" }
report_id = "/id"
version = "event"

[source.events.input]
text = "/text"
again = "/text"

[source.derived]
verify = "standard-webhooks"
secrets = { derive_from = "master_secret" }
pipeline = "moderation"

[source.derived.identity]
tenant = { route = true }
report_id = "/id"
version = "event"

[source.derived.input]
text = "/text"

[source.own-secret]
verify = "github"
secrets = ["secret_of_{tenant}"]
pipeline = "moderation"

[source.own-secret.identity]
tenant = { route = true }
report_id = "/id"
version = "event"

[source.own-secret.input]
text = "/text"

[pipeline.moderation]
kind = "classification"
"#;

const COMMENT: &str = r#"{"action":"created","owner":{"id":7},"comment":{"id":81,"body":"hello"}}"#;

/// What the backend does with a call.
#[derive(Clone, Copy)]
enum Backend {
    /// Says that this is the first, or a duplicate, or a conflict.
    Stores(u16, &'static str),
    Says(u16, &'static str),
    Fails(PostError),
}

struct World {
    sources: Result<Sources, String>,
    variables: BTreeMap<String, String>,
    backend: Backend,
    now: u64,
}

impl World {
    fn new() -> Self {
        let variables = [
            ("backend_url", "http://127.0.0.1:8080"),
            ("edge_secret", EDGE_SECRET),
            ("events_secret", WHSEC),
            ("github_secret", SECRET),
            ("master_secret", SECRET),
            ("old_secret", OLD_SECRET),
            ("secret_of_acme", SECRET),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            sources: Sources::parse(CONFIGURATION).map_err(|errors| errors.to_string()),
            variables: variables.into(),
            backend: Backend::Stores(202, r#""duplicate":false"#),
            now: NOW,
        }
    }

    fn with(backend: Backend) -> Self {
        Self {
            backend,
            ..Self::new()
        }
    }

    fn at(now: u64) -> Self {
        Self { now, ..Self::new() }
    }

    fn without(mut self, variable: &str) -> Self {
        assert!(self.variables.remove(variable).is_some(), "{variable}");
        self
    }

    fn setting(mut self, variable: &str, value: &str) -> Self {
        self.variables.insert(variable.to_owned(), value.to_owned());
        self
    }

    fn deliver(&self, request: &Request) -> Seen {
        let headers = request.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.as_str(), value.as_slice()))
            .collect();
        let delivery = Delivery {
            method: &request.method,
            path: &request.path,
            headers: &headers,
        };
        let mut chunks = request.chunks.clone();
        chunks.reverse();
        let mut host = FakeHost {
            world: self,
            chunks,
            interrupted: request.interrupted,
            taken: 0,
            clock_reads: Cell::default(),
            asked: RefCell::default(),
            posts: RefCell::default(),
            lines: RefCell::default(),
        };
        let answer = block_on(handle(&self.sources, &delivery, &mut host));
        assert_eq!(host.clock_reads.get(), 1, "the clock is read once");
        Seen {
            answer,
            asked: host.asked.into_inner(),
            posts: host.posts.into_inner(),
            lines: host.lines.into_inner(),
            taken: host.taken,
        }
    }
}

struct FakeHost<'w> {
    world: &'w World,
    /// Last first.
    chunks: Vec<Vec<u8>>,
    interrupted: bool,
    taken: usize,
    clock_reads: Cell<usize>,
    asked: RefCell<Vec<String>>,
    posts: RefCell<Vec<Post>>,
    lines: RefCell<Vec<String>>,
}

impl Host for FakeHost<'_> {
    fn now(&self) -> u64 {
        self.clock_reads.set(self.clock_reads.get() + 1);
        self.world.now
    }

    async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, Interrupted> {
        match self.chunks.pop() {
            None if self.interrupted => Err(Interrupted),
            chunk => {
                self.taken += chunk.as_ref().map_or(0, Vec::len);
                Ok(chunk)
            }
        }
    }

    async fn variable(&self, name: &str) -> Result<Option<String>, VariableUnavailable> {
        self.asked.borrow_mut().push(name.to_owned());
        match self.world.variables.get(name).map(String::as_str) {
            Some("unavailable") => Err(VariableUnavailable),
            value => Ok(value.map(str::to_owned)),
        }
    }

    async fn post(&self, post: Post) -> Result<Reply, PostError> {
        let key = envelope(&post).identity.report_key();
        self.posts.borrow_mut().push(post);
        match self.world.backend {
            Backend::Stores(status, rest) => {
                let body = format!(r#"{{"report_key":"{key}","state":"accepted",{rest}}}"#);
                Ok(Reply {
                    status,
                    body: body.into_bytes(),
                })
            }
            Backend::Says(status, body) => Ok(Reply {
                status,
                body: body.into(),
            }),
            Backend::Fails(error) => Err(error),
        }
    }

    fn log(&self, line: &str) {
        self.lines.borrow_mut().push(line.to_owned());
    }
}

/// Opens a call as the backend does.
fn envelope(post: &Post) -> Envelope {
    let header = |name| {
        let found = post.headers.iter().find(|(header, _)| *header == name);
        found.map_or("", |(_, value)| value.as_str())
    };
    let seal = Seal {
        time: header("fencepost-time"),
        key_id: header("fencepost-key-id"),
        signature: header("fencepost-signature"),
    };
    open(
        &[EdgeSecret::new(EDGE_SECRET).unwrap()],
        seal,
        NOW,
        post.body.as_bytes(),
    )
    .unwrap()
}

/// What came of a delivery.
struct Seen {
    answer: Answer,
    asked: Vec<String>,
    posts: Vec<Post>,
    lines: Vec<String>,
    taken: usize,
}

impl Seen {
    fn body(&self) -> Value {
        serde_json::from_str(&self.answer.body).unwrap()
    }

    /// The one line in the log.
    fn line(&self) -> Value {
        assert_eq!(self.lines.len(), 1, "{:?}", self.lines);
        assert!(!self.lines[0].contains('\n'));
        serde_json::from_str(&self.lines[0]).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut found = self
            .answer
            .headers
            .iter()
            .filter(|(header, _)| *header == name);
        found.next().map(|(_, value)| *value)
    }

    #[track_caller]
    fn is_stored(&self) -> Envelope {
        assert_eq!(
            self.answer.status, 202,
            "{:?} {:?}",
            self.answer, self.lines
        );
        assert!(self.lines.is_empty(), "{:?}", self.lines);
        assert_eq!(self.posts.len(), 1);
        envelope(&self.posts[0])
    }

    #[track_caller]
    fn is_refused(&self, status: u16, code: &str, reason: &str) {
        let line = self.line();
        assert_eq!(
            (line["event"].as_str(), line["code"].as_str()),
            (Some("refused"), Some(code))
        );
        assert_eq!(line["reason"], reason);
        let body = self.body();
        assert_eq!(
            (self.answer.status, body["code"].as_str()),
            (status, Some(code))
        );
        assert_eq!(body["status"], status);
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json")
        );
        assert_eq!(self.header("retry-after").is_some(), status == 503);
        if status != 503 {
            assert!(self.posts.is_empty(), "a refused delivery goes nowhere");
        }
    }
}

#[derive(Clone, Debug)]
struct Request {
    method: String,
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    chunks: Vec<Vec<u8>>,
    interrupted: bool,
}

impl Request {
    fn new(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let chunks = vec![body.into()];
        let (method, path) = ("POST".to_owned(), path.to_owned());
        Self {
            method,
            path,
            headers: vec![],
            chunks,
            interrupted: false,
        }
    }

    fn signed(path: &str, body: impl Into<Vec<u8>>, preset: Preset, secret: &str) -> Self {
        let mut request = Self::new(path, body);
        let key = SigningKey::parse(preset, secret).unwrap();
        for (name, value) in sign(&key, "msg_1", NOW, &request.chunks[0]).unwrap() {
            request.headers.push((name.to_owned(), value.into_bytes()));
        }
        request
    }

    fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn replacing(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        let found = self.headers.iter_mut().find(|(header, _)| header == name);
        found.unwrap().1 = value.into();
        self
    }

    fn dropping(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| header != name);
        self
    }
}

fn comment(body: impl Into<Vec<u8>>) -> Request {
    Request::signed("/hooks/comments", body, Preset::Github, SECRET)
}

fn event(body: impl Into<Vec<u8>>) -> Request {
    Request::signed("/hooks/events", body, Preset::StandardWebhooks, WHSEC)
}

const EVENT: &str = r#"{"id":"r-1","text":"hello"}"#;

#[test]
fn an_accepted_delivery_is_forwarded_once_and_logs_nothing() {
    let seen = World::new().deliver(&comment(COMMENT));
    let envelope = seen.is_stored();
    assert_eq!(envelope.source, "comments");
    assert_eq!(envelope.identity.tenant.as_str(), "7");
    assert_eq!(envelope.identity.namespace.as_str(), "comments");
    assert_eq!(envelope.identity.report_id.as_str(), "81");
    assert_eq!(envelope.input.as_str(), r#"{"text":"hello"}"#);
    assert_eq!((envelope.order, envelope.links), (None, vec![]));
    let [post] = seen.posts.as_slice() else {
        panic!("one call")
    };
    assert_eq!(
        (post.url.as_str(), post.deadline_ms),
        ("http://127.0.0.1:8080/v1/reports", 2500)
    );
    let key = envelope.identity.report_key().to_string();
    let expected = json!({"report_key": key, "state": "accepted", "duplicate": false});
    assert_eq!(seen.body(), expected);
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.asked, ["github_secret", "edge_secret", "backend_url"]);
}

#[test]
fn the_backends_answer_is_passed_back() {
    let duplicate = World::with(Backend::Stores(200, r#""duplicate":true"#));
    let seen = duplicate.deliver(&comment(COMMENT));
    assert_eq!(
        (seen.answer.status, &seen.body()["duplicate"]),
        (200, &json!(true))
    );
    assert_eq!(seen.body().get("conflict"), None);
    let conflict = World::with(Backend::Stores(200, r#""duplicate":true,"conflict":true"#));
    let seen = conflict.deliver(&comment(COMMENT));
    assert_eq!(
        (seen.answer.status, &seen.body()["conflict"]),
        (200, &json!(true))
    );
    assert!(seen.lines.is_empty());
}

#[test]
fn only_a_clear_yes_of_the_backend_is_a_yes() {
    let refused = |backend, code: &str, reason: &str| {
        World::with(backend)
            .deliver(&comment(COMMENT))
            .is_refused(503, code, reason);
    };
    refused(
        Backend::Fails(PostError::Deadline),
        "not_stored",
        "backend_too_slow",
    );
    refused(
        Backend::Fails(PostError::Unreachable),
        "not_stored",
        "backend_unreachable",
    );
    refused(
        Backend::Fails(PostError::Denied),
        "not_stored",
        "backend_not_an_allowed_host",
    );
    for (status, code, expected) in [
        (503, r#"{"code":"mapping_changed"}"#, "mapping_changed"),
        (503, r#"{"code":"stale_envelope"}"#, "stale_envelope"),
        (503, r#"{"code":"busy"}"#, "busy"),
        (503, r#"{"code":"something_new"}"#, "not_stored"),
        (500, "no JSON", "not_stored"),
        (401, r#"{"code":"unauthorized"}"#, "not_stored"),
        (400, r#"{"code":"bad_envelope"}"#, "not_stored"),
        (413, "", "not_stored"),
        (404, "", "not_stored"),
    ] {
        refused(Backend::Says(status, code), expected, "backend_refused");
    }
    let odd = |backend| refused(backend, "not_stored", "backend_answer_not_understood");
    let other_key = concat!(
        r#"{"report_key":"0000000000000000000000000000000000000000000000000000000000000000","#,
        r#""state":"accepted","duplicate":false}"#
    );
    odd(Backend::Says(202, other_key));
    odd(Backend::Says(202, ""));
    odd(Backend::Says(200, "<html>hello</html>"));
    odd(Backend::Says(204, ""));
    odd(Backend::Says(302, ""));
    odd(Backend::Stores(202, r#""duplicate":true"#));
    odd(Backend::Stores(200, r#""duplicate":false"#));
    odd(Backend::Stores(202, r#""duplicate":"no""#));
    odd(Backend::Stores(201, r#""duplicate":false"#));
}

#[test]
fn method_and_route_come_first() {
    let world = World::new();
    for method in ["GET", "PUT", "PATCH", "HEAD", "OPTIONS", "DELETE", "post"] {
        let request = Request {
            method: method.into(),
            ..comment(COMMENT)
        };
        let seen = world.deliver(&request);
        seen.is_refused(405, "method_not_allowed", "method_not_allowed");
        assert_eq!(seen.header("allow"), Some("POST"));
    }
    for path in [
        "/hooks/none",
        "/hooks/",
        "/hooks",
        "/",
        "",
        "/hooks/comments/",
        "/hooks/comments/acme",
        "/hooks/COMMENTS",
        "/hooks/comments%20",
        "//hooks/comments",
        "/hooks/derived",
        "/hooks/derived/acme/more",
        "/HOOKS/comments",
    ] {
        let seen = world.deliver(&Request {
            path: path.into(),
            ..comment(COMMENT)
        });
        seen.is_refused(404, "unknown_source", "unknown_source");
    }
    let seen = world.deliver(&Request::new("/hooks/none-canary", vec![b' '; 5000]));
    assert!(
        !seen.lines[0].contains("canary"),
        "a path is the sender's word"
    );
    // No tenant, no secret: told before anything is read.
    for (segment, code) in [
        ("", "empty_field"),
        ("%00", "control_character"),
        ("%ff", "not_an_identifier"),
    ] {
        let path = format!("/hooks/derived/{segment}");
        world
            .deliver(&Request::new(&path, EVENT))
            .is_refused(400, code, code);
    }
}

#[test]
fn the_body_is_bounded_to_the_byte_with_and_without_a_declared_length() {
    let world = World::new();
    let padded = |bytes: usize| format!("{COMMENT}{}", " ".repeat(bytes - COMMENT.len()));
    world.deliver(&comment(padded(600))).is_stored();
    world
        .deliver(&comment(padded(600)).header("content-length", "600"))
        .is_stored();
    let too_large = comment(padded(601));
    for request in [
        too_large.clone(),
        too_large.clone().header("Content-Length", "601"),
        too_large
            .clone()
            .header("content-length", "18446744073709551615"),
        // The bound comes before the signature.
        too_large.dropping("x-hub-signature-256"),
        Request {
            chunks: vec![vec![b' '; 100]; 20_000],
            ..comment(COMMENT)
        },
    ] {
        let seen = world.deliver(&request);
        seen.is_refused(413, "too_large", "too_large");
        assert!(seen.asked.is_empty(), "no secret is read for it");
        assert_eq!(seen.line()["limit_bytes"], 600);
        assert_eq!(
            seen.taken,
            request.chunks.concat().len(),
            "the rest is read and dropped"
        );
    }
    // But not for ever.
    let endless = Request {
        chunks: vec![vec![b' '; 1 << 20]; 64],
        ..comment(COMMENT)
    };
    assert!(world.deliver(&endless).taken <= 9 << 20);
    // And never past the method and the route.
    let request = Request {
        method: "PUT".into(),
        ..comment(padded(601))
    };
    assert_eq!(world.deliver(&request).answer.status, 405);
}

#[test]
fn what_grows_beyond_an_envelopes_bound_is_refused_for_good() {
    let world = World::new();
    let numbers = |count: usize| format!(r#"{{"id":"e","text":[1e20{}]}}"#, ",1e20".repeat(count));
    world.deliver(&event(numbers(100_000))).is_stored();
    let seen = world.deliver(&event(numbers(200_000)));
    seen.is_refused(413, "too_large", "too_large");
}

#[test]
fn chunks_make_no_difference_and_an_early_end_does() {
    let world = World::new();
    let whole = world.deliver(&comment(COMMENT));
    for at in 0..COMMENT.len() {
        let (head, tail) = COMMENT.as_bytes().split_at(at);
        let chunks = vec![head.to_vec(), vec![], tail.to_vec()];
        let seen = world.deliver(&Request {
            chunks,
            ..comment(COMMENT)
        });
        assert_eq!(seen.posts, whole.posts, "split at {at}");
    }
    let bytes = COMMENT.bytes().map(|byte| vec![byte]).collect();
    let seen = world.deliver(&Request {
        chunks: bytes,
        ..comment(COMMENT)
    });
    assert_eq!(seen.posts, whole.posts);
    let seen = world.deliver(&Request {
        interrupted: true,
        ..comment(COMMENT)
    });
    seen.is_refused(400, "incomplete_body", "incomplete_body");
}

#[test]
fn content_encodings_are_refused_and_other_headers_change_nothing() {
    let world = World::new();
    for encoding in ["gzip", "br", "deflate", "identity, gzip", "", "x"] {
        let seen = world.deliver(&comment(COMMENT).header("Content-Encoding", encoding));
        let code = "unsupported_content_encoding";
        seen.is_refused(415, code, code);
    }
    let posts = world.deliver(&comment(COMMENT)).posts;
    for (name, value) in [
        ("content-encoding", "identity"),
        ("content-type", "text/plain"),
        (
            "content-type",
            "application/cloudevents+json; charset=utf-8",
        ),
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", "https://x.test"),
        ("access-control-request-method", "POST"),
        ("host", "evil.test"),
        ("x-forwarded-proto", "http"),
        ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
        ("content-length", "not a number"),
    ] {
        let seen = world.deliver(&comment(COMMENT).header(name, value));
        assert_eq!(seen.posts, posts, "{name}: {value}");
        assert_eq!(seen.answer.status, 202);
        assert!(
            !seen
                .answer
                .headers
                .iter()
                .any(|(name, _)| name.starts_with("access-control"))
        );
    }
}

#[test]
fn github_signatures_are_checked() {
    let world = World::new();
    let good = comment(COMMENT);
    let name = "x-hub-signature-256";
    let seen = world.deliver(&good.clone().dropping(name));
    seen.is_refused(401, "unauthorized", "no_signature");
    let twice = good
        .clone()
        .header("X-Hub-Signature-256", good.headers[0].1.clone());
    world
        .deliver(&twice)
        .is_refused(400, "bad_signature_format", "repeated_header");
    for value in ["", "sha256=", "sha256=ab", "sha1=00", "=", ","] {
        let seen = world.deliver(&good.clone().replacing(name, value));
        seen.is_refused(400, "bad_signature_format", "malformed_signature");
        assert!(seen.asked.is_empty(), "no secret is read for it");
    }
    let seen = world.deliver(&good.replacing(name, format!("sha256={}", "0".repeat(64))));
    seen.is_refused(401, "unauthorized", "signature_mismatch");
    assert_eq!(seen.line()["secret"], "github_secret");
}

#[test]
fn standard_webhooks_signatures_are_checked() {
    let world = World::new();
    world.deliver(&event(EVENT)).is_stored();
    let seen = world.deliver(&event(EVENT).dropping("webhook-signature"));
    seen.is_refused(401, "unauthorized", "no_signature");
    let seen = world.deliver(&event(EVENT).dropping("webhook-id"));
    seen.is_refused(400, "bad_signature_format", "malformed_message_id");
    let seen = world.deliver(&event(EVENT).replacing("webhook-id", "msg.1"));
    seen.is_refused(400, "bad_signature_format", "malformed_message_id");
    let seen = world.deliver(&event(EVENT).dropping("webhook-timestamp"));
    seen.is_refused(400, "bad_timestamp", "malformed_timestamp");
    for timestamp in [
        "",
        "-1",
        "+1800000000",
        "01800000000",
        "1800000000000",
        "1800000000abc",
    ] {
        let seen = world.deliver(&event(EVENT).replacing("webhook-timestamp", timestamp));
        seen.is_refused(400, "bad_timestamp", "malformed_timestamp");
    }
    let digits = "9".repeat(40);
    let seen = world.deliver(&event(EVENT).replacing("webhook-timestamp", digits));
    seen.is_refused(400, "bad_timestamp", "malformed_timestamp");
}

#[test]
fn a_mismatch_and_the_window_are_told_apart_in_the_log_alone() {
    let mismatch = World::new().deliver(&event(EVENT).replacing("webhook-id", "msg_2"));
    mismatch.is_refused(401, "unauthorized", "signature_mismatch");
    let late = World::at(NOW + 301).deliver(&event(EVENT));
    late.is_refused(401, "unauthorized", "outside_window");
    assert_eq!(late.line()["skew_seconds"], 301);
    assert_eq!(late.line()["secret"], "events_secret");
    assert_eq!(late.line()["body_bytes"], EVENT.len());
    let early = World::at(NOW - 301).deliver(&event(EVENT));
    assert_eq!(early.line()["skew_seconds"], -301);
    assert_eq!(mismatch.answer, late.answer);
    assert_eq!(mismatch.answer, early.answer);
    let unsigned = World::new().deliver(&event(EVENT).dropping("webhook-signature"));
    assert_eq!(mismatch.answer, unsigned.answer);
}

#[test]
fn one_changed_byte_is_a_mismatch() {
    let world = World::new();
    for at in 0..COMMENT.len() {
        for request in [comment(COMMENT), event(COMMENT)] {
            let mut body = COMMENT.as_bytes().to_vec();
            body[at] ^= 1;
            let seen = world.deliver(&Request {
                chunks: vec![body],
                ..request
            });
            seen.is_refused(401, "unauthorized", "signature_mismatch");
        }
    }
}

#[test]
fn nothing_of_the_payload_matters_before_the_signature_holds() {
    let world = World::new();
    for body in [
        "no JSON",
        r#"{"id":1,"id":2}"#,
        r#"{"action":"deleted"}"#,
        "{}",
        "",
    ] {
        let forged = comment(COMMENT);
        let seen = world.deliver(&Request {
            chunks: vec![body.into()],
            ..forged
        });
        seen.is_refused(401, "unauthorized", "signature_mismatch");
    }
}

#[test]
fn a_secret_is_live_until_its_end() {
    let body = r#"{"tenant":"acme","id":1,"rev":1,"text":"t"}"#;
    let deliver = |now, secret| {
        let path = "/hooks/rotating";
        World::at(now).deliver(&Request::signed(path, body, Preset::Github, secret))
    };
    // 2027-01-15T08:00:00Z is NOW.
    let seen = deliver(NOW, OLD_SECRET);
    assert_eq!(seen.posts[0].deadline_ms, 1234);
    seen.is_stored();
    deliver(NOW, SECRET).is_stored();
    let seen = deliver(NOW + 1, OLD_SECRET);
    seen.is_refused(401, "unauthorized", "signature_mismatch");
    assert_eq!(seen.line()["secret"], "github_secret");
    let wrong = deliver(NOW, "fp_third_secret_0123456789abcdef");
    assert_eq!(wrong.line()["secret"], "github_secret old_secret");
}

#[test]
fn a_sender_names_only_the_tenants_that_it_may() {
    let deliver = |tenant: &str| {
        let body = format!(r#"{{"tenant":{tenant},"id":1,"rev":1,"text":"t"}}"#);
        World::new().deliver(&Request::signed(
            "/hooks/rotating",
            body,
            Preset::Github,
            SECRET,
        ))
    };
    deliver(r#""acme""#).is_stored();
    deliver("7").is_stored();
    for tenant in [r#""acme2""#, r#""ACME""#, "70"] {
        deliver(tenant).is_refused(401, "unauthorized", "tenant_not_allowed");
    }
}

#[test]
fn a_tenant_of_the_route_signs_with_a_secret_of_its_own() {
    let world = World::new();
    let derived = |signer: &str, path: &str| {
        let secret = derive_secret(Preset::StandardWebhooks, SECRET, signer).unwrap();
        let path = format!("/hooks/derived/{path}");
        world.deliver(&Request::signed(
            &path,
            EVENT,
            Preset::StandardWebhooks,
            &secret,
        ))
    };
    assert_eq!(
        derived("acme", "acme").is_stored().identity.tenant.as_str(),
        "acme"
    );
    assert_eq!(
        derived("a/b é", "a%2Fb%20%C3%A9")
            .is_stored()
            .identity
            .tenant
            .as_str(),
        "a/b é"
    );
    derived("acme", "other").is_refused(401, "unauthorized", "signature_mismatch");

    let own = |tenant: &str| {
        let path = format!("/hooks/own-secret/{tenant}");
        world.deliver(&Request::signed(&path, EVENT, Preset::Github, SECRET))
    };
    let seen = own("acme");
    assert_eq!(seen.asked[0], "secret_of_acme");
    seen.is_stored();
    let stranger = own("other");
    stranger.is_refused(401, "unauthorized", "tenant_without_secret");
    let seen = own("No%2FVariable");
    seen.is_refused(401, "unauthorized", "tenant_without_secret");
    assert!(
        seen.asked.is_empty(),
        "what a sender writes is no variable's name"
    );
    let forged = Request::signed("/hooks/own-secret/acme", EVENT, Preset::Github, OLD_SECRET);
    assert_eq!(
        world.deliver(&forged).answer,
        stranger.answer,
        "strangers are not told apart"
    );
}

#[test]
fn payloads_that_are_no_identity_are_refused_with_their_code() {
    let world = World::new();
    let long = "x".repeat(1025);
    for (code, body) in [
        ("invalid_json", String::new()),
        ("invalid_json", "a\0b".to_owned()),
        ("invalid_json", "payload=%7B%22id%22%3A1%7D".to_owned()),
        (
            "invalid_json",
            format!("{}1{}", "[".repeat(65), "]".repeat(65)),
        ),
        (
            "duplicate_member",
            r#"{"id":"r-1","text":{"a":1,"\u0061":2}}"#.to_owned(),
        ),
        ("missing_field", r#"{"text":"hello"}"#.to_owned()),
        ("missing_field", r#"{"id":null}"#.to_owned()),
        ("not_an_identifier", r#"{"id":1.0}"#.to_owned()),
        ("lone_surrogate", r#"{"id":"\ud800"}"#.to_owned()),
        ("empty_field", r#"{"id":""}"#.to_owned()),
        ("field_too_long", format!(r#"{{"id":"{long}"}}"#)),
        ("control_character", r#"{"id":"a\u0000b"}"#.to_owned()),
        (
            "number_out_of_range",
            r#"{"id":"r-1","text":1e400}"#.to_owned(),
        ),
    ] {
        world.deliver(&event(body)).is_refused(400, code, code);
    }
    let revision = |rev: &str| {
        let body = format!(r#"{{"tenant":"acme","id":1,"rev":{rev}}}"#);
        world.deliver(&Request::signed(
            "/hooks/rotating",
            body,
            Preset::Github,
            SECRET,
        ))
    };
    revision("-1").is_refused(400, "not_a_revision", "not_a_revision");
    let too_large = revision("9223372036854775808");
    too_large.is_refused(400, "number_out_of_range", "number_out_of_range");
}

#[test]
fn what_is_no_report_is_ignored() {
    let world = World::new();
    for body in [
        r#"{"action":"deleted","owner":{"id":7},"comment":{"id":81,"body":"hello"}}"#,
        r#"{"zen":"Keep it logically awesome.","hook_id":1}"#,
        r#"{"action":["created"]}"#,
        "[]",
    ] {
        let seen = world.deliver(&comment(body));
        assert_eq!(
            (seen.answer.status, seen.body()),
            (200, json!({"ignored": true}))
        );
        assert!(seen.posts.is_empty());
        let line = seen.line();
        assert_eq!(
            (&line["event"], &line["reason"]),
            (&json!("ignored"), &json!("filter"))
        );
        assert_eq!(line["source"], "comments");
        assert_eq!(seen.asked, ["github_secret"]);
    }
    // Only where the payload can be read at all.
    world
        .deliver(&comment("{"))
        .is_refused(400, "invalid_json", "invalid_json");
}

#[test]
fn what_is_wrong_with_the_edge_itself_is_said_without_a_secret() {
    let refused = |world: World, variable: &str, detail: &str| {
        let seen = world.deliver(&comment(COMMENT));
        seen.is_refused(503, "misconfigured", "variable");
        let line = seen.line();
        assert_eq!(
            (&line["variable"], &line["detail"]),
            (&json!(variable), &json!(detail))
        );
        assert!(seen.posts.is_empty());
        assert!(!seen.answer.body.contains(variable), "{}", seen.answer.body);
    };
    refused(
        World::new().without("github_secret"),
        "github_secret",
        "it has no value",
    );
    refused(
        World::new().without("edge_secret"),
        "edge_secret",
        "it has no value",
    );
    refused(
        World::new().without("backend_url"),
        "backend_url",
        "it has no value",
    );
    let unavailable = World::new().setting("github_secret", "unavailable");
    refused(unavailable, "github_secret", "its provider does not answer");
    let short = World::new().setting("github_secret", "canary");
    let message = "the secret stands for 6 bytes; at least 16 are needed";
    refused(short, "github_secret", message);
    let message = "the edge secret has fewer than 16 bytes";
    refused(
        World::new().setting("edge_secret", "canary"),
        "edge_secret",
        message,
    );

    let mut world = World::new();
    world.sources = Err("/fencepost.toml: line 3: `source.a.verifi`: …".to_owned());
    let seen = world.deliver(&comment(COMMENT));
    seen.is_refused(503, "misconfigured", "configuration_file");
    assert_eq!(
        seen.line()["detail"],
        "/fencepost.toml: line 3: `source.a.verifi`: …"
    );
}

/// Each word of a sender that has no business anywhere else.
fn full_of_canaries() -> Request {
    let body = json!({
        "action": "edited",
        "owner": {"id": 7, "login": "canary-1"},
        "comment": {
            "id": 81, "body": "the text", "html_url": "https://x.test/81",
            "updated_at": "2026-01-02T03:04:05Z", "user": {"email": "canary-2@x.test"},
            "canary-3": true,
        },
        "sender": ["canary-4", {"deep": {"canary-5": "canary-6"}}],
    });
    comment(body.to_string())
        .header("x-github-delivery", "canary-7")
        .header("x-github-event", "canary-8")
        .header("user-agent", "canary-9")
        .header("cookie", "canary-10=canary-11")
        .header("authorization", "Bearer canary-12")
        .header(
            "spin-full-url",
            "http://127.0.0.1/hooks/comments?token=canary-13",
        )
        .header("webhook-id", "canary-14")
}

#[test]
fn only_the_chosen_members_go_anywhere() {
    let request = full_of_canaries();
    let seen = World::new().deliver(&request);
    let envelope = seen.is_stored();
    assert_eq!(envelope.input.as_str(), r#"{"text":"the text"}"#);
    assert_eq!(envelope.order.as_deref(), Some("2026-01-02T03:04:05Z"));
    assert_eq!(
        envelope.links,
        [("page".to_owned(), "https://x.test/81".to_owned())]
    );
    let signature = String::from_utf8(request.headers[0].1.clone()).unwrap();
    let mut everything = format!("{:?} {:?} {:?}", seen.posts, seen.answer, seen.lines);

    // Whatever becomes of it, its words stay out of answers and logs; so do the secrets.
    for world in [
        World::with(Backend::Says(
            400,
            r#"{"code":"canary-15","detail":"canary-16"}"#,
        )),
        World::with(Backend::Says(200, "canary-17")),
        World::with(Backend::Stores(
            202,
            r#""duplicate":false,"more":"canary-18""#,
        )),
        World::new().without("edge_secret"),
        World::new().setting("github_secret", OLD_SECRET),
    ] {
        let seen = world.deliver(&request);
        everything.push_str(&format!("{:?} {:?}", seen.answer, seen.lines));
    }
    for forbidden in [
        "canary",
        signature.as_str(),
        SECRET,
        OLD_SECRET,
        EDGE_SECRET,
    ] {
        assert!(
            !everything.contains(forbidden),
            "{forbidden} in {everything}"
        );
    }
    // The report's own text reaches the backend alone.
    let seen = World::with(Backend::Fails(PostError::Deadline)).deliver(&request);
    let told = format!("{:?} {:?}", seen.answer, seen.lines);
    assert!(
        seen.posts[0].body.contains("the text") && !told.contains("the text"),
        "{told}"
    );
    assert!(!told.contains("x.test"), "{told}");
}

#[test]
fn the_envelope_depends_on_the_content_alone() {
    let world = World::new();
    let posts = world.deliver(&event(EVENT)).posts;
    let spaced = "\u{feff}{ \"te\\u0078t\" : \"hell\\u006f\",\n\"id\":\"r-1\" , \"more\": 1 }";
    let other = Request::signed("/hooks/events", spaced, Preset::StandardWebhooks, WHSEC);
    assert_eq!(world.deliver(&other).posts, posts);
}

proptest! {
    #[test]
    fn nothing_that_is_sent_makes_it_panic_or_say_yes(
        method in "POST|GET|[A-Z]{0,4}",
        path in "/hooks/(comments|events|derived/[ -~]{0,9}|own-secret/[a-z%0-9]{0,6}|[ -~]{0,9})",
        names in prop::collection::vec(0..9_usize, 0..6),
        values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..70), 6),
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..4),
        interrupted in any::<bool>(),
        now in any::<u64>(),
    ) {
        const NAMES: [&str; 9] = [
            "x-hub-signature-256", "webhook-signature", "webhook-id", "webhook-timestamp",
            "content-encoding", "content-length", "svix-signature", "svix-id", "svix-timestamp",
        ];
        let headers = names.iter().zip(values);
        let headers = headers.map(|(at, value)| (NAMES[*at].to_owned(), value)).collect();
        let seen =
            World::at(now).deliver(&Request { method, path, headers, chunks, interrupted });
        prop_assert!((400..500).contains(&seen.answer.status), "{:?}", seen.answer);
        let line = seen.line();
        prop_assert_eq!(line["event"].as_str(), Some("refused"));
        prop_assert!(seen.posts.is_empty());
    }

    #[test]
    fn no_signed_body_makes_it_panic(
        body in prop::collection::vec(any::<u8>(), 0..200),
        json in r#"[\[\]{}",:0-9eE.a-z\\u+-]{0,60}"#,
    ) {
        for body in [body, json.into_bytes()] {
            let seen = World::new().deliver(&event(body));
            prop_assert!(matches!(seen.answer.status, 202 | 400), "{:?}", seen.answer);
        }
    }
}
