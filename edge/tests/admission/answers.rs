//! What the backend says, what is wrong with the edge itself, and what a sender hears.

use fencepost_edge::PostError;
use serde_json::json;

use crate::{
    request::{COMMENT, comment},
    world::{Backend, World},
};

#[test]
fn an_accepted_delivery_is_forwarded_once_and_logs_nothing() {
    let seen = World::new().deliver(&comment(COMMENT));
    let envelope = seen.is_stored();
    assert_eq!(envelope.source, "comments");
    assert_eq!(envelope.identity.tenant.as_str(), "7");
    assert_eq!(envelope.identity.namespace.as_str(), "comments");
    assert_eq!(envelope.identity.report_id.as_str(), "81");
    assert_eq!(envelope.input.unwrap().as_str(), r#"{"text":"hello"}"#);
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
        (
            503,
            r#"{"code":"input_form_differs"}"#,
            "input_form_differs",
        ),
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
