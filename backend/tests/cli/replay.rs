//! `replay`: an answer judged again without a call, or a report asked about under a newer version.

use std::time::{Duration, Instant};

use fencepost_model::{ModelServer, in_turn, moderation};
use reqwest::Client;
use serde_json::{Value, json};

use super::{
    Place, Ran,
    model::{KEY, VARIABLE, asking},
    people::judged,
    served::{Server, TEXT, client, envelope},
};

/// A schema without the category that the model answers with.
const NARROW: &str = r#"{"type":"object","additionalProperties":false,
    "required":["category","confidence","needsHumanReview"],
    "properties":{"category":{"enum":["abuse","self_harm","other"]},
    "confidence":{"type":"number"},"needsHumanReview":{"type":"boolean"}}}"#;

fn edit(place: &Place, from: &str, to: &str) {
    let file = place.folder.path().join("fencepost.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    std::fs::write(file, text.replace(from, to)).unwrap();
}

fn shipped_schema() -> String {
    let folder = super::project_folder();
    format!("{}/backend/schemas/moderation-v3.json", folder.display())
}

/// A place whose pipeline asks this model, with the schema that is too narrow.
fn narrow(model: &ModelServer) -> Place {
    let place = asking(&model.base_url()).with(VARIABLE, KEY);
    std::fs::write(place.folder.path().join("narrow.json"), NARROW).unwrap();
    edit(&place, &shipped_schema(), "narrow.json");
    place
}

/// Gives the pipeline the schema that it should have had, under another version.
fn mend(place: &Place) {
    edit(place, "narrow.json", &shipped_schema());
    edit(
        place,
        "schema_version = \"moderation-v3\"",
        "schema_version = \"moderation-v4\"",
    );
}

/// Delivers the one report, lets it be settled and ends the server.
async fn settle(place: &Place, client: &Client) -> String {
    let server = Server::start(place, &[]);
    let key = envelope(TEXT).identity.report_key().to_string();
    assert_eq!(server.deliver(client, &envelope(TEXT)).await.0, 202);
    server.settled(client, &key).await;
    assert_eq!(server.stop().code, Some(0));
    key
}

fn lines(ran: &Ran) -> Vec<String> {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    ran.stdout.lines().map(squeeze).collect()
}

#[tokio::test]
async fn a_schema_that_was_too_narrow_is_mended_and_no_call_is_made_again() {
    let model = ModelServer::start(in_turn([moderation("spam", 0.95, false)]));
    let place = narrow(&model);
    let client = client();
    let key = settle(&place, &client).await;
    assert_eq!(model.calls().len(), 3);

    let same = place.run(&["replay", &key, "--json"]).json();
    assert_eq!(same["judged"]["then"]["outcome"], "schema_invalid");
    assert_eq!(same["judged"]["now"]["outcome"], "schema_invalid");
    assert_eq!(
        same["judged"]["now"]["reason"],
        same["judged"]["then"]["reason"]
    );

    mend(&place);
    let document = place.run(&["replay", &key, "--json"]).json();
    assert_eq!(document["replay"], "judged");
    assert_eq!(document["state"], "ready_for_review");
    let judged = &document["judged"];
    let value = json!({"category": "spam", "confidence": 0.95, "needsHumanReview": false});
    assert_eq!(judged["now"]["value"], value);
    assert_eq!(judged["now"]["review"], Value::Null);
    assert_eq!(judged["then"]["review"]["reason"], "attempts_spent");
    assert!(!document.to_string().contains("text-canary"));

    // The listener answers the same, and a reviewer takes the value over.
    let server = Server::start(&place, &[]);
    let path = format!("/v1/reports/{key}/replay");
    let (status, answer) = server.tell(&client, &path, &Value::Null).await;
    assert_eq!((status, &answer), (200, &document));
    let correct = json!({
        "decision": "correct", "revision": judged["then"]["review"]["revision"],
        "why": "replayed", "value": judged["now"]["value"],
    });
    let path = format!("/v1/reviews/{key}/decision");
    let (status, decided) = server.tell(&client, &path, &correct).await;
    assert_eq!((status, &decided["outcome"]), (200, &json!("decided")));
    let (_, report) = server.ask(&client, &format!("/v1/reports/{key}")).await;
    assert_eq!(report["result"]["value"], value);
    assert_eq!(report["result"]["schema_version"], "moderation-v4");
    assert_eq!(server.stop().code, Some(0));
    let told = lines(&place.run(&["replay", &key]));
    assert_eq!(told.last().unwrap(), "the result has this value");
    assert_eq!(model.calls().len(), 3, "a replay asks nobody");
}

#[tokio::test]
async fn what_differs_is_shown_side_by_side() {
    let model = ModelServer::start(in_turn([moderation("spam", 0.95, false)]));
    let place = narrow(&model);
    let key = settle(&place, &client()).await;
    mend(&place);
    let database = || std::fs::read(place.folder.path().join("fencepost.db")).unwrap();
    let before = database();
    let told = lines(&place.run(&["replay", &key]));
    assert_eq!(
        told,
        [
            format!(
                "{key}: the answer of attempt 3 under moderation-gpt-1, judged again. No call was \
                 made and nothing was written."
            )
            .as_str(),
            "then now",
            "answer schema_invalid valid",
            "reason the answer does not satisfy the schema at /properties/category/enum",
            "schema moderation-v3 moderation-v4",
            "person is asked: attempts_spent would not be asked",
            "change member result then value now",
            "added /category \"spam\"",
            "added /confidence 0.95",
            "added /needsHumanReview false",
        ]
    );
    assert!(database() == before, "nothing was written");
}

#[tokio::test]
async fn how_long_a_call_took_is_shown() {
    let model = ModelServer::start(in_turn([moderation("other", 0.95, false)]));
    let place = asking(&model.base_url()).with(VARIABLE, KEY);
    let key = settle(&place, &client()).await;
    let shown = place.run(&["show", &key, "--json"]).json();
    let took = shown["attempts"][0]["call"]["latency_ms"].as_u64().unwrap();
    let table = lines(&place.run(&["show", &key]));
    assert!(
        table
            .iter()
            .any(|line| line.ends_with(&format!("{took} ms small"))),
        "{table:?}"
    );
}

#[tokio::test]
async fn under_a_newer_version_a_worker_asks_again_once() {
    let (place, key) = judged().await;
    let looked = place.run(&["replay", &key, "--json"]).json();
    assert_eq!(looked["replay"], "judged");
    assert_eq!(looked["judged"]["changes"], json!([]));
    let place = super::bindings::with_another_prompt(place);
    edit(&place, "moderation-7\"", "moderation-8\"");
    let made = place.run(&["replay", &key, "--json"]).json();
    let document = json!({
        "report_key": key, "classifier_version": "moderation-8", "replay": "made",
        "state": "accepted", "outcome": null, "judged": null,
    });
    assert_eq!(made, document);
    let again = lines(&place.run(&["replay", &key]));
    let told = format!("{key}: has a job of moderation-8 already, accepted");
    assert_eq!(again, [told]);
    let server = Server::start(&place, &[]);
    let client = client();
    let begun = Instant::now();
    loop {
        let (_, report) = server.ask(&client, &format!("/v1/reports/{key}")).await;
        if report["classifier_version"] == "moderation-8" {
            assert_eq!(report["attempt_count"], "2");
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{report}");
    }
    assert_eq!(server.stop().code, Some(0));
    let judged = place.run(&["replay", &key, "--json"]).json();
    assert_eq!(judged["judged"]["attempt"], 2);
}

#[tokio::test]
async fn answers_that_are_not_kept_any_more_are_emptied_and_not_judged_again() {
    let model = ModelServer::start(in_turn([moderation("spam", 0.95, false)]));
    let place = asking(&model.base_url()).with(VARIABLE, KEY);
    let client = client();
    let key = settle(&place, &client).await;
    edit(&place, "keep_raw = true", "keep_raw = false");
    let path = format!("/v1/reports/{key}/attempts");
    let server = Server::start(&place, &[]);
    let begun = Instant::now();
    let emptied = loop {
        let (_, attempts) = server.ask(&client, &path).await;
        let attempt = &attempts["attempts"][0];
        if let Some(at) = attempt["raw_emptied_at"].as_str() {
            assert_eq!(attempt["raw"], Value::Null);
            assert_eq!(attempt["verdict"], "committed");
            break at.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{attempts}");
    };
    assert_eq!(server.stop().code, Some(0));
    let ran = place.run(&["replay", &key]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    let told = format!("its answer was kept until {emptied}. To have the model asked again");
    assert!(ran.stderr.contains(&told), "{ran:?}");
    assert!(ran.stderr.contains("`retry`") && ran.stderr.contains("classifier_version"));
}
