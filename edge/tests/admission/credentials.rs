//! Secrets that are shown: tokens, Basic, and a state in the body.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::{
    configuration::{OLD_SECRET, SECRET},
    request::Request,
    world::World,
};

const BODY: &str = r#"{"id":"r-1"}"#;

fn hook() -> Request {
    Request::new("/hooks/hook", BODY)
}

#[test]
fn a_token_is_the_secret_whole_and_once() {
    let world = World::hook(r#"verify = "gitlab-token""#);
    let with = |token: &[u8]| world.deliver(&hook().header("X-Gitlab-Token", token));
    let seen = with(SECRET.as_bytes());
    seen.is_stored();
    assert_eq!(seen.asked[0], "secret");
    let longer = format!("{SECRET}x");
    for token in [
        "",
        " ",
        OLD_SECRET,
        SECRET.trim_start_matches("f"),
        &longer,
        &SECRET.to_uppercase(),
        &format!("Bearer {SECRET}"),
        &format!("{SECRET},{SECRET}"),
    ] {
        let seen = with(token.as_bytes());
        seen.is_refused(401, "unauthorized", "signature_mismatch");
    }
    with(b"\xff\xfe").is_refused(401, "unauthorized", "signature_mismatch");
    world
        .deliver(&hook())
        .is_refused(401, "unauthorized", "no_signature");
    let twice = hook()
        .header("x-gitlab-token", SECRET)
        .header("X-Gitlab-Token", SECRET);
    let seen = world.deliver(&twice);
    seen.is_refused(400, "bad_signature_format", "repeated_header");
    // Nobody vouches for the body, which is read only after the token all the same.
    let junk =
        |token: &str| world.deliver(&hook().carrying("junk").header("x-gitlab-token", token));
    junk("wrong").is_refused(401, "unauthorized", "signature_mismatch");
    junk(SECRET).is_refused(400, "invalid_json", "invalid_json");
}

#[test]
fn a_token_stands_behind_its_prefix_and_may_be_exchanged() {
    let world = World::hook(
        r#"
secrets = ["secret", { name = "old_secret", not_after = 2027-01-15T08:00:00Z }]
[source.hook.verify]
kind = "token"
signature = { header = "Authorization", shape = "prefix", prefix = "Bearer " }
"#,
    );
    let with = |value: &str| world.deliver(&hook().header("authorization", value));
    with(&format!("Bearer {SECRET}")).is_stored();
    with(&format!("Bearer {OLD_SECRET}")).is_stored();
    with("Bearer ").is_refused(401, "unauthorized", "signature_mismatch");
    for value in [
        SECRET,
        &format!("bearer {SECRET}"),
        &format!("x Bearer {SECRET}"),
        "",
    ] {
        with(value).is_refused(400, "bad_signature_format", "malformed_signature");
    }
    let later = World {
        now: world.now + 1,
        ..world
    };
    let seen = later.deliver(&hook().header("authorization", format!("Bearer {OLD_SECRET}")));
    seen.is_refused(401, "unauthorized", "signature_mismatch");
}

#[test]
fn basic_is_user_and_password() {
    let credentials = "webhooks:pass:word:0123456789é";
    let source = "[source.hook.verify]\nkind = \"basic\"\n";
    let world = World::hook(&format!("\n{source}")).setting("secret", credentials);
    let with = |value: String| world.deliver(&hook().header("Authorization", value));
    let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
    with(basic(credentials)).is_stored();
    with(basic(credentials).replace("Basic", "BASIC")).is_stored();
    for wrong in [
        "webhooks:pass",
        "webhooks:",
        ":",
        "",
        credentials.trim_start_matches("webhook"),
        "a:b",
    ] {
        let seen = with(basic(wrong));
        seen.is_refused(401, "unauthorized", "signature_mismatch");
    }
    for malformed in [
        String::new(),
        "Basic".to_owned(),
        basic(credentials).replace("Basic", "Bearer"),
        basic(credentials).replace(' ', ""),
        basic(credentials).trim_end_matches('=').to_owned() + "!",
        format!("Basic {credentials}"),
        format!("{}, {}", basic(credentials), basic(credentials)),
    ] {
        let seen = with(malformed);
        seen.is_refused(400, "bad_signature_format", "malformed_signature");
    }
    world
        .deliver(&hook())
        .is_refused(401, "unauthorized", "no_signature");
    let twice = hook()
        .header("authorization", basic(credentials))
        .header("authorization", basic(credentials));
    let seen = world.deliver(&twice);
    seen.is_refused(400, "bad_signature_format", "repeated_header");
    let without_user = world.setting("secret", SECRET);
    let seen = without_user.deliver(&hook().header("authorization", basic(SECRET)));
    seen.is_refused(503, "misconfigured", "variable");
}

#[test]
fn a_state_in_the_body_is_all_that_is_told_of_it() {
    let world = World::hook(
        "\n[source.hook.verify]\nkind = \"token\"\nsignature = { pointer = \"/clientState\" }\n",
    );
    let with = |body: String| world.deliver(&hook().carrying(body));
    with(format!(r#"{{"id":"r-1","clientState":"{SECRET}"}}"#)).is_stored();
    let no_id = with(format!(r#"{{"clientState":"{SECRET}"}}"#));
    no_id.is_refused(400, "missing_field", "missing_field");
    for body in [
        "junk".to_owned(),
        String::new(),
        BODY.to_owned(),
        r#"{"id":"r-1","clientState":null}"#.to_owned(),
        r#"{"id":"r-1","clientState":""}"#.to_owned(),
        r#"{"id":"r-1","clientState":1}"#.to_owned(),
        format!(r#"{{"id":"r-1","clientState":["{SECRET}"]}}"#),
        format!(r#"{{"id":"r-1","clientState":"{SECRET}","clientState":"{SECRET}"}}"#),
        format!(r#"{{"id":"r-1","clientState":"{OLD_SECRET}"}}"#),
        format!(r#"{{"id":"r-1","clientState":"{SECRET}"}}}}"#),
    ] {
        let seen = with(body);
        seen.is_refused(401, "unauthorized", "signature_mismatch");
    }
}

#[test]
fn a_secret_that_is_none_is_never_tried() {
    for (source, secret, detail) in [
        (
            r#"verify = "github""#,
            "fifteen_bytes__",
            "the secret stands for 15 bytes; at least 16 are needed",
        ),
        (
            r#"verify = "github""#,
            "                    ",
            "the secret is blank",
        ),
        (
            r#"verify = "github""#,
            "fp_test_secret_0123456789abcdef\n",
            "the secret contains a control character, such as a line ending",
        ),
        (
            r#"verify = "standard-webhooks""#,
            "whsec_!!!!",
            "the secret is not standard base64 with its padding",
        ),
        (
            r#"verify = "standard-webhooks""#,
            "v1,whsec_ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==",
            "the secret begins with `v1,`, as a signature does; leave it away: `whsec_…`",
        ),
        (
            r#"verify = "discord""#,
            "0000000000000000000000000000000000000000000000000000000000000000",
            "this is no Ed25519 public key of 32 bytes",
        ),
    ] {
        let sound = World::hook(source);
        let request = match source.contains("standard") {
            true => sound
                .setting("secret", crate::configuration::WHSEC)
                .signed(BODY),
            false if source.contains("discord") => hook()
                .header("x-signature-ed25519", "0".repeat(128))
                .header("x-signature-timestamp", crate::world::NOW.to_string()),
            false => sound.signed(BODY),
        };
        let seen = World::hook(source)
            .setting("secret", secret)
            .deliver(&request);
        seen.is_refused(503, "misconfigured", "variable");
        assert_eq!(seen.line()["detail"], detail);
        assert!(!seen.lines[0].contains(secret) && !seen.answer.body.contains("secret"));
    }
}
