//! `compare`: the same stored reports put to two models, counted, and nothing stored.

use std::{collections::BTreeSet, fs};

use fencepost_identity::identity::ReportId;
use fencepost_model::{Asked, Behaviour, Call, ModelServer, moderation};
use serde_json::{Value, json};

use super::{
    Place, Ran,
    model::{KEY, VARIABLE, asking_as},
    pipelines::files,
    served::{Server, client, envelope},
};

const REPORTS: usize = 4;

fn text(n: usize) -> String {
    format!("text-canary: report {n}")
}

/// What the first model makes of each report: one answer is none, and one is doubtful.
fn first(asked: &Asked) -> Behaviour {
    match asked.text() {
        "text-canary: report 1" => moderation("spam", 0.9, false),
        "text-canary: report 2" => Behaviour::Answer("no json".to_owned()),
        "text-canary: report 3" => moderation("other", 0.2, false),
        _ => moderation("other", 0.9, false),
    }
}

/// What the second makes of them: it calls nothing spam, and fails once.
fn second(asked: &Asked) -> Behaviour {
    match asked.text() {
        "text-canary: report 2" => Behaviour::error(500, "server_error", None),
        "text-canary: report 3" => moderation("other", 0.2, false),
        _ => moderation("other", 0.9, false),
    }
}

fn table(model: &ModelServer) -> String {
    let base_url = model.base_url();
    format!(
        "kind = \"openai\"\nmodel = \"small\"\nbase_url = \"{base_url}\"\n\
         api_key_env = \"{VARIABLE}\"\n"
    )
}

/// A place whose pipeline asks the first model, with the second one beside it.
fn place(models: [&ModelServer; 2]) -> Place {
    let [first, second] = models.map(table);
    let price =
        "price = { input_per_million = 1, output_per_million = 1000000, currency = \"EUR\" }";
    let tables = format!("{first}{price}\n\n[extractor.second]\n{second}");
    asking_as(&tables).with(VARIABLE, KEY)
}

/// Has the reports delivered and settled, and gives their keys.
async fn settled(place: &Place) -> Vec<String> {
    let server = Server::start(place, &[]);
    let client = client();
    let mut keys = Vec::new();
    for n in 0..REPORTS {
        let mut report = envelope(&text(n));
        report.identity.report_id = ReportId::new(format!("r-{n}")).unwrap();
        assert_eq!(server.deliver(&client, &report).await.0, 202);
        let key = report.identity.report_key().to_string();
        server.settled(&client, &key).await;
        keys.push(key);
    }
    assert_eq!(server.stop().code, Some(0));
    keys
}

fn compared(place: &Place, more: &[&str]) -> Ran {
    let mut arguments = vec!["compare", "--pipeline", "moderation", "--extractors"];
    arguments.extend(more);
    let before = files(place.folder.path());
    let ran = place.run(&arguments);
    assert!(files(place.folder.path()) == before, "something was stored");
    for canary in [KEY, "text-canary"] {
        assert!(!ran.stdout.contains(canary), "{ran:?}");
        assert!(!ran.stderr.contains(canary), "{ran:?}");
    }
    ran
}

fn keys(calls: &[Call]) -> BTreeSet<String> {
    calls.iter().map(|call| call.call_key.clone()).collect()
}

#[tokio::test]
async fn both_are_asked_the_same_and_nothing_is_stored() {
    let models = [ModelServer::start(first), ModelServer::start(second)];
    let place = place([&models[0], &models[1]]);
    let reports = settled(&place).await;
    let asked_before = models[0].calls();
    let ran = compared(&place, &["gpt,second", "--json"]);
    let told = ran.json();
    assert_eq!(told["reports"], REPORTS);
    let counts = |told: &Value| {
        ["asked", "too_long", "valid", "reviewed", "uncounted"].map(|name| told[name].clone())
    };
    let [one, other] = [&told["extractors"][0], &told["extractors"][1]];
    assert_eq!(one["extractor"], "gpt");
    assert_eq!(counts(one), [4, 0, 3, 1, 0].map(|n| json!(n)));
    assert_eq!(one["failed"], json!({"syntax_invalid": 1}));
    assert_eq!(counts(other), [4, 0, 3, 1, 1].map(|n| json!(n)));
    assert_eq!(other["failed"], json!({"transport": 1}));
    assert_eq!(other["cost"], Value::Null);
    let [tokens_in, tokens_out] =
        ["tokens_in", "tokens_out"].map(|name| one[name].as_u64().unwrap());
    let answers = [
        r#"{"category":"other","confidence":0.9,"needsHumanReview":false}"#,
        r#"{"category":"spam","confidence":0.9,"needsHumanReview":false}"#,
        "no json",
        r#"{"category":"other","confidence":0.2,"needsHumanReview":false}"#,
    ];
    // As the server counts them.
    let expected: usize = answers
        .iter()
        .map(|answer| json!(answer).to_string().len() / 4)
        .sum();
    assert_eq!(tokens_out, expected as u64);
    assert!(tokens_in > 0);
    let millionths = format!("{tokens_in:06}");
    assert_eq!(
        one["cost"],
        json!({"amount": format!("{tokens_out}.{millionths}"), "currency": "EUR"})
    );
    let latency = &one["latency_ms"];
    assert!(
        latency["median"].as_u64() <= latency["max"].as_u64(),
        "{latency}"
    );
    let member = |equal, different| json!({"equal": equal, "different": different});
    assert_eq!(
        told["pairs"],
        json!([{
            "extractors": ["gpt", "second"], "both_valid": 3, "equal": 2,
            "members": {
                "category": member(2, 1), "confidence": member(3, 0),
                "needsHumanReview": member(3, 0),
            },
            "findings": null,
            "different": [{"report": reports[1], "members": ["category"], "findings": null}],
        }])
    );
    // The same was asked of both, under keys that no question of a worker has.
    let calls = models[0].calls();
    let (before, trial) = calls.split_at(asked_before.len());
    let both = [keys(trial), keys(&models[1].calls())];
    assert_eq!(both.each_ref().map(BTreeSet::len), [REPORTS; 2]);
    assert!(both[0].is_disjoint(&both[1]));
    assert!(both.iter().all(|trial| trial.is_disjoint(&keys(before))));
}

#[tokio::test]
async fn people_are_told_the_same_and_the_newest_come_first() {
    let models = [ModelServer::start(first), ModelServer::start(second)];
    let place = place([&models[0], &models[1]]);
    let reports = settled(&place).await;
    let ran = compared(&place, &["gpt,second"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for told in [
        "4 stored reports of the pipeline `moderation`; nothing was stored",
        "gpt: 1 syntax_invalid",
        "second: 1 transport",
        "gpt and second: 2 of 3 valid answers of both are equal",
        &format!("different: {}  category", reports[1]),
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    let asked = models[1].calls().len();
    let told = compared(&place, &["second", "--limit", "1", "--json"]).json();
    assert_eq!((&told["reports"], &told["pairs"]), (&json!(1), &json!([])));
    assert_eq!(
        told["extractors"][0]["reviewed"], 1,
        "the last one was doubtful"
    );
    assert_eq!(models[1].calls().len(), asked + 1);
    let key = reports[0].as_str();
    assert_eq!(place.run(&["erase", key]).code, Some(0));
    assert_eq!(compared(&place, &["second", "--json"]).json()["reports"], 3);
}

#[test]
fn what_can_not_be_compared_is_told_before_anybody_is_asked() {
    let models = [ModelServer::start(first), ModelServer::start(second)];
    let place = place([&models[0], &models[1]]);
    let run = |pipeline: &str, extractors: &str| {
        let arguments = [
            "compare",
            "--pipeline",
            pipeline,
            "--extractors",
            extractors,
        ];
        place.run(&arguments)
    };
    let cases = [
        (
            "nothing",
            "gpt",
            "no table [pipeline.nothing] in the configuration; known: code-review, moderation",
        ),
        (
            "moderation",
            "gpt,nothing",
            "no table [extractor.nothing] in the configuration; known: baseline, code, gpt, second",
        ),
        ("moderation", "gpt,gpt", "`gpt` is named twice"),
        ("moderation", "gpt", "there is no file"),
    ];
    for (pipeline, extractors, told) in cases {
        let ran = run(pipeline, extractors);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(told), "{told}: {ran:?}");
    }
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let ran = run("moderation", "gpt,second");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr
            .contains("no stored report of the pipeline `moderation` has an input"),
        "{ran:?}"
    );

    let config = place.folder.path().join("fencepost.toml");
    let text = fs::read_to_string(&config).unwrap();
    let shipped = super::project_folder().join("backend/schemas/moderation-v3.json");
    let optional = r#"{"type":"object","properties":{"category":{"type":"string"}}}"#;
    fs::write(place.folder.path().join("schema.json"), optional).unwrap();
    let text = text.replace(shipped.to_str().unwrap(), "schema.json");
    let text = text.replace(&models[1].base_url(), "https://api.openai.com/v1");
    // The rules of the shipped file are about members that this schema does not have.
    let (head, rest) = text.split_once("review_when = [").unwrap();
    let (_, tail) = rest.split_once("\n]").unwrap();
    let text = format!("{head}{tail}");
    fs::write(&config, text).unwrap();
    let ran = run("moderation", "gpt,second");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr
            .contains("extractor `second`: pipeline `moderation`: OpenAI can't take"),
        "{ran:?}"
    );
    assert!(models.iter().all(|model| model.calls().is_empty()));
}
