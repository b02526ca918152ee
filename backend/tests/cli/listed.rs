//! `pipeline try` with a pipeline whose answers are lists.

use std::fs;

use fencepost_identity::{
    identity::{Namespace, ReportId, Tenant},
    key::{FindingKey, LineageKey, ResultKey},
};
use fencepost_model::{Behaviour, ModelServer, in_turn};
use serde_json::{Value, json};

use super::{
    Place, Ran,
    model::{CHAT, KEY, VARIABLE},
};

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": { "findings": { "type": "array", "items": {
        "type": "object",
        "properties": {
            "rule": { "enum": ["sql", "tls"] },
            "severity": { "enum": ["low", "critical"] },
            "path": { "type": "string" },
            "line": { "type": "integer" },
            "summary": { "type": "string" }
        },
        "required": ["rule", "severity", "path", "line", "summary"],
        "additionalProperties": false
    } } },
    "required": ["findings"], "additionalProperties": false
}"#;

const FILE: &str = r#"
[source.pulls]
verify = "github"
secrets = ["pulls_secret"]
pipeline = "lint"
[source.pulls.identity]
tenant = { value = "acme" }
report_id = "/id"
version = "event"
[source.pulls.input]
diff = "/diff"

[pipeline.lint]
kind = "findings"
schema = "list.json"
schema_version = "lint-v1"
prompt = "prompt.md"
classifier_version = "lint-1"
extractor = "gpt"
review_when = [{ pointer = "/severity", is = "critical" }]

[pipeline.lint.findings]
revision = { diff = "diff" }
"#;

const DIFF: &str = "--- a/a.rs\n+++ b/a.rs\n@@ -0,0 +1,2 @@\n+one();\n+two();\n";

/// What comes of a model that finds this in the diff.
fn tried(diff: &str, findings: &[Value], shape: &[&str]) -> Ran {
    let answer = json!({ "findings": findings }).to_string();
    let model = ModelServer::start(in_turn([Behaviour::Answer(answer)]));
    let place = Place::new();
    let folder = place.folder.path().to_owned();
    let extractor = format!(
        "\n[extractor.gpt]\n{CHAT}\nmodel = \"small\"\nbase_url = \"{}\"\n\
         api_key_env = \"{VARIABLE}\"\n",
        model.base_url()
    );
    fs::write(folder.join("fencepost.toml"), FILE.to_owned() + &extractor).unwrap();
    fs::write(folder.join("list.json"), SCHEMA).unwrap();
    fs::write(folder.join("prompt.md"), "Find it.").unwrap();
    let place = place.with("FENCEPOST_CONFIG", "fencepost.toml");
    let place = place.with(VARIABLE, KEY);
    let mut arguments = vec!["pipeline", "try", "lint", "-"];
    arguments.extend(shape);
    let payload = json!({ "id": "42", "diff": diff }).to_string();
    place.run_with(&arguments, &payload)
}

fn finding(rule: &str, severity: &str, line: u32) -> Value {
    json!({ "rule": rule, "severity": severity, "path": "./a.rs", "line": line, "summary": "s" })
}

#[test]
fn each_finding_is_shown_with_its_keys_and_what_they_are_made_of() {
    let found = [
        finding("sql", "low", 2),
        finding("tls", "low", 2),
        finding("sql", "critical", 2),
    ];
    let walk = tried(DIFF, &found, &["--json"]).json();
    assert_eq!(walk["end"]["would"], "review", "{walk}");
    let [one, other] = walk["answer"]["findings"].as_array().unwrap().as_slice() else {
        panic!("{walk}")
    };
    // printf 'two();' | sha256sum
    let line = "3bc52dc9a0b8f06db4830da8d470305ef61794ea78f1c48ab5ad336393411b6c";
    let fingerprint = ["tls", "a.rs", line, "1"];
    assert_eq!(
        one["fingerprint"],
        json!([
            { "field": "rule", "value": "tls" },
            { "field": "path", "value": "a.rs" },
            { "field": "source_line", "value": line },
            { "field": "occurrence", "value": "1" },
        ])
    );
    let result: ResultKey = walk["report"]["result_key"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let key = FindingKey::of(&result, &fingerprint).to_string();
    let lineage = LineageKey::of(
        &Tenant::new("acme").unwrap(),
        &Namespace::new("pulls").unwrap(),
        &ReportId::new("42").unwrap(),
        &fingerprint,
    );
    assert_eq!(one["finding_key"], key);
    assert_eq!(one["lineage_key"], lineage.to_string());
    assert_eq!((&one["collapsed"], &one["value"]), (&json!(0), &found[1]));
    assert_eq!(
        (&other["collapsed"], &other["value"]),
        (&json!(1), &found[2])
    );

    let told = tried(DIFF, &found, &[]).stdout;
    for step in [
        "findings    2",
        &format!("finding     {key}"),
        &format!("lineage     {lineage}"),
        "source_line: 3bc52dc9a0b8f06db4830da8d470305ef61794ea78f1c48ab5ad336393411b6c",
        "it stands for 1 more of the same",
        "a person would be asked: /severity is \"critical\"",
    ] {
        assert!(told.contains(step), "{step}: {told}");
    }
}

#[test]
fn what_is_refused_is_told_before_a_model_is_asked_or_by_the_place_in_the_answer() {
    let walk = tried("canary", &[], &["--json"]).json();
    assert_eq!(walk["end"]["would"], "review", "{walk}");
    let why = walk["end"]["why"].as_str().unwrap();
    assert!(
        why.starts_with("no model is asked: the input's `diff`: line 1 of"),
        "{why}"
    );
    let ran = tried(DIFF, &[finding("sql", "low", 3)], &["--json"]);
    let walk = ran.document();
    assert_eq!(walk["end"]["would"], "ask_again", "{walk}");
    assert_eq!(walk["call"]["outcome"], "policy_invalid");
    assert_eq!(
        walk["call"]["reason"],
        "the answer's /findings/0/line is no line that the revision shows"
    );
}
