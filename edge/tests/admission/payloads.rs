//! Payloads that are no identity, and events that are no report.

use serde_json::json;

use crate::{
    configuration::SECRET,
    request::{Request, comment, event},
    world::World,
};

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
        world.deliver(&Request::signed("/hooks/rotating", body, "github", SECRET))
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
