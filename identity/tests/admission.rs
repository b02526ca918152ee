//! The steps of an admission where nothing but their own crate is needed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fencepost_identity::{
    admission::{Admitted, Coding, Delivery, Entrance, Keys, Refusal},
    config::Sources,
    signature::{Sending, SigningKey, sign},
};

const SECRET: &str = "fp_test_secret_0123456789abcdef";
const NOW: u64 = 1_800_000_000;

/// A source that is verified like this, and whose bodies may be forms.
fn sources(verify: &str) -> Sources {
    let text = format!(
        "[pipeline.p]\n[source.s]\nverify = {{ form = \"payload\", {verify} }}\n\
         secrets = [\"secret\"]\npipeline = \"p\"\ninput = {{ id = \"/id\" }}\n\
         identity = {{ tenant = {{ value = \"t\" }}, report_id = \"/id\", version = \"event\" }}\n"
    );
    Sources::parse(&text).unwrap()
}

/// What comes of a body that is signed by this secret, or shown with it, and everything that is
/// printed of it on its way.
fn deliver(sources: &Sources, secret: &str, body: &[u8]) -> (Result<Admitted, Refusal>, String) {
    let scheme = &sources.get("s").unwrap().verify.scheme;
    let sending = Sending {
        method: "POST",
        segment: None,
        message_id: "msg_1",
        now: NOW,
        body,
    };
    let key = SigningKey::parse(scheme, secret).unwrap();
    // Where the secret stands in the payload, no header is added.
    let headers = sign(scheme, &key, &sending).unwrap_or_default();
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let delivery = Delivery {
        method: "POST",
        path: "/hooks/s",
        query: None,
        headers: &headers,
    };
    let entrance = Entrance::find(sources, &delivery).unwrap();
    let presented = entrance.signature(&delivery).unwrap();
    let mut keys = Keys::default();
    let wanted = entrance.wanted(NOW).unwrap().remove(0);
    keys.add(&entrance, &wanted, secret).unwrap();
    let mut printed = format!("{key:?} {delivery:?} {presented:?} {keys:?}");
    let proven = entrance.prove(&presented, &keys, Coding::Identity, body, NOW);
    let admitted = proven.and_then(|proven| {
        printed.push_str(&format!("{proven:?}"));
        entrance.admit(&proven, &keys)
    });
    printed.push_str(&format!("{admitted:?}"));
    (admitted, printed)
}

fn report_id(sources: &Sources, body: &str) -> Result<String, Refusal> {
    let (admitted, _) = deliver(sources, SECRET, body.as_bytes());
    match admitted? {
        Admitted::Report(envelope) => Ok(envelope.identity.report_id.to_string()),
        Admitted::Ignored | Admitted::Handshake(_) => unreachable!("neither is configured"),
    }
}

#[test]
fn a_form_holds_its_payload_once_however_the_field_is_spelled() {
    let sources = sources("preset = \"github\"");
    let payload = "payload=%7B%22id%22%3A%22a+b%22%7D";
    assert_eq!(report_id(&sources, payload), Ok("a b".to_owned()));
    assert_eq!(report_id(&sources, r#"{"id":1}"#), Ok("1".to_owned()));
    for other in ["&x=1", "&", "&=", "&payloa=2", "&payload2=2", "&PAYLOAD=2"] {
        assert!(
            report_id(&sources, &format!("{payload}{other}")).is_ok(),
            "{other}"
        );
    }
    for again in [
        "&payload=2",
        "&payload",
        "&%70ayload=2",
        "&p%61yload",
        "&x=1&payload=",
    ] {
        let body = format!("{payload}{again}");
        assert_eq!(report_id(&sources, &body), Err(Refusal::Form), "{again}");
    }
}

#[test]
fn what_stands_in_the_payload_is_found_in_a_form_too() {
    let dated = sources("preset = \"linear\"");
    let form = |at: u64| format!("payload=%7B%22id%22:1,%22webhookTimestamp%22:{at}000%7D");
    assert_eq!(report_id(&dated, &form(NOW)), Ok("1".to_owned()));
    let late = report_id(&dated, &form(NOW - 61));
    assert!(matches!(late, Err(Refusal::OutOfWindow(_))), "{late:?}");
    let twice = format!("{}&payload=1", form(NOW));
    assert_eq!(report_id(&dated, &twice), Err(Refusal::Form));

    let shown = sources("kind = \"token\", signature = { pointer = \"/token\" }");
    let form = format!("payload=%7B%22id%22:1,%22token%22:%22{SECRET}%22%7D");
    assert_eq!(report_id(&shown, &form), Ok("1".to_owned()));
    // Whoever hasn't shown it yet is told nothing.
    for body in [format!("{form}&payload=1"), "payload=1".into(), "{".into()] {
        let refused = report_id(&shown, &body);
        assert!(
            matches!(refused, Err(Refusal::Mismatch { .. })),
            "{body}: {refused:?}"
        );
    }
}

#[test]
fn neither_a_secret_nor_a_payload_is_printed() {
    let secret = "user:password-of-some-length";
    for verify in [
        "preset = \"github\"",
        "preset = \"gitlab-token\"",
        "kind = \"basic\"",
    ] {
        let body = br#"{"id":1,"text":"canary"}"#;
        let (admitted, printed) = deliver(&sources(verify), secret, body);
        assert!(admitted.is_ok(), "{admitted:?}");
        for part in [secret, "canary"] {
            let bytes = format!("{:?}", part.as_bytes());
            let bytes = bytes.trim_matches(['[', ']']);
            assert!(
                !printed.contains(part) && !printed.contains(bytes),
                "{verify}: {printed}"
            );
        }
    }
}
