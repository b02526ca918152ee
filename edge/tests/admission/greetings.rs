//! Handshakes that come without a signature: GET, HEAD, and a POST without a body.

use crate::{
    configuration::META_TOKEN,
    request::Request,
    world::{Seen, World},
};

const TEXT: Option<&str> = Some("text/plain; charset=utf-8");

const META: &str = r#"verify = { preset = "meta", verify_token = "meta_token" }"#;
const DROPBOX: &str = r#"verify = { preset = "github", handshake = "dropbox" }"#;
const TRELLO: &str = r#"verify = { preset = "github", handshake = "trello" }"#;
const GRAPH: &str = r#"
[source.hook.verify]
kind = "token"
handshake = "microsoft-graph"
signature = { pointer = "/clientState" }
"#;

fn get(query: &str) -> Request {
    Request::new("/hooks/hook", "").by("GET").asking(query)
}

fn meta(query: &str) -> Seen {
    World::hook(META).deliver(&get(query))
}

fn right(challenge: &str) -> String {
    format!("hub.mode=subscribe&hub.verify_token={META_TOKEN}&hub.challenge={challenge}")
}

#[test]
fn meta_gets_its_challenge_for_the_token() {
    let seen = meta(&right("1158201444"));
    seen.is_answered(TEXT, "1158201444");
    assert_eq!(seen.asked, ["meta_token"]);
    meta(&right("a%2Bb+c%C3%A9")).is_answered(TEXT, "a+b cé");
    meta(&right("%3Cscript%3E")).is_answered(TEXT, "<script>");
    meta(&format!("x=1&{}&y", right("1"))).is_answered(TEXT, "1");
    meta(&right(&"a".repeat(1024))).is_answered(TEXT, &"a".repeat(1024));
    let body = get(&right("1")).carrying("a body that nobody reads");
    let seen = World::hook(META).deliver(&body);
    seen.is_answered(TEXT, "1");
    assert_eq!(seen.taken, 0);
}

#[test]
fn meta_is_refused_with_another_token() {
    let world = World::hook(META);
    for token in [
        "wrong",
        "",
        META_TOKEN.trim_end_matches("f"),
        &format!("{META_TOKEN}x"),
        "%ff",
    ] {
        let query = format!("hub.mode=subscribe&hub.verify_token={token}&hub.challenge=canary");
        let seen = world.deliver(&get(&query));
        seen.is_refused(403, "handshake_refused", "verify_token_mismatch");
        let told = format!("{:?} {:?}", seen.answer, seen.lines);
        assert!(
            !told.contains("canary") && !told.contains(META_TOKEN),
            "{told}"
        );
    }
}

#[test]
fn metas_handshake_has_each_parameter_once() {
    let mut malformed = vec![
        String::new(),
        "hub.challenge=1".to_owned(),
        format!("hub.verify_token={META_TOKEN}&hub.challenge=1"),
        right(""),
        right("%ff"),
        right(&"a".repeat(1025)),
        right(&"%C3%A9".repeat(513)),
        right("1").replace("subscribe", "unsubscribe"),
        right("1").replace("subscribe", "SUBSCRIBE"),
        right("1").replace("hub.mode", "HUB.MODE"),
        right("1").replace("hub.mode", "hub_mode"),
    ];
    for again in [
        "hub.mode=subscribe",
        "hub.verify_token=x",
        "hub.challenge=1",
        "hub%2Emode=x",
    ] {
        malformed.push(format!("{}&{again}", right("1")));
    }
    for query in &malformed {
        let seen = meta(query);
        seen.is_refused(400, "bad_handshake", "bad_handshake");
        assert!(seen.asked.is_empty(), "{query}");
    }
    let without = Request::new("/hooks/hook", "").by("GET");
    let seen = World::hook(META).deliver(&without);
    seen.is_refused(400, "bad_handshake", "bad_handshake");
}

#[test]
fn a_token_that_is_no_secret_answers_nobody() {
    for (token, shown, detail) in [
        (None, "", "it has no value"),
        (
            Some(""),
            "",
            "the secret stands for 0 bytes; at least 16 are needed",
        ),
        (
            Some("fifteen-bytes--"),
            "fifteen-bytes--",
            "the secret stands for 15 bytes; at least 16 are needed",
        ),
        (
            Some("                "),
            "++++++++++++++++",
            "the secret is blank",
        ),
        (
            Some("sixteen-bytes--!\n"),
            "sixteen-bytes--!%0a",
            "the secret contains a control character, such as a line ending",
        ),
        (Some("unavailable"), "", "its provider does not answer"),
    ] {
        let world = match token {
            None => World::hook(META).without("meta_token"),
            Some(token) => World::hook(META).setting("meta_token", token),
        };
        let query = format!("hub.mode=subscribe&hub.verify_token={shown}&hub.challenge=1");
        let seen = world.deliver(&get(&query));
        seen.is_refused(503, "misconfigured", "variable");
        let line = seen.line();
        assert_eq!(
            (&line["variable"], &line["detail"]),
            (&"meta_token".into(), &detail.into())
        );
    }
}

#[test]
fn dropbox_gets_its_challenge() {
    let world = World::hook(DROPBOX);
    let ask = |query: &str| world.deliver(&get(query));
    let seen = ask("challenge=abc-123");
    seen.is_answered(TEXT, "abc-123");
    assert!(seen.asked.is_empty());
    ask("challenge=%3Chtml%3E").is_answered(TEXT, "<html>");
    ask(&format!("challenge={}", "a".repeat(1024))).is_answered(TEXT, &"a".repeat(1024));
    for query in [
        "",
        "challenge",
        "challenge=",
        "challenge=%ff",
        "challenge=a&challenge=a",
        "challenge=a&%63hallenge=b",
        "Challenge=a",
        &format!("challenge={}", "a".repeat(1025)),
    ] {
        ask(query).is_refused(400, "bad_handshake", "bad_handshake");
    }
}

#[test]
fn trello_finds_the_address_with_head() {
    let world = World::hook(TRELLO);
    let head = Request::new("/hooks/hook", "").by("HEAD");
    let seen = world.deliver(&head);
    seen.is_answered(None, "");
    assert!(seen.asked.is_empty());
    world
        .deliver(&head.clone().asking("a=b"))
        .is_answered(None, "");
}

#[test]
fn graph_gets_its_token_decoded() {
    let world = World::hook(GRAPH);
    let ask =
        |query: &str, body: &str| world.deliver(&Request::new("/hooks/hook", body).asking(query));
    let seen = ask("validationToken=Validation%3A+Testing%20client%3C%3E", "");
    seen.is_answered(TEXT, "Validation: Testing client<>");
    assert!(seen.asked.is_empty());
    assert_eq!(seen.line()["body_bytes"], 0);
    let long = "a".repeat(1024);
    ask(&format!("validationToken={long}"), "").is_answered(TEXT, &long);
    for query in [
        "validationToken=",
        "validationToken=%ff",
        "validationToken=a&validationToken=b",
        &format!("validationToken={long}a"),
    ] {
        ask(query, "").is_refused(400, "bad_handshake", "bad_handshake");
    }
    // With a body it is a notification like any other, and its state has to be right.
    let body = r#"{"id":"r-1","clientState":"STATE"}"#;
    let token = "validationToken=a";
    ask(token, body).is_refused(401, "unauthorized", "signature_mismatch");
    let right = body.replace("STATE", &world.variables["secret"]);
    ask(token, &right).is_stored();
    ask("", "").is_refused(401, "unauthorized", "signature_mismatch");
    ask("token=a", "").is_refused(401, "unauthorized", "signature_mismatch");
}

#[test]
fn each_source_takes_the_methods_of_its_handshake_alone() {
    const METHODS: [&str; 6] = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"];
    for (source, allow) in [
        (META, "GET, POST"),
        (DROPBOX, "GET, POST"),
        (TRELLO, "HEAD, POST"),
        (GRAPH, "POST"),
        (r#"verify = "slack""#, "POST"),
        (r#"verify = "zoom""#, "POST"),
        (r#"verify = "github""#, "POST"),
    ] {
        let world = World::hook(source);
        for method in METHODS.into_iter().filter(|method| !allow.contains(method)) {
            // With all that would answer each handshake.
            let query = format!("{}&challenge=1&validationToken=1", right("1"));
            let seen = world.deliver(&Request::new("/hooks/hook", "").by(method).asking(&query));
            seen.is_refused(405, "method_not_allowed", "method_not_allowed");
            assert_eq!(seen.header("allow"), Some(allow));
            assert!(seen.asked.is_empty());
        }
    }
    // And only there.
    let elsewhere = Request::new("/hooks/events", "")
        .by("GET")
        .asking(&right("1"));
    let seen = World::hook(META).deliver(&elsewhere);
    seen.is_refused(405, "method_not_allowed", "method_not_allowed");
}

#[test]
fn a_source_with_a_handshake_takes_reports_by_their_signature() {
    for source in [META, DROPBOX, TRELLO] {
        let world = World::hook(source);
        let report = world
            .signed(r#"{"id":"r-1"}"#)
            .asking("challenge=1&validationToken=1");
        world.deliver(&report).is_stored();
        let unsigned = report.dropping("x-hub-signature-256");
        let seen = world.deliver(&unsigned);
        seen.is_refused(401, "unauthorized", "no_signature");
        let empty = Request::new("/hooks/hook", "").asking("challenge=1&validationToken=1");
        world
            .deliver(&empty)
            .is_refused(401, "unauthorized", "no_signature");
    }
}
