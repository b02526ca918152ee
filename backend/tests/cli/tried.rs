//! `pipeline try`: what each payload and each answer comes to, and what is never done.

use std::fs;

use fencepost::config::Project;
use fencepost_identity::admission::{Delivery, Entrance, Payload};
use fencepost_model::{Behaviour, ModelServer, in_turn, moderation};
use serde_json::{Value, json};

use super::{
    Place, Ran,
    model::{FORMS, KEY, VARIABLE},
    pipelines::{PAYLOAD, files, with_tickets},
    served::{Server, client},
};

const TEXT: &str = r#"{"type":"text.created","id":"8812","revision":1,"text":"hello there"}"#;

/// The example with a model to ask, at this address and in this form.
fn asking(form: &str, base_url: &str) -> Place {
    let place = with_tickets();
    let config = place.folder.path().join("fencepost.toml");
    let text = fs::read_to_string(&config).unwrap();
    let text = text.replace("extractor = \"baseline\"", "extractor = \"gpt\"");
    let extractor = format!(
        "\n[extractor.gpt]\n{form}\nmodel = \"small\"\nbase_url = \"{base_url}\"\n\
         api_key_env = \"{VARIABLE}\"\n"
    );
    fs::write(&config, text + &extractor).unwrap();
    place
}

pub(super) fn tried(place: &Place, payload: &str, more: &[&str]) -> Ran {
    let mut arguments = vec!["pipeline", "try", "tickets", "-"];
    arguments.extend(more);
    let before = files(place.folder.path());
    let ran = place.run_with(&arguments, payload);
    assert!(files(place.folder.path()) == before, "something was stored");
    for output in [&ran.stdout, &ran.stderr] {
        assert!(!output.contains(KEY), "{ran:?}");
        let steers = |found: char| found.is_control() && found != '\n';
        assert!(!output.contains(steers), "{ran:?}");
    }
    ran
}

fn end(ran: &Ran) -> (Option<i32>, Value) {
    (ran.code, ran.document()["end"]["would"].clone())
}

#[test]
fn each_step_is_shown_with_the_keys_that_a_delivery_would_have() {
    let place = with_tickets();
    let payload = fs::read_to_string(place.folder.path().join(PAYLOAD)).unwrap();
    let ran = tried(&place, &payload, &["--json"]);
    let walk = ran.json();
    assert_eq!(walk["end"]["would"], "commit", "{walk}");
    assert!(
        walk["not_checked"][0]
            .as_str()
            .unwrap()
            .contains("signature"),
        "{walk}"
    );
    assert_eq!(walk["filter"], json!(["/type"]));
    let keys = place.run(&[
        "key",
        "--source=tickets",
        PAYLOAD,
        "--classifier-version=tickets-1",
        "--call=1",
        "--schema-version=tickets-v1",
    ]);
    let keys = keys.json();
    for name in ["report_key", "claim_key", "call_key", "result_key"] {
        assert_eq!(walk["report"][name], keys[name], "{name}");
    }
    assert_eq!(walk["report"]["hidden_characters"], 0);
    assert_eq!(walk["call"]["provider"], "baseline");
    assert_eq!(walk["call"]["outcome"], "committed");
    let value: Value = serde_json::from_str(walk["answer"]["value"].as_str().unwrap()).unwrap();
    assert_eq!(value["category"], "other");
    let told = tried(&place, &payload, &[]).stdout;
    for step in [
        "not checked: the signature",
        "filter      met: /type",
        keys["report_key"].as_str().unwrap(),
        keys["claim_key"].as_str().unwrap(),
        "0 of them hidden",
        "what a model would be told:",
        "is not sent",
        "the answer as it came:",
        "the value would be committed",
        "nothing was stored",
    ] {
        assert!(told.contains(step), "{step}: {told}");
    }
}

#[test]
fn what_the_edge_would_not_forward_ends_there() {
    let place = with_tickets();
    let long = format!(
        r#"{{"type":"text.created","text":"{}"}}"#,
        "x".repeat(300_000)
    );
    for (payload, would, code) in [
        (
            r#"{"type":"text.deleted","id":"1","revision":1}"#,
            "ignore",
            None,
        ),
        (
            r#"{"type":"text.created","revision":1}"#,
            "refuse",
            Some("missing_field"),
        ),
        ("nonsense", "refuse", Some("invalid_json")),
        (
            r#"{"type":"text.created","type":1}"#,
            "refuse",
            Some("duplicate_member"),
        ),
        (&long, "refuse", Some("too_large")),
    ] {
        let ran = tried(&place, payload, &["--json"]);
        assert_eq!(end(&ran), (Some(1), json!(would)), "{ran:?}");
        let refused = ran.document()["refused"]["code"]
            .as_str()
            .map(str::to_owned);
        assert_eq!(refused.as_deref(), code, "{ran:?}");
        assert_eq!(ran.document().get("question"), None);
        assert_eq!(tried(&place, payload, &[]).code, Some(1));
    }
}

#[test]
fn what_comes_of_an_answer_is_what_a_worker_makes_of_it() {
    let answer = |text: &str| Behaviour::Answer(text.to_owned());
    let steering = "{\"category\":\"\u{1b}[2J\u{9b}0m\"}";
    let busy = Behaviour::error(429, "requests", None).with("retry-after", "7");
    let cases = [
        (moderation("other", 0.95, false), 0, "commit", "committed"),
        (
            moderation("self_harm", 0.95, false),
            0,
            "review",
            "committed",
        ),
        (moderation("other", 0.2, false), 0, "review", "committed"),
        (answer("no json"), 1, "ask_again", "syntax_invalid"),
        (answer(steering), 1, "ask_again", "syntax_invalid"),
        (answer("{}"), 1, "ask_again", "schema_invalid"),
        (busy, 1, "ask_again", "rate_limited"),
        (Behaviour::error(401, "auth", None), 1, "pause", "auth"),
        (
            Behaviour::error(422, "bad", None),
            0,
            "review",
            "invalid_request",
        ),
    ];
    for (behaviour, code, would, outcome) in cases {
        let model = ModelServer::start(in_turn([behaviour.clone(), behaviour]));
        let place = asking(FORMS[0], &model.base_url()).with(VARIABLE, KEY);
        let ran = tried(&place, TEXT, &["--json"]);
        assert_eq!(end(&ran), (Some(code), json!(would)), "{ran:?}");
        let walk = ran.document();
        assert_eq!(walk["call"]["outcome"], outcome, "{walk}");
        assert_eq!(walk["call"]["provider"], "openai");
        assert!(walk["call"]["latency_ms"].is_u64(), "{walk}");
        let calls = model.calls();
        assert_eq!(walk["report"]["call_key"], calls[0].call_key);
        assert_eq!(calls.len(), 1, "asked once: {walk}");
        assert_eq!(tried(&place, TEXT, &[]).code, Some(code));
    }
}

#[test]
fn the_schema_is_shown_in_the_words_of_whoever_is_asked() {
    for form in FORMS {
        let place = asking(form, "http://127.0.0.1:9/v1");
        // Without a key, as nobody is asked.
        let ran = tried(&place, TEXT, &["--no-call", "--json"]);
        assert_eq!(end(&ran), (Some(0), json!("ask")), "{ran:?}");
        let walk = ran.document();
        let question = &walk["question"];
        assert!(
            question["schema"].to_string().contains("enum"),
            "{form}: {question}"
        );
        assert!(
            question["user"]
                .as_str()
                .unwrap()
                .starts_with("{\"report\":{\"text\":")
        );
        assert!(
            question["system"]
                .as_str()
                .unwrap()
                .contains("You classify one text")
        );
        assert_eq!(walk.get("call"), None);
    }
    // To call it, the key is needed.
    let ran = tried(&asking(FORMS[0], "http://127.0.0.1:9/v1"), TEXT, &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains(VARIABLE), "{ran:?}");
}

#[test]
fn hidden_characters_are_counted_and_too_much_is_not_asked_about() {
    let place = with_tickets();
    let hidden = TEXT.replace("hello there", "hel\\u200blo\\u001b[2J there\\u2060");
    let ran = tried(&place, &hidden, &["--json"]);
    assert_eq!(end(&ran), (Some(0), json!("review")), "{ran:?}");
    assert!(
        ran.document()["report"]["hidden_characters"].as_u64() > Some(1),
        "{ran:?}"
    );
    let ran = tried(&place, &hidden, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = tried(&place, &hidden, &["--no-call"]);
    assert!(
        ran.stdout.contains("whatever it says, a person is"),
        "{ran:?}"
    );
    let long = TEXT.replace("hello there", &"x".repeat(150_000));
    let ran = tried(&place, &long, &["--json"]);
    assert_eq!(end(&ran), (Some(0), json!("review")), "{ran:?}");
    assert_eq!(ran.document().get("call"), None);
}

#[test]
fn which_pipeline_and_source_are_meant_has_to_be_clear() {
    let place = Place::new();
    let run = |arguments: &[&str], payload: &str| {
        let mut all = vec!["pipeline", "try"];
        all.extend(arguments);
        place.run_with(&all, payload)
    };
    for (arguments, told) in [
        (&["nothing", "-"][..], "[pipeline.nothing]"),
        (&["moderation", "-"], "github-comments, github-discussions"),
        (
            &["moderation", "-", "--source", "other"],
            "no source `other`",
        ),
        (
            &["moderation", "missing.json", "--source", "reports"],
            "missing.json",
        ),
    ] {
        let ran = run(arguments, "{}");
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
    let payload = r#"{"id":"1","revision":1,"text":"thank you, this works for me now"}"#;
    let arguments = ["moderation", "-", "--source", "reports", "--json"];
    // The route names the tenant.
    assert_eq!(end(&run(&arguments, payload)), (Some(1), json!("refuse")));
    let ran = run(&[&arguments[..], &["--tenant", "acme"]].concat(), payload);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.document()["report"]["identity"]["tenant"], "acme");
}

/// To the byte: no difference between a trial and the work itself could go unseen.
#[tokio::test]
async fn a_worker_asks_the_same_and_stores_the_same() {
    let answer = moderation("other", 0.95, false);
    let model = ModelServer::start(in_turn([answer.clone(), answer]));
    let place = asking(FORMS[0], &model.base_url()).with(VARIABLE, KEY);
    let walk = tried(&place, TEXT, &["--json"]).json();

    let project = Project::load(&place.folder.path().join("fencepost.toml")).unwrap();
    let delivery = Delivery {
        method: "POST",
        path: "/hooks/tickets",
        query: None,
        headers: &[],
    };
    let entrance = Entrance::find(&project.sources, &delivery).unwrap();
    let Payload::Report(envelope) = entrance.rehearse(TEXT.as_bytes()).unwrap() else {
        unreachable!("the filter asks for it");
    };
    let server = Server::start(&place, &[]);
    let client = client();
    assert_eq!(server.deliver(&client, &envelope).await.0, 202);
    let key = walk["report"]["report_key"].as_str().unwrap();
    let report = server.settled(&client, key).await;
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(report["outcome"], "committed", "{report}");
    let value: Value = serde_json::from_str(walk["answer"]["value"].as_str().unwrap()).unwrap();
    assert_eq!(report["result"]["value"], value);
    let calls = model.calls();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0].call_key, calls[1].call_key);
    assert_eq!(calls[0].body_sha256, calls[1].body_sha256);
}
