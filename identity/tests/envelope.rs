//! The hop from edge to backend: what holds, what is refused, and in which order.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use fencepost_identity::{
    envelope::{
        EdgeSecret, Envelope, EnvelopeError,
        EnvelopeError::{HashMismatch, KeyMismatch, Malformed, UnknownMember},
        Seal, SealError, open, seal,
    },
    identity::Identity,
    json,
    key::MappingDigest,
    mapping::Input,
    refusal::Refusal,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: u64 = 1_800_000_000;

fn secret(text: &str) -> EdgeSecret {
    EdgeSecret::new(text).unwrap()
}

fn current() -> EdgeSecret {
    secret("current-secret-0123456789")
}

fn envelope() -> Envelope {
    let identity = json!({"tenant": "acme", "namespace": "zendesk", "report_id": "8812",
        "version": {"revision": 9_007_199_254_740_993_u64}});
    let input = json::parse(br#"{"text":"a\u0000b \"q\" \ud83d\ude00","n":1e21}"#).unwrap();
    Envelope {
        source: "tickets".into(),
        identity: Identity::from_json(identity.to_string().as_bytes()).unwrap(),
        input: Some(Input::of_object(&input).unwrap()),
        order: Some("2026-01-01T00:00:00Z".into()),
        links: vec![("page".into(), "https://example.test/?a=\"b\"".into())],
        mapping_digest: MappingDigest::from_bytes([7; 32]),
    }
}

fn open_at(now: u64, sealed: &[String; 3], body: &[u8]) -> Result<Envelope, SealError> {
    let [time, key_id, signature] = sealed;
    open(
        &[secret("previous-secret-012345678"), current()],
        Seal {
            time,
            key_id,
            signature,
        },
        now,
        body,
    )
}

#[test]
fn an_envelope_arrives_as_it_was_sent() {
    let body = envelope().to_json();
    let sealed = seal(&current(), NOW, body.as_bytes());
    assert_eq!(open_at(NOW, &sealed, body.as_bytes()), Ok(envelope()));
    let sealed = seal(&secret("previous-secret-012345678"), NOW, body.as_bytes());
    assert_eq!(
        open_at(NOW, &sealed, body.as_bytes()),
        Ok(envelope()),
        "two secrets are live"
    );
}

#[test]
fn nothing_may_be_changed_on_the_way() {
    let body = envelope().to_json();
    let sealed = seal(&current(), NOW, body.as_bytes());
    let unauthorized = Err(SealError::Unauthorized);
    for at in 0..body.len() {
        let mut changed = body.clone().into_bytes();
        changed[at] ^= 1;
        assert_eq!(open_at(NOW, &sealed, &changed), unauthorized, "byte {at}");
    }
    for (part, value) in [
        (0, "1800000001"),
        (1, "0011223344556677"),
        (2, "v1=00"),
        (2, ""),
        (2, "v2=0000"),
        (1, ""),
        (0, ""),
    ] {
        let mut changed = sealed.clone();
        changed[part] = value.into();
        assert_eq!(
            open_at(NOW, &changed, body.as_bytes()),
            unauthorized,
            "{part} {value:?}"
        );
    }
    let foreign = seal(&secret("another-secret-0123456789"), NOW, body.as_bytes());
    assert_eq!(open_at(NOW, &foreign, body.as_bytes()), unauthorized);
}

#[test]
fn the_window_is_exact_and_two_sided() {
    let body = envelope().to_json();
    let sealed = seal(&current(), NOW, body.as_bytes());
    for now in [NOW - 300, NOW + 300] {
        assert!(open_at(now, &sealed, body.as_bytes()).is_ok());
    }
    let stale = |skew_seconds| Err(SealError::Stale { skew_seconds });
    assert_eq!(open_at(NOW + 301, &sealed, body.as_bytes()), stale(301));
    assert_eq!(open_at(NOW - 301, &sealed, body.as_bytes()), stale(-301));
    let far = seal(&current(), u64::MAX, body.as_bytes());
    assert_eq!(open_at(0, &far, body.as_bytes()), stale(i64::MIN));
}

/// Why a body is refused that was changed before it was signed.
fn opened(change: &dyn Fn(&mut Value)) -> EnvelopeError {
    let mut body: Value = serde_json::from_str(&envelope().to_json()).unwrap();
    change(&mut body);
    let body = body.to_string();
    let sealed = seal(&current(), NOW, body.as_bytes());
    match open_at(NOW, &sealed, body.as_bytes()) {
        Err(SealError::Envelope(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_member_of_the_envelope_may_be_absent() {
    for name in [
        "identity",
        "input",
        "input_hash",
        "links",
        "mapping_digest",
        "report_key",
        "source",
    ] {
        let missing = opened(&|body| {
            body.as_object_mut().unwrap().remove(name);
        });
        assert!(
            matches!(missing, Malformed(_) | EnvelopeError::Identity(_)),
            "{name}: {missing:?}"
        );
    }
}

#[test]
fn a_signed_body_is_still_read_strictly() {
    assert_eq!(
        opened(&|body| body["delivery_id"] = json!("1")),
        UnknownMember("identity")
    );
    assert_eq!(
        opened(&|body| body["identity"]["x"] = json!("1")),
        UnknownMember("tenant")
    );
    assert_eq!(
        opened(&|body| body["identity"]["report_id"] = json!("8813")),
        KeyMismatch
    );
    assert_eq!(
        opened(&|body| body["report_key"] = json!("0".repeat(64))),
        KeyMismatch
    );
    assert_eq!(
        opened(&|body| body["report_key"] = json!("x")),
        Malformed("report_key")
    );
    assert_eq!(
        opened(&|body| body["input"]["text"] = json!("other")),
        HashMismatch
    );
    assert_eq!(
        opened(&|body| body["input"] = json!([])),
        Malformed("input")
    );
    assert_eq!(
        opened(&|body| body["links"]["page"] = json!(1)),
        Malformed("links")
    );
    assert_eq!(opened(&|body| body["order"] = json!(1)), Malformed("order"));
    assert_eq!(
        opened(&|body| body["source"] = json!(null)),
        Malformed("source")
    );
    assert_eq!(
        opened(&|body| body["identity"]["tenant"] = json!("")),
        EnvelopeError::Identity(Refusal::EmptyField)
    );
    let twice = envelope().to_json().replacen('{', "{\"source\":\"x\",", 1);
    let error = Envelope::from_json(twice.as_bytes()).unwrap_err();
    assert_eq!(error, EnvelopeError::Unreadable(Refusal::DuplicateMember));
}

#[test]
fn secrets_are_long_enough_and_never_shown() {
    assert!(EdgeSecret::new("123456789012345").is_err());
    let secret = secret("1234567890123456");
    assert!(!format!("{secret:?}").contains("1234567890123456"));
    assert_eq!(secret.key_id().len(), 16);
}

proptest! {
    #[test]
    fn no_body_makes_it_panic(body in any::<String>(), time in "[0-9]{0,40}") {
        let _outcome = Envelope::from_json(body.as_bytes());
        let sealed = [time, "0".repeat(16), "v1=".to_owned()];
        prop_assert_eq!(open_at(NOW, &sealed, body.as_bytes()), Err(SealError::Unauthorized));
    }
}
