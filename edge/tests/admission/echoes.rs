//! Handshakes that are signed: Slack's, Zoom's and Discord's.

use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::json;

use crate::{
    configuration::{OLD_SECRET, SECRET},
    request::Request,
    world::{NOW, World},
};

const TEXT: Option<&str> = Some("text/plain; charset=utf-8");
const JSON: Option<&str> = Some("application/json");

fn slack() -> World {
    World::hook(r#"verify = "slack""#)
}

fn challenge(text: &str) -> String {
    json!({"type": "url_verification", "challenge": text}).to_string()
}

#[test]
fn slack_gets_exactly_its_challenge() {
    let world = slack();
    let long = "é".repeat(512);
    for text in [
        "c+/=é",
        "<script>alert(1)</script>",
        "\"\\\n\u{0}",
        "a",
        &long,
    ] {
        let seen = world.deliver(&world.signed(challenge(text)));
        seen.is_answered(TEXT, text);
        assert_eq!(seen.asked, ["secret"]);
    }
    let named = format!(
        "payload={}",
        "%7B%22type%22%3A%22url_verification%22%2C%22challenge%22%3A1%7D"
    );
    let seen = world.deliver(&world.signed(named));
    seen.is_refused(400, "bad_handshake", "bad_handshake");
}

#[test]
fn an_echo_comes_after_the_proof() {
    let world = slack();
    let request = world.signed(challenge("canary"));
    let stale = World {
        now: NOW + 301,
        ..slack()
    };
    for (seen, reason) in [
        (
            world.deliver(&request.clone().dropping("x-slack-signature")),
            "no_signature",
        ),
        (
            world.deliver(&request.clone().carrying(challenge("canary2"))),
            "signature_mismatch",
        ),
        (stale.deliver(&request), "outside_window"),
    ] {
        seen.is_refused(401, "unauthorized", reason);
        assert!(!format!("{:?}{:?}", seen.answer, seen.lines).contains("canary"));
    }
}

#[test]
fn slacks_handshake_has_a_challenge_of_a_bounded_length() {
    let world = slack();
    for body in [
        json!({"type": "url_verification"}),
        json!({"type": "url_verification", "challenge": null}),
        json!({"type": "url_verification", "challenge": 1}),
        json!({"type": "url_verification", "challenge": ["a"]}),
        json!({"type": "url_verification", "challenge": ""}),
        json!({"type": "url_verification", "challenge": "a".repeat(1025)}),
        json!({"type": "url_verification", "challenge": format!("{}a", "é".repeat(512))}),
    ] {
        let seen = world.deliver(&world.signed(body.to_string()));
        seen.is_refused(400, "bad_handshake", "bad_handshake");
    }
    let twice = r#"{"type":"url_verification","challenge":"a","challenge":"b"}"#;
    let seen = world.deliver(&world.signed(twice));
    seen.is_refused(400, "duplicate_member", "duplicate_member");
    let lone = r#"{"type":"url_verification","challenge":"\ud800"}"#;
    let seen = world.deliver(&world.signed(lone));
    assert!(
        seen.posts.is_empty() && seen.answer.status == 400,
        "{:?}",
        seen.answer
    );
}

#[test]
fn a_handshake_comes_before_the_filter_and_only_where_it_is_declared() {
    let filtered = World::hook("verify = \"slack\"\nfilter = { \"/type\" = [\"event_callback\"] }");
    let seen = filtered.deliver(&filtered.signed(challenge("a")));
    seen.is_answered(TEXT, "a");
    let other = filtered.deliver(&filtered.signed(r#"{"type":"something"}"#));
    assert_eq!(
        (other.answer.status, other.body()),
        (200, json!({"ignored": true}))
    );

    for source in [r#"verify = "github""#, r#"verify = "zoom""#] {
        let world = World::hook(source);
        let seen = world.deliver(&world.signed(challenge("a")));
        seen.is_refused(400, "missing_field", "missing_field");
    }
    let world = slack();
    for body in [
        r#"{"type":"url_verification ","challenge":"a"}"#,
        r#"{"Type":"url_verification","challenge":"a"}"#,
        r#"{"event":{"type":"url_verification","challenge":"a"}}"#,
        r#"[{"type":"url_verification","challenge":"a"}]"#,
    ] {
        let seen = world.deliver(&world.signed(body));
        seen.is_refused(400, "missing_field", "missing_field");
    }
}

#[test]
fn zoom_gets_a_code_by_the_secret_that_signed() {
    // The published code is by a key of seven bytes, which HMAC fills up with zeros.
    let short = "66705f7a6f6f6d000000000000000000";
    let source = "verify = { preset = \"zoom\", secret = { encoding = \"hex\" } }";
    let world = World::hook(source).setting("secret", short);
    let ask =
        |plain: &str| json!({"event": "endpoint.url_validation", "payload": {"plainToken": plain}});
    let seen = world.deliver(&world.signed(ask("plain123").to_string()));
    let code = "95dae3faffd3d10eb4e55a1decc04c057d3ff1ac9d76dacc0d692274d53265b5";
    let answer = format!(r#"{{"plainToken":"plain123","encryptedToken":"{code}"}}"#);
    seen.is_answered(JSON, &answer);

    // While a secret is replaced, the answer is by the one that asked.
    let rotating = "verify = \"zoom\"\nsecrets = [\"secret\", \"old_secret\"]";
    let world = World::hook(rotating);
    let by = |secret: &str| {
        let asking = World::hook(rotating).setting("secret", secret);
        let seen = world.deliver(&asking.signed(ask("a").to_string()));
        assert_eq!(seen.answer.status, 200);
        seen.answer.body
    };
    assert_ne!(by(SECRET), by(OLD_SECRET));

    let escaped = world.deliver(&world.signed(ask("\"\n").to_string()));
    assert_eq!(escaped.body()["plainToken"], "\"\n");
    for payload in [json!({}), json!({"plainToken": 1}), json!("a"), json!(null)] {
        let body = json!({"event": "endpoint.url_validation", "payload": payload});
        let seen = world.deliver(&world.signed(body.to_string()));
        seen.is_refused(400, "bad_handshake", "bad_handshake");
    }
    let long = world.deliver(&world.signed(ask(&"a".repeat(1025)).to_string()));
    long.is_refused(400, "bad_handshake", "bad_handshake");
    let longest = world.deliver(&world.signed(ask(&"a".repeat(1024)).to_string()));
    assert_eq!(longest.answer.status, 200);
    let unsigned = world
        .signed(ask("canary").to_string())
        .dropping("x-zm-signature");
    let seen = world.deliver(&unsigned);
    seen.is_refused(401, "unauthorized", "no_signature");
    assert!(!seen.answer.body.contains("canary"));
}

/// Signed by the key whose seed is the bytes from 0 to 31.
fn discord(body: &str) -> Request {
    let seed: Vec<u8> = (0..32).collect();
    let key = SigningKey::from_bytes(seed.as_slice().try_into().unwrap());
    let signature = key.sign(format!("{NOW}{body}").as_bytes()).to_bytes();
    let digits: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    Request::new("/hooks/hook", body)
        .header("X-Signature-Ed25519", digits)
        .header("X-Signature-Timestamp", NOW.to_string())
}

fn discord_world() -> World {
    let public = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
    World::hook(r#"verify = "discord""#).setting("secret", public)
}

#[test]
fn discord_gets_its_ping_back() {
    let world = discord_world();
    let ping = discord(r#"{"type":1}"#);
    let published = concat!(
        "14ff115a1bdb65be81ed41ef72ea76ed1ef23656eacd8705e83af2419edd82f2",
        "3d058856a672bca5a8294dec1d25d7ff1d942327d83c4025dcc2577776dcf306"
    );
    assert_eq!(ping.headers[0].1, published.as_bytes());
    world.deliver(&ping).is_answered(JSON, r#"{"type":1}"#);
    let more = discord(r#"{"id":"1","type":1,"token":"x"}"#);
    world.deliver(&more).is_answered(JSON, r#"{"type":1}"#);
    world
        .deliver(&discord(r#"{"id":"1","type":2}"#))
        .is_stored();
    for other in [
        r#"{"type":"1"}"#,
        r#"{"type":10}"#,
        r#"{"type":-1}"#,
        r#"{"type":1.0}"#,
    ] {
        let seen = world.deliver(&discord(other));
        seen.is_refused(400, "missing_field", "missing_field");
    }
    // Discord sends wrong signatures on purpose, and wants 401.
    let mut wrong = ping.clone();
    wrong.headers[0].1[0] ^= 1;
    let seen = world.deliver(&wrong);
    seen.is_refused(401, "unauthorized", "signature_mismatch");
    let unsigned = ping.dropping("X-Signature-Ed25519");
    world
        .deliver(&unsigned)
        .is_refused(401, "unauthorized", "no_signature");
}
