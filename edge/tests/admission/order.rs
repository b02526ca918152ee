//! Of several things that are wrong with a delivery, the first in the fixed order answers.

use serde_json::{Value, json};

use crate::{
    configuration::WHSEC,
    request::Request,
    world::{NOW, Seen, World},
};

/// What may be wrong, in the order in which it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Method,
    Route,
    ContentEncoding,
    TooLarge,
    Signature,
    MessageId,
    Timestamp,
    Secret,
    Code,
    Window,
    Json,
    Handshake,
    Filter,
    Identity,
    EdgeSecret,
}

use Fault::*;

const FAULTS: [Fault; 15] = [
    Method,
    Route,
    ContentEncoding,
    TooLarge,
    Signature,
    MessageId,
    Timestamp,
    Secret,
    Code,
    Window,
    Json,
    Handshake,
    Filter,
    Identity,
    EdgeSecret,
];

const SOURCE: &str = r#"
max_body_bytes = 600
filter = { "/kind" = ["report"] }
verify = { preset = "standard-webhooks", handshake = "slack" }
"#;

fn body(has: impl Fn(Fault) -> bool) -> String {
    let mut members = serde_json::Map::new();
    let kind = if has(Filter) { "other" } else { "report" };
    members.insert("kind".to_owned(), kind.into());
    if !has(Identity) {
        members.insert("id".to_owned(), "r-1".into());
    }
    if has(Handshake) {
        members.insert("type".to_owned(), "url_verification".into());
    }
    let mut body = Value::Object(members).to_string();
    if has(Json) {
        body.push('}');
    }
    if has(TooLarge) {
        body.push_str(&" ".repeat(601 - body.len()));
    }
    body
}

fn request(signer: &World, has: impl Fn(Fault) -> bool) -> Request {
    let mut request = signer.signed(body(&has));
    if has(Code) {
        request = request.replacing("webhook-signature", format!("v1,{}=", "A".repeat(43)));
    }
    if has(Timestamp) {
        request = request.replacing("webhook-timestamp", "+1800000000");
    }
    if has(MessageId) {
        request = request.replacing("webhook-id", "msg.1");
    }
    if has(Signature) {
        request = request.replacing("webhook-signature", "v1,A");
    }
    if has(ContentEncoding) {
        request = request.header("content-encoding", "br");
    }
    if has(Route) {
        request.path = "/hooks/none".to_owned();
    }
    if has(Method) {
        request = request.by("PUT");
    }
    request
}

fn is_answered_for(fault: Fault, seen: &Seen) {
    match fault {
        Method => seen.is_refused(405, "method_not_allowed", "method_not_allowed"),
        Route => seen.is_refused(404, "unknown_source", "unknown_source"),
        ContentEncoding => {
            let code = "unsupported_content_encoding";
            seen.is_refused(415, code, code);
        }
        TooLarge => seen.is_refused(413, "too_large", "too_large"),
        Signature => seen.is_refused(400, "bad_signature_format", "malformed_signature"),
        MessageId => seen.is_refused(400, "bad_signature_format", "malformed_message_id"),
        Timestamp => seen.is_refused(400, "bad_timestamp", "malformed_timestamp"),
        Secret => {
            seen.is_refused(503, "misconfigured", "variable");
            assert_eq!(seen.line()["variable"], "secret");
        }
        Code => seen.is_refused(401, "unauthorized", "signature_mismatch"),
        Window => seen.is_refused(401, "unauthorized", "outside_window"),
        Json => seen.is_refused(400, "invalid_json", "invalid_json"),
        Handshake => seen.is_refused(400, "bad_handshake", "bad_handshake"),
        Filter => assert_eq!(seen.body(), json!({"ignored": true})),
        Identity => seen.is_refused(400, "missing_field", "missing_field"),
        EdgeSecret => {
            seen.is_refused(503, "misconfigured", "variable");
            assert_eq!(seen.line()["variable"], "edge_secret");
        }
    }
    assert!(seen.posts.is_empty());
}

#[test]
fn the_first_fault_of_any_number_answers() {
    let sound = || World::hook(SOURCE).setting("secret", WHSEC);
    let misconfigured = || sound().setting("secret", "whsec_canary");
    let worlds = [
        [sound(), sound().without("edge_secret")],
        [misconfigured(), misconfigured().without("edge_secret")],
    ];
    let late = World {
        now: NOW - 301,
        ..sound()
    };
    for faults in 1..1_usize << FAULTS.len() {
        let has = |fault: Fault| faults >> (fault as usize) & 1 == 1;
        let signer = if has(Window) { &late } else { &worlds[0][0] };
        let world = &worlds[usize::from(has(Secret))][usize::from(has(EdgeSecret))];
        let seen = world.deliver(&request(signer, has));
        let first = FAULTS.into_iter().find(|fault| has(*fault)).unwrap();
        is_answered_for(first, &seen);
    }
    let seen = worlds[0][0].deliver(&request(&worlds[0][0], |_| false));
    seen.is_stored();
}

#[test]
fn no_secret_is_asked_for_before_the_headers_are_right() {
    let world = World::hook(SOURCE).setting("secret", WHSEC);
    for fault in FAULTS {
        let seen = world.deliver(&request(&world, |other| other == fault));
        let early = (fault as usize) < Secret as usize;
        assert_eq!(seen.asked.is_empty(), early, "{fault:?}: {:?}", seen.asked);
        // What edge and backend share is for reports alone.
        let stored = seen.answer.status == 202;
        assert_eq!(seen.asked.iter().any(|name| name == "edge_secret"), stored);
    }
}

#[test]
fn a_time_in_the_body_is_read_once_the_signature_holds() {
    let world = World::hook(r#"verify = "linear""#);
    let at = |milliseconds: u64| {
        let time = NOW * 1000 + milliseconds;
        format!(r#"{{"id":"r-1","webhookTimestamp":{time}}}"#)
    };
    let deliver = |body: &str| world.deliver(&world.signed(body));
    let past = |seconds: u64| World {
        now: NOW + seconds,
        ..World::hook(r#"verify = "linear""#)
    };
    deliver(&at(0)).is_stored();
    deliver(&at(60_999)).is_stored();
    past(60).deliver(&world.signed(at(0))).is_stored();
    let late = past(61).deliver(&world.signed(at(0)));
    late.is_refused(401, "unauthorized", "outside_window");
    assert_eq!(late.line()["skew_seconds"], 61);
    deliver(&at(61_000)).is_refused(401, "unauthorized", "outside_window");
    for body in [
        r#"{"id":"r-1"}"#,
        r#"{"id":"r-1","webhookTimestamp":1800000000}"#,
        r#"{"id":"r-1","webhookTimestamp":1.8e12}"#,
        r#"{"id":"r-1","webhookTimestamp":-1800000000000}"#,
        r#"{"id":"r-1","webhookTimestamp":[1800000000000]}"#,
        r#"{"id":"r-1","webhookTimestamp":null}"#,
        "[]",
    ] {
        deliver(body).is_refused(400, "bad_timestamp", "malformed_timestamp");
    }
    deliver("junk").is_refused(400, "invalid_json", "invalid_json");
    let twice = r#"{"id":"r-1","webhookTimestamp":1800000000000,"webhookTimestamp":1}"#;
    deliver(twice).is_refused(400, "duplicate_member", "duplicate_member");
    // Without the signature nothing of it is told.
    for body in ["junk", twice, "{}", &at(61_000)] {
        let forged = world.signed(at(0)).carrying(body);
        let seen = world.deliver(&forged);
        seen.is_refused(401, "unauthorized", "signature_mismatch");
    }
}
