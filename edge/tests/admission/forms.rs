//! Forms with a field that holds the JSON. The signed bytes say what a body is, and no header.

use crate::world::{Seen, World};

const PAYLOAD: &str = "payload=%7B%22id%22%3A+%22r-1%22%7D";
const JSON: &str = r#"{"id": "r-1"}"#;

fn deliver(preset: &str, body: &str) -> Seen {
    let world = World::hook(&format!("verify = \"{preset}\""));
    world.deliver(&world.signed(body))
}

#[test]
fn a_form_is_read_like_the_json_in_it_whatever_the_content_type_says() {
    for preset in ["github", "slack"] {
        let stored = deliver(preset, JSON).is_stored();
        for body in [
            PAYLOAD,
            &format!("{PAYLOAD}&more=1"),
            &format!("payload={JSON}"),
        ] {
            let world = World::hook(&format!("verify = \"{preset}\""));
            for content_type in [
                "application/x-www-form-urlencoded",
                "application/json",
                "x",
                "",
            ] {
                let request = world.signed(body).header("content-type", content_type);
                assert_eq!(world.deliver(&request).is_stored(), stored);
                let request = world.signed(JSON).header("content-type", content_type);
                assert_eq!(world.deliver(&request).is_stored(), stored);
            }
            assert_eq!(world.deliver(&world.signed(body)).is_stored(), stored);
        }
    }
}

#[test]
fn a_field_that_stands_twice_is_refused_and_one_that_is_not_first_is_none() {
    for preset in ["github", "slack"] {
        for body in [
            format!("{PAYLOAD}&{PAYLOAD}"),
            format!("{PAYLOAD}&payload="),
            format!("{PAYLOAD}&payload"),
            format!("{PAYLOAD}&p%61yload=1"),
        ] {
            deliver(preset, &body).is_refused(400, "invalid_form", "invalid_form");
        }
        for body in [
            format!("more=1&{PAYLOAD}"),
            format!(" {PAYLOAD}"),
            "Payload=%7B%22id%22%3A%22r-1%22%7D".to_owned(),
            "p%61yload=%7B%22id%22%3A%22r-1%22%7D".to_owned(),
            "payload".to_owned(),
            "payload=".to_owned(),
            "payload=%7B".to_owned(),
            "payload=%ff".to_owned(),
        ] {
            deliver(preset, &body).is_refused(400, "invalid_json", "invalid_json");
        }
        let twice = "payload=%7B%22id%22%3A1%2C%22id%22%3A2%7D";
        deliver(preset, twice).is_refused(400, "duplicate_member", "duplicate_member");
    }
}

#[test]
fn json_that_contains_a_form_stays_json() {
    let text = "a&payload=%7B%22id%22%3A%22r-2%22%7D&b";
    let envelope = deliver("github", &format!(r#"{{"id":"{text}"}}"#)).is_stored();
    assert_eq!(envelope.identity.report_id.as_str(), text);
}

#[test]
fn a_source_without_forms_takes_none() {
    for preset in ["sentry", "shopify", "bitbucket"] {
        deliver(preset, PAYLOAD).is_refused(400, "invalid_json", "invalid_json");
    }
    let world = World::hook("verify = { preset = \"sentry\", form = \"data\" }");
    world
        .deliver(&world.signed(PAYLOAD))
        .is_refused(400, "invalid_json", "invalid_json");
    world
        .deliver(&world.signed(PAYLOAD.replace("payload", "data")))
        .is_stored();
}

#[test]
fn nothing_of_a_form_is_read_before_the_signature_holds() {
    let world = World::hook("verify = \"github\"");
    for body in [
        PAYLOAD.to_owned(),
        format!("{PAYLOAD}&{PAYLOAD}"),
        "payload=".to_owned(),
    ] {
        let seen = world.deliver(&world.signed(JSON).carrying(body));
        seen.is_refused(401, "unauthorized", "signature_mismatch");
    }
}
