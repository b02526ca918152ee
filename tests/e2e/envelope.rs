//! The backend's ingest listener takes what its edge has sealed, now, and nothing else: a changed
//! or stale envelope, an unknown member, a key or hash that doesn't fit.

use fencepost_identity::envelope::{EdgeSecret, bytes_max, seal};
use fencepost_tests::{Answer, Delivery, EDGE_SECRET, Recorded, Setup, Stack, now};
use serde_json::{Value, json};

const HEADERS: [&str; 3] = ["fencepost-time", "fencepost-key-id", "fencepost-signature"];
const TEXT: &str = "text-of-the-envelope-51d2";

/// A backend that runs, and an envelope that its edge has made.
struct Captured {
    stack: Stack,
    request: Recorded,
    written: i64,
    refused: usize,
}

impl Captured {
    /// Takes the envelope from the wire while its report gets no further.
    async fn start() -> Self {
        let stack = Stack::start().await;
        stack.wire.set(fencepost_tests::Mode::Hangup).await;
        stack
            .deliver(&Delivery::note("n-0", "an envelope that is lost"))
            .await;
        stack.connect().await;
        stack
            .deliver(&Delivery::note("n-1", TEXT))
            .await
            .assert_accepted();
        stack.settle().await;
        let request = stack.wire.requests().pop().unwrap();
        assert_eq!(request.line, "POST /v1/reports HTTP/1.1");
        let written = stack.db().written().await;
        Self {
            stack,
            request,
            written,
            refused: 0,
        }
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        let value = |name| (name, self.request.header(name).unwrap().to_owned());
        HEADERS.map(value).into()
    }

    fn envelope(&self) -> Value {
        serde_json::from_slice(&self.request.body).unwrap()
    }

    /// Another report's envelope, so that it can't be answered as a duplicate.
    fn other(&self) -> Value {
        let mut envelope = self.envelope();
        envelope["identity"]["report_id"] = "n-2".into();
        // The key of {acme, notes, n-2, event}, as `fencepost key` derives it.
        let file = self.stack.project.path("identity.json");
        std::fs::write(&file, envelope["identity"].to_string()).unwrap();
        let keys = self
            .stack
            .fencepost(&["key", "--identity", file.to_str().unwrap()]);
        envelope["report_key"] = keys.json()["report_key"].clone();
        envelope
    }

    async fn sealed(&self, body: &[u8], seconds: u64) -> Answer {
        let secret = EdgeSecret::new(EDGE_SECRET).unwrap();
        let values = seal(&secret, seconds, body);
        let headers: Vec<_> = HEADERS.into_iter().zip(values).collect();
        self.stack.ingest(&headers, body).await
    }

    async fn assert_refused(&mut self, what: &str, answer: Answer, status: u16, code: &str) {
        println!("{what}");
        answer.assert_problem(status, code);
        assert_eq!(
            self.stack.db().written().await,
            self.written,
            "{what}: nothing is stored"
        );
        let said = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(!said.contains(TEXT), "{said}");
        self.refused += 1;
    }

    /// Every refusal is in the log once, and nothing of what was refused.
    async fn finish(self) {
        let expected = self.refused;
        let stack = self.stack;
        let refused = || {
            let log = stack.backend_log();
            let refused = |event: &Value| {
                let message = event["message"].as_str().unwrap_or_default();
                message.starts_with("Refused an envelope")
            };
            log.iter().filter(|event| refused(event)).count()
        };
        fencepost_tests::wait_until("the refusals are in the log", async || {
            (refused() >= expected).then_some(())
        })
        .await;
        assert_eq!(refused(), expected, "one line each");
        let log = stack.project.log("backend.stderr");
        for text in [TEXT, EDGE_SECRET, "canary-member"] {
            assert!(!log.contains(text), "{text} in the log");
        }
        stack.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_edges_own_envelope_again_is_a_duplicate() {
    let captured = Captured::start().await;
    let stack = &captured.stack;
    let answer = stack
        .ingest(&captured.headers(), captured.request.body.clone())
        .await;
    answer.assert_duplicate();
    captured.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_that_was_changed_on_the_way_is_refused() {
    let mut captured = Captured::start().await;
    let unauthorized = (401, "unauthorized");
    let length = captured.request.body.len();
    for at in [1, length / 3, length / 2, length - 2] {
        let mut body = captured.request.body.clone();
        body[at] ^= 1;
        let answer = captured.stack.ingest(&captured.headers(), body).await;
        let what = format!("byte {at} changed");
        captured
            .assert_refused(&what, answer, unauthorized.0, unauthorized.1)
            .await;
    }
    for (name, value) in [
        ("fencepost-time", (now() - 1).to_string()),
        ("fencepost-key-id", "0123456789abcdef".to_owned()),
        ("fencepost-signature", format!("v1={}", "0".repeat(64))),
    ] {
        let headers = captured.headers().into_iter();
        let headers = headers.map(|(n, v)| {
            if n == name {
                (n, value.clone())
            } else {
                (n, v)
            }
        });
        let headers: Vec<_> = headers.collect();
        let body = captured.request.body.clone();
        let answer = captured.stack.ingest(&headers, body).await;
        let what = format!("{name} changed");
        captured
            .assert_refused(&what, answer, unauthorized.0, unauthorized.1)
            .await;
    }
    captured.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_that_another_secret_sealed_is_refused() {
    let mut captured = Captured::start().await;
    let secret = EdgeSecret::new("some-other-secret-0001").unwrap();
    let values = seal(&secret, now(), &captured.request.body);
    let headers: Vec<_> = HEADERS.into_iter().zip(values).collect();
    let body = captured.request.body.clone();
    let answer = captured.stack.ingest(&headers, body).await;
    captured
        .assert_refused("another secret", answer, 401, "unauthorized")
        .await;
    captured.finish().await;
}

/// A request without the three headers, or with one twice, is not even looked at.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_seal_is_refused() {
    let captured = Captured::start().await;
    for missing in HEADERS {
        let mut headers = captured.headers();
        headers.retain(|(name, _)| *name != missing);
        let answer = captured
            .stack
            .ingest(&headers, captured.request.body.clone())
            .await;
        answer.assert_problem(401, "unauthorized");
        let mut headers = captured.headers();
        let twice = headers
            .iter()
            .find(|(name, _)| *name == missing)
            .unwrap()
            .clone();
        headers.push(twice);
        let answer = captured
            .stack
            .ingest(&headers, captured.request.body.clone())
            .await;
        answer.assert_problem(401, "unauthorized");
    }
    assert_eq!(captured.stack.db().written().await, captured.written);
    captured.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_of_another_time_is_refused_and_may_come_again() {
    let mut captured = Captured::start().await;
    let body = captured.other().to_string();
    for (what, seconds) in [("stale", now() - 400), ("ahead", now() + 400)] {
        let answer = captured.sealed(body.as_bytes(), seconds).await;
        captured
            .assert_refused(what, answer, 503, "stale_envelope")
            .await;
    }
    captured
        .sealed(body.as_bytes(), now())
        .await
        .assert_accepted();
    captured.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_an_envelope_does_not_have_is_refused() {
    let mut captured = Captured::start().await;
    let other = captured.other();
    for place in ["", "/identity", "/identity/version"] {
        let mut envelope = other.clone();
        let object = envelope.pointer_mut(place).unwrap();
        if object == "event" {
            *object = json!({ "revision": 1 });
        }
        let members = object.as_object_mut().unwrap();
        members.insert("canary-member".to_owned(), "canary-member".into());
        let answer = captured
            .sealed(envelope.to_string().as_bytes(), now())
            .await;
        let what = format!("an unknown member at {place:?}");
        captured
            .assert_refused(&what, answer, 400, "bad_envelope")
            .await;
    }
    let members: Vec<String> = other.as_object().unwrap().keys().cloned().collect();
    for name in members {
        let mut envelope = other.clone();
        envelope.as_object_mut().unwrap().remove(&name);
        let answer = captured
            .sealed(envelope.to_string().as_bytes(), now())
            .await;
        captured
            .assert_refused(&format!("no {name}"), answer, 400, "bad_envelope")
            .await;
    }
    let twice = other.to_string().replacen('{', "{\"source\":\"notes\",", 1);
    let answer = captured.sealed(twice.as_bytes(), now()).await;
    captured
        .assert_refused("a member twice", answer, 400, "bad_envelope")
        .await;
    captured.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_or_hash_that_does_not_fit_is_refused() {
    let mut captured = Captured::start().await;
    let other = captured.other();
    let changed = |pointer: &str, value: Value| {
        let mut envelope = other.clone();
        *envelope.pointer_mut(pointer).unwrap() = value;
        envelope.to_string()
    };
    let first_key = captured.envelope()["report_key"].clone();
    for (what, body, code) in [
        (
            "another report's key",
            changed("/report_key", first_key),
            "key_mismatch",
        ),
        (
            "another id",
            changed("/identity/report_id", "n-3".into()),
            "key_mismatch",
        ),
        (
            "another tenant",
            changed("/identity/tenant", "umbrella".into()),
            "key_mismatch",
        ),
        (
            "a made-up hash",
            changed("/input_hash", "00".repeat(32).into()),
            "hash_mismatch",
        ),
        (
            "another input",
            changed("/input/text", "something else".into()),
            "hash_mismatch",
        ),
        (
            "a key that is none",
            changed("/report_key", "acme".into()),
            "bad_envelope",
        ),
    ] {
        let answer = captured.sealed(body.as_bytes(), now()).await;
        captured.assert_refused(what, answer, 400, code).await;
    }
    captured.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_envelope_larger_than_any_delivery_is_refused() {
    let captured = Captured::start().await;
    // The largest delivery of the configuration has a mebibyte.
    let bytes = bytes_max(1_048_576) + 1;
    captured
        .stack
        .announce(bytes)
        .await
        .assert_problem(413, "too_large");
    assert_eq!(captured.stack.db().written().await, captured.written);
    captured.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_edge_secret_is_rotated_both_are_taken() {
    let secrets = vec![
        (
            "FENCEPOST_EDGE_SECRET",
            "the-next-edge-secret-0001".to_owned(),
        ),
        ("FENCEPOST_EDGE_SECRET_PREVIOUS", EDGE_SECRET.to_owned()),
    ];
    let stack = Stack::with(Setup {
        environment: secrets,
        ..Setup::default()
    })
    .await;
    stack
        .deliver(&Delivery::note("n-1", "a text"))
        .await
        .assert_accepted();
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edge_whose_secret_the_backend_does_not_know_stores_nothing() {
    let secrets = vec![(
        "FENCEPOST_EDGE_SECRET",
        "the-next-edge-secret-0001".to_owned(),
    )];
    let stack = Stack::with(Setup {
        environment: secrets,
        ..Setup::default()
    })
    .await;
    let answer = stack.deliver(&Delivery::note("n-1", "a text")).await;
    answer.assert_problem(503, "not_stored");
    assert_eq!(stack.db().written().await, 0);
    stack.finish().await;
}
