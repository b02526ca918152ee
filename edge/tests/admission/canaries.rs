//! Nothing but the chosen members of a payload goes anywhere, whatever is sent.

use fencepost_edge::PostError;
use fencepost_identity::{config::preset_names, signature::Proof};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    configuration::{CONFIGURATION, EDGE_SECRET, OLD_SECRET, SECRET, WHSEC, variables},
    request::{EVENT, Request, comment, event},
    world::{Backend, NOW, World},
};

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
    assert_eq!(envelope.input.unwrap().as_str(), r#"{"text":"the text"}"#);
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
    let other = Request::signed("/hooks/events", spaced, "standard-webhooks", WHSEC);
    assert_eq!(world.deliver(&other).posts, posts);
}

/// A file with a source for each preset, and for each kind of secret that is shown.
fn every_preset() -> World {
    let mut text = CONFIGURATION.to_owned();
    for name in preset_names() {
        let more = match name {
            "intercom" => ", allow_weak = true",
            "meta" => ", verify_token = \"meta_token\"",
            "square" => ", url = \"https://edge.test/hooks/square\"",
            _ => "",
        };
        text.push_str(&source(name, &format!("{{ preset = \"{name}\"{more} }}")));
    }
    let pointer = "{ kind = \"token\", signature = { pointer = \"/state\" }, HANDSHAKE }";
    let graph = pointer.replace("HANDSHAKE", "handshake = \"microsoft-graph\"");
    text.push_str(&source("graph", &graph));
    text.push_str(&source("basic", "{ kind = \"basic\" }"));
    let mut variables = variables();
    for (name, value) in [
        ("secret_basic", "user:fp_test_secret_0123456789abcdef"),
        (
            "secret_discord",
            "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
        ),
        ("secret_gitlab", WHSEC),
        ("secret_standard_webhooks", WHSEC),
    ] {
        variables.insert(name.to_owned(), value.to_owned());
    }
    for name in preset_names().chain(["graph"]) {
        let variable = format!("secret_{}", name.replace('-', "_"));
        variables
            .entry(variable)
            .or_insert_with(|| SECRET.to_owned());
    }
    let world = World::of(&text, variables);
    assert_eq!(world.sources.as_ref().err(), None);
    world
}

fn source(name: &str, verify: &str) -> String {
    let variable = name.replace('-', "_");
    format!(
        "[source.{name}]\nverify = {verify}\nsecrets = [\"secret_{variable}\"]\n\
         pipeline = \"moderation\"\ncontent_encoding = \"wire\"\n\
         identity = {{ tenant = {{ value = \"acme\" }}, report_id = \"/id\", \
         version = \"event\" }}\ninput = {{ text = \"/id\" }}\n"
    )
}

const NAMES: [&str; 26] = [
    "authorization",
    "content-encoding",
    "content-length",
    "linear-signature",
    "sentry-hook-signature",
    "stripe-signature",
    "svix-id",
    "svix-signature",
    "svix-timestamp",
    "typeform-signature",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
    "x-gitlab-token",
    "x-hub-signature",
    "x-hub-signature-256",
    "x-pagerduty-signature",
    "x-shopify-hmac-sha256",
    "x-signature-ed25519",
    "x-signature-timestamp",
    "x-slack-request-timestamp",
    "x-slack-signature",
    "x-square-hmacsha256-signature",
    "x-zendesk-webhook-signature",
    "x-zm-request-timestamp",
    "x-zm-signature",
];

/// What stands in some header of a right delivery, or nearly does.
const VALUES: &str = concat!(
    "[ -~]{0,70}|[0-9]{1,14}|gzip|msg_[0-9a-z]{0,9}|2027-01-15T08:00:00Z|",
    "(sha256=|v0=|v1=|sha1=)?([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})|",
    "(sha256=|v1,)?[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=|",
    "t=1800000000,(v1=[0-9a-f]{64},?){1,3}|Basic [A-Za-z0-9+/]{8}",
);

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => VALUES.prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..70),
    ]
}

proptest! {
    #[test]
    fn nothing_that_is_sent_makes_it_panic_or_say_yes(
        method in "POST|POST|POST|GET|HEAD|[A-Z]{0,4}",
        query in prop::option::of(
            "(hub.mode=subscribe&hub.verify_token=[a-z_]{0,9}&hub.challenge=1)?[ -~]{0,20}"
        ),
        source in 0..100_usize,
        path in "/hooks/(comments|events|derived/[ -~]{0,9}|own-secret/[a-z%0-9]{0,6}|[ -~]{0,9})",
        names in prop::collection::vec(0..NAMES.len(), 0..12),
        values in prop::collection::vec(value(), 12),
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..4),
        interrupted in any::<bool>(),
        now in prop_oneof![Just(NOW), any::<u64>()],
    ) {
        let sources: Vec<_> = preset_names().chain(["graph", "basic"]).collect();
        let path = match sources.get(source) {
            Some(name) => format!("/hooks/{name}"),
            None => path,
        };
        let headers = names.iter().zip(values);
        let headers = headers.map(|(at, value)| (NAMES[*at].to_owned(), value)).collect();
        let request = Request { method, path, query, headers, chunks, interrupted };
        // A handshake that nobody can sign may be answered to anybody.
        let greeting = request.path == "/hooks/graph" && request.query.is_some();
        let seen = World { now, ..every_preset() }.deliver(&request);
        let refused = (400..500).contains(&seen.answer.status);
        prop_assert!(refused || greeting, "{:?} {:?}", seen.answer, seen.lines);
        prop_assert_eq!(seen.lines.len(), 1);
        prop_assert_eq!(seen.line()["event"].as_str() == Some("refused"), refused);
        prop_assert!(seen.posts.is_empty());
    }

    #[test]
    fn a_right_delivery_with_anything_else_in_it_is_the_same_or_none(
        source in 0..100_usize,
        names in prop::collection::vec(0..NAMES.len(), 0..4),
        values in prop::collection::vec(value(), 4),
        at in any::<prop::sample::Index>(),
        flip in 0..=255_u8,
    ) {
        let sources: Vec<_> = preset_names().filter(|name| *name != "discord").collect();
        let name = sources[source % sources.len()];
        let world = every_preset();
        let scheme = &world.sources.as_ref().unwrap().get(name).unwrap().verify.scheme;
        let secret = &world.variables[&format!("secret_{}", name.replace('-', "_"))];
        let body = format!(r#"{{"id":"r-1","webhookTimestamp":{NOW}000}}"#);
        let right = Request::new(&format!("/hooks/{name}"), body.clone());
        let right = right.signed_under(scheme, secret, NOW);
        let posts = world.deliver(&right).posts;
        prop_assert_eq!(posts.len(), 1);

        let mut other = right.clone();
        for (at, value) in names.iter().zip(values) {
            other = other.header(NAMES[*at], value);
        }
        let seen = world.deliver(&other);
        prop_assert!(seen.posts == posts || seen.posts.is_empty(), "{:?}", seen.posts);
        if scheme.proof() == Proof::Body && flip != 0 {
            let mut bytes = body.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            let seen = world.deliver(&right.carrying(bytes));
            prop_assert_eq!(seen.answer.status, 401);
        }
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
