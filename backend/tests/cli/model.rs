//! The program with a model to ask: whether it has a key, and what it makes of what it is told.

use fencepost_identity::key::{CallKey, ClaimKey};
use fencepost_model::{Behaviour, ModelServer, in_turn, moderation};
use serde_json::{Value, json};

use super::{
    Place,
    served::{Server, TEXT, client, envelope},
};

pub(super) const KEY: &str = "model-canary-0123456789";
pub(super) const VARIABLE: &str = "MODEL_KEY";
const VERSION: &str = "moderation-gpt-1";

/// What the file says of an extractor for each form in which a model is asked with a key.
pub(super) const FORMS: &[&str] = &[
    CHAT,
    "kind = \"openai\"\napi = \"responses\"",
    "kind = \"anthropic\"",
    "kind = \"anthropic\"\noutput = \"tool\"",
    "kind = \"gemini\"",
    #[cfg(feature = "bedrock")]
    "kind = \"bedrock\"\nregion = \"eu-central-1\"",
    #[cfg(feature = "bedrock")]
    "kind = \"bedrock\"\nregion = \"eu-central-1\"\noutput = \"tool\"",
];
pub(super) const CHAT: &str = "kind = \"openai\"";

/// A place whose pipeline asks the model at this address.
pub(super) fn asking(base_url: &str) -> Place {
    asking_in(CHAT, base_url)
}

/// A place whose pipeline asks the model at this address in this form.
pub(super) fn asking_in(form: &str, base_url: &str) -> Place {
    asking_as(&format!(
        "{form}\nmodel = \"small\"\nbase_url = \"{base_url}\"\napi_key_env = \"{VARIABLE}\""
    ))
}

/// A place whose pipeline asks the model that this table is about.
pub(super) fn asking_as(table: &str) -> Place {
    let place = Place::new();
    let from = super::project_folder();
    let text = std::fs::read_to_string(from.join("fencepost.toml")).unwrap();
    let mut text = text.replace("backend/", &format!("{}/backend/", from.display()));
    for (old, new) in [
        ("extractor = \"baseline\"", "extractor = \"gpt\"".to_owned()),
        (
            "classifier_version = \"moderation-7\"",
            format!("classifier_version = \"{VERSION}\""),
        ),
        (
            "kind = \"baseline\"",
            format!("kind = \"baseline\"\n\n[extractor.gpt]\n{table}"),
        ),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, &new);
    }
    let config = place.folder.path().join("fencepost.toml");
    std::fs::write(&config, text).unwrap();
    place.with("FENCEPOST_CONFIG", config.to_str().unwrap())
}

/// The attempts of the one report, once it is settled.
pub(super) async fn attempts(place: &Place) -> (Value, Vec<Value>) {
    let server = Server::start(place, &[]);
    let client = client();
    let delivered = envelope(TEXT);
    let key = delivered.identity.report_key().to_string();
    assert_eq!(server.deliver(&client, &delivered).await.0, 202);
    let report = server.settled(&client, &key).await;
    let path = format!("/v1/reports/{key}/attempts");
    let (_, attempts) = server.ask(&client, &path).await;
    let ran = server.stop();
    assert_eq!(ran.code, Some(0));
    for canary in [KEY, "text-canary"] {
        assert!(!ran.stderr.contains(canary) && !ran.stdout.contains(canary));
        assert!(!attempts.to_string().contains(canary));
    }
    (report, attempts["attempts"].as_array().unwrap().clone())
}

#[tokio::test]
async fn a_limited_rate_costs_no_attempt_and_the_same_question_is_asked_again() {
    let limited = Behaviour::error(429, "requests", None).with("retry-after-ms", "1");
    let model = ModelServer::start(in_turn([limited, moderation("other", 0.95, false)]));
    let place = asking(&model.base_url()).with(VARIABLE, KEY);
    let (report, attempts) = attempts(&place).await;
    assert_eq!(
        (&report["state"], &report["outcome"]),
        (&json!("terminal"), &json!("committed"))
    );
    assert_eq!(report["result"]["value"]["category"], "other");
    let told = |attempt: &Value| (attempt["outcome"].clone(), attempt["charged"].clone());
    let told: Vec<_> = attempts.iter().map(told).collect();
    assert_eq!(
        told,
        [
            (json!("rate_limited"), json!(false)),
            (json!("committed"), json!(true))
        ]
    );
    assert_eq!(attempts[1]["call"]["provider"], "openai");
    assert_eq!(attempts[1]["call"]["model"], "small");
    assert_eq!(attempts[1]["call"]["request_id"], "req_2");
    let claim = ClaimKey::of(&envelope(TEXT).identity.report_key(), VERSION);
    let question = CallKey::of(&claim, 1).to_string();
    let asked: Vec<_> = model
        .calls()
        .into_iter()
        .map(|call| call.call_key)
        .collect();
    assert_eq!(asked, [question.clone(), question]);
}

#[tokio::test]
async fn a_report_is_committed_whichever_provider_is_asked() {
    for form in FORMS {
        let kind = form.split('"').nth(1).unwrap();
        let request_id = match kind {
            "gemini" => "response-1",
            _ => "req_1",
        };
        let model = ModelServer::start(in_turn([moderation("other", 0.95, false)]));
        let place = asking_in(form, &model.base_url()).with(VARIABLE, KEY);
        let (report, attempts) = attempts(&place).await;
        assert_eq!(report["outcome"], "committed", "{kind}: {report}");
        assert_eq!(report["result"]["value"]["category"], "other", "{kind}");
        assert_eq!(attempts.len(), 1, "{kind}");
        let call = &attempts[0]["call"];
        assert_eq!(call["provider"], kind);
        assert_eq!(call["model"], "small", "{kind}");
        assert_eq!(call["request_id"], request_id, "{kind}");
    }
}

/// langfuse #17522: what is asked otherwise is other work. A delivery that comes again is not.
#[tokio::test]
async fn another_prompt_is_another_extraction_and_another_delivery_is_none() {
    let model = ModelServer::start(in_turn([
        moderation("other", 0.95, false),
        moderation("spam", 0.95, false),
    ]));
    let place = asking(&model.base_url()).with(VARIABLE, KEY);
    let (report, _) = attempts(&place).await;
    assert_eq!(report["result"]["value"]["category"], "other");
    let config = place.folder.path().join("fencepost.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let prompt = format!(
        "{}/backend/prompts/moderation-7.md",
        super::project_folder().display()
    );
    assert!(text.contains(&prompt) && text.contains(VERSION));
    std::fs::write(place.folder.path().join("prompt.md"), "Classify with care.").unwrap();
    let text = text
        .replace(&prompt, "prompt.md")
        .replace(VERSION, "moderation-gpt-2");
    std::fs::write(&config, text).unwrap();

    let server = Server::start(&place, &[]);
    let client = client();
    let again = envelope(TEXT);
    let key = again.identity.report_key().to_string();
    let (status, answer) = server.deliver(&client, &again).await;
    assert_eq!((status, &answer["duplicate"]), (200, &json!(true)));
    assert_eq!(model.calls().len(), 1);
    let ran = place.run(&["replay", &key]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let twice = |calls: &[fencepost_model::Call]| calls.len() == 2;
    let calls = model.wait_until("it was asked again", twice).await;
    assert_ne!(calls[0].call_key, calls[1].call_key);
    assert_ne!(calls[0].body_sha256, calls[1].body_sha256);
    let replayed = server.ask_until(&client, &key, |report| {
        report["classifier_version"] == "moderation-gpt-2" && report["state"] == "terminal"
    });
    let report = replayed.await;
    assert_eq!(report["result"]["value"]["category"], "spam");
    let (_, stats) = server.ask(&client, "/v1/stats").await;
    assert_eq!(
        (&stats["results"], &stats["attempts"]),
        (&json!("1"), &json!("2"))
    );
    assert_eq!(server.stop().code, Some(0));
}

#[tokio::test]
async fn half_a_character_is_a_wrong_answer_and_not_a_broken_connection() {
    let escaped = r#"{\"category\":\"\ud800\",\"confidence\":1,\"needsHumanReview\":false}"#;
    let model = ModelServer::start(in_turn([
        Behaviour::Escaped(escaped.to_owned()),
        moderation("other", 0.95, false),
    ]));
    let place = asking(&model.base_url()).with(VARIABLE, KEY);
    let (report, attempts) = attempts(&place).await;
    assert_eq!(report["outcome"], "committed");
    assert_eq!(attempts[0]["outcome"], "syntax_invalid");
    assert!(
        attempts[0]["raw"].as_str().unwrap().contains("\\ud800"),
        "{attempts:?}"
    );
    let calls = model.calls();
    assert_ne!(calls[0].call_key, calls[1].call_key);
}

#[test]
fn a_missing_key_is_told_before_a_start_to_whoever_needs_it() {
    let place = asking("http://127.0.0.1:9/v1");
    let told = "MODEL_KEY (or MODEL_KEY_FILE) is not set: extractor `gpt`";
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains(told), "{ran:?}");
    let ran = place.run(&["serve", "--role", "worker"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains(told), "{ran:?}");
    assert_eq!(place.run(&["check", "--role", "api"]).code, Some(0));
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    assert_eq!(place.with(VARIABLE, KEY).run(&["check"]).code, Some(0));
}

#[tokio::test]
async fn whether_a_server_can_be_reached_is_tried_only_when_asked_for() {
    let model = ModelServer::start(in_turn([moderation("other", 0.95, false)]));
    // Kept, so that nobody else gets the port, and never listened on.
    let closed = tokio::net::TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let closed = format!("http://{}/v1", closed.local_addr().unwrap());
    for (base_url, code) in [(model.base_url().as_str(), 0), (closed.as_str(), 1)] {
        let place = asking(base_url).with(VARIABLE, KEY);
        let told = format!("extractor `gpt`: {base_url}");
        let offline = place.run(&["check", "--json"]).json();
        assert_eq!(offline["conflicts"], json!([]));
        assert!(
            offline["unchecked"].to_string().contains(&told),
            "{offline}"
        );

        let ran = place.run(&["check", "--json", "--online"]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let online = ran.document();
        assert!(
            !online["unchecked"].to_string().contains("--online"),
            "{online}"
        );
        let conflicts = online["conflicts"].as_array().unwrap();
        assert_eq!(conflicts.len(), usize::from(code == 1), "{online}");
        for line in conflicts {
            let line = line.as_str().unwrap();
            assert!(
                line.starts_with(&format!("{told} can't be reached: ")),
                "{line}"
            );
        }
    }
    // A connection was made, and nothing was sent over it.
    assert_eq!(model.calls(), []);
}

#[test]
fn a_schema_that_the_provider_can_not_take_is_told_before_a_start() {
    let with = |base_url: &str, schema: &str| {
        let place = asking(base_url).with(VARIABLE, KEY);
        let folder = place.folder.path();
        std::fs::write(folder.join("schema.json"), schema).unwrap();
        let config = folder.join("fencepost.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        let shipped = format!(
            "{}/backend/schemas/moderation-v3.json",
            super::project_folder().display()
        );
        assert!(text.contains(&shipped), "{text}");
        let text = text.replace(&shipped, "schema.json");
        std::fs::write(&config, text).unwrap();
        place
    };
    let optional = r#"{"type":"object","required":["category"],"properties":{
        "category":{"type":"string"},"confidence":{"type":"number"},
        "needsHumanReview":{"type":"boolean"}}}"#;
    let told = "extractor `gpt`: pipeline `moderation`: OpenAI can't take the schema at \
                /properties/confidence: the member may be absent";
    let place = with("https://api.openai.com/v1", optional);
    for arguments in [&["check"][..], &["serve", "--role", "worker"]] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
    // Who asks nobody needs no schema that anybody takes.
    assert_eq!(place.run(&["check", "--role", "api"]).code, Some(0));
    let required = optional.replace(
        r#"["category"]"#,
        r#"["category","confidence","needsHumanReview"]"#,
    );
    for (base_url, schema) in [
        ("http://127.0.0.1:9/v1", optional),
        ("https://api.openai.com/v1", &required),
    ] {
        let ran = with(base_url, schema).run(&["check"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}
