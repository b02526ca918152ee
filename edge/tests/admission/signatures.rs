//! Signatures, the window, and whose secret it is.

use fencepost_identity::signature::derive_secret;

use crate::{
    configuration::{OLD_SECRET, SECRET},
    request::{COMMENT, EVENT, Request, comment, event, scheme},
    world::{NOW, World},
};

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
        World::at(now).deliver(&Request::signed(path, body, "github", secret))
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
        World::new().deliver(&Request::signed("/hooks/rotating", body, "github", SECRET))
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
        let secret = derive_secret(&scheme("standard-webhooks"), SECRET, signer).unwrap();
        let path = format!("/hooks/derived/{path}");
        world.deliver(&Request::signed(&path, EVENT, "standard-webhooks", &secret))
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
        world.deliver(&Request::signed(&path, EVENT, "github", SECRET))
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
    let forged = Request::signed("/hooks/own-secret/acme", EVENT, "github", OLD_SECRET);
    assert_eq!(
        world.deliver(&forged).answer,
        stranger.answer,
        "strangers are not told apart"
    );
}
