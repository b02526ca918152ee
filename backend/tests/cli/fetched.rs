//! Content by reference, as the command line and a running program have it.

use std::fs;

use fencepost_identity::{envelope::Envelope, identity::ReportId};
use fencepost_model::{Content, ContentServer};

use super::{
    Place,
    pipelines::{PAYLOAD, with_tickets},
    served::{Server, client, envelope},
    tried::tried,
};

const TOKEN: &str = "token-canary-0123456789";
const CONTENT: &str = "content-canary: thank you, this works for me now";
const LINK: &str = "link-canary";
const VARIABLE: &str = "CONTENT_TOKEN";

/// The example, whose source has its content fetched from here.
fn referring(server: &ContentServer) -> Place {
    let place = with_tickets();
    let config = place.folder.path().join("fencepost.toml");
    let text = fs::read_to_string(&config).unwrap();
    let fetch = format!(
        "[source.tickets.links]\nid = \"/id\"\n\n[source.tickets.fetch]\n\
         url = \"http://{}/{{link.id}}?v={{version}}\"\nallow_private = [\"127.0.0.1\"]\n\
         token_env = \"{VARIABLE}\"\n",
        server.address()
    );
    let text = text
        .replace(
            "[source.tickets]\n",
            "[source.tickets]\ninput = \"reference\"\n",
        )
        .replace("[source.tickets.input]\ntext = \"/text\"\n", &fetch);
    assert!(
        text.contains(&fetch) && text.contains("input = \"reference\""),
        "{text}"
    );
    fs::write(&config, text).unwrap();
    place.with(VARIABLE, TOKEN)
}

fn content() -> Content {
    Content::Text(CONTENT.to_owned())
}

fn payload(place: &Place) -> String {
    fs::read_to_string(place.folder.path().join(PAYLOAD)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_is_tried_with_what_is_fetched() {
    let server = ContentServer::start(|_| content()).await;
    let place = referring(&server);
    let ran = tried(&place, &payload(&place), &["--json"]);
    let walk = ran.json();
    assert_eq!(walk["call"]["outcome"], "committed", "{walk}");
    assert_eq!(walk["call"]["provider"], "baseline");
    assert!(
        walk["question"]["user"]
            .as_str()
            .unwrap()
            .contains("content-canary")
    );
    assert!(walk["report"]["input_hash"].is_string(), "{walk}");
    let requests = server.requests();
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("authorization"), Some(bearer.as_str()));
    assert!(!format!("{ran:?}").contains(TOKEN));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_call_nothing_is_fetched_and_the_keys_are_shown() {
    let server = ContentServer::start(|_| content()).await;
    let place = referring(&server).without(VARIABLE);
    let walk = tried(&place, &payload(&place), &["--json", "--no-call"]).json();
    assert_eq!(walk["end"]["would"], "fetch", "{walk}");
    assert_eq!(walk["report"].get("input_hash"), None, "{walk}");
    assert_eq!(walk.get("question"), None, "{walk}");
    let key = place.run(&["key", "--source=tickets", PAYLOAD]).json();
    assert_eq!(walk["report"]["report_key"], key["report_key"]);
    let told = tried(&place, &payload(&place), &["--no-call"]).stdout;
    assert!(told.contains("the content would be fetched"), "{told}");
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_fetched_is_told_with_what_follows() {
    for (status, would, outcome, code) in [
        (404, "review", "invalid_request", 0),
        (401, "pause", "auth", 1),
        (503, "fetch_again", "overloaded", 1),
    ] {
        let server = ContentServer::start(move |_| Content::status(status, &[])).await;
        let place = referring(&server);
        let ran = tried(&place, &payload(&place), &["--json"]);
        let walk = ran.document();
        assert_eq!(walk["end"]["would"], would, "{walk}");
        assert_eq!(walk["fetch"]["outcome"], outcome, "{walk}");
        assert_eq!(ran.code, Some(code), "{walk}");
        let told = tried(&place, &payload(&place), &[]).stdout;
        assert!(told.contains(&format!("(status {status})")), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_missing_is_told_with_its_source() {
    let server = ContentServer::start(|_| content()).await;
    let place = referring(&server).without(VARIABLE);
    let answer = place.run(&["check", "--json"]).document();
    let errors = answer["errors"].as_array().unwrap();
    let line = errors.iter().find_map(|line| {
        let line = line.as_str()?;
        line.starts_with("CONTENT_TOKEN (or CONTENT_TOKEN_FILE) is not set")
            .then_some(line)
    });
    assert!(line.unwrap().contains("source `tickets`"), "{answer}");
    // Who only takes reports in fetches nothing.
    let api = place.run(&["check", "--json", "--role", "api"]);
    assert!(!api.stdout.contains("CONTENT_TOKEN"), "{api:?}");
    let file = place.folder.path().join("token");
    fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let place = place.with("CONTENT_TOKEN_FILE", file.to_str().unwrap());
    let ran = tried(&place, &payload(&place), &["--json"]);
    assert_eq!(ran.json()["call"]["outcome"], "committed");
    // It can be paused by its name, and one that nothing presents can't.
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let pause = |name: &str| place.run(&["pause", "--credential", name]);
    assert_eq!(pause("CONTENT_TOKEN").code, Some(0));
    let other = pause("OTHER_TOKEN");
    assert_eq!(other.code, Some(2));
    assert!(
        other.stderr.contains("credential CONTENT_TOKEN"),
        "{other:?}"
    );
}

fn delivered(number: usize) -> Envelope {
    let mut envelope = envelope("");
    envelope.source = "tickets".to_owned();
    envelope.input = None;
    envelope.identity.report_id = ReportId::new(format!("r-{number}")).unwrap();
    envelope.links = vec![("id".to_owned(), format!("{LINK}-{number}"))];
    envelope
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_fetches_shows_neither_token_nor_content() {
    // Some who answer repeat all that they were told.
    let server = ContentServer::start(|request| {
        let told = format!("{CONTENT} {:?}", request.headers);
        match request.path.split(['-', '?']).nth(2) {
            Some("0") => Content::Text(told),
            Some("1") => Content::Respond {
                status: 404,
                headers: vec![("x-told", told.clone())],
                body: told.into_bytes(),
            },
            Some("2") => Content::Respond {
                status: 302,
                headers: vec![("location", format!("http://127.0.0.1:1/{CONTENT}{TOKEN}"))],
                body: told.into_bytes(),
            },
            _ => Content::status(500, &[("retry-after", "3600")]),
        }
    })
    .await;
    let place = referring(&server);
    let running = Server::start(&place, &[]);
    let client = client();
    let mut shown = String::new();
    let mut origins = Vec::new();
    for number in 0..3 {
        let envelope = delivered(number);
        let key = envelope.identity.report_key().to_string();
        let (status, answer) = running.deliver(&client, &envelope).await;
        assert_eq!(status, 202, "{answer}");
        let mut report = running.settled(&client, &key).await;
        origins.push(report["input_from"].as_str().unwrap().to_owned());
        // A link is for people to see.
        report.as_object_mut().unwrap().remove("links");
        let path = format!("/v1/reports/{key}/attempts");
        let (_, attempts) = running.ask(&client, &path).await;
        let attempts = attempts["attempts"].as_array().unwrap().clone();
        let reasons: Vec<_> = attempts.iter().map(|it| &it["reason"]).collect();
        shown += &format!(
            "{answer} {} {:?} {reasons:?}",
            report["review"], report["state"]
        );
        let described = place.run(&["show", &key]).stdout;
        let origin = described.lines().find(|line| line.starts_with("input "));
        let origin = origin.unwrap_or_default().to_owned();
        assert!(origin.contains(origins.last().unwrap()), "{described}");
    }
    assert_eq!(origins, ["fetched", "reference", "reference"]);
    let (_, stats) = running.ask(&client, "/v1/stats").await;
    shown += &stats.to_string();
    let ran = running.stop();
    assert!(ran.stderr.len() > 5_000, "the log is there");
    shown += &ran.stderr;
    for secret in [TOKEN, "content-canary", LINK] {
        assert!(!shown.contains(secret), "{secret} is shown");
    }
    assert!(shown.contains("the server has no content there (status 404)"));
}
