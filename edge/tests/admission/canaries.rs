//! Nothing but the chosen members of a payload goes anywhere, whatever is sent.

use fencepost_edge::PostError;
use proptest::prelude::*;
use serde_json::json;

use crate::{
    configuration::{EDGE_SECRET, OLD_SECRET, SECRET, WHSEC},
    request::{EVENT, Request, comment, event},
    world::{Backend, World},
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
    let other = Request::signed("/hooks/events", spaced, "standard-webhooks", WHSEC);
    assert_eq!(world.deliver(&other).posts, posts);
}

proptest! {
    #[test]
    fn nothing_that_is_sent_makes_it_panic_or_say_yes(
        method in "POST|GET|[A-Z]{0,4}",
        query in prop::option::of("[ -~]{0,20}"),
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
            World::at(now).deliver(&Request { method, path, query, headers, chunks, interrupted });
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
