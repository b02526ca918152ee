//! A list that a person puts in a model's place.

use std::sync::Arc;

use fencepost::{
    findings::{FindingsRules, KeyField, Location, RevisionForm},
    judge::{Judge, Kind},
    policy::Policy,
    schema::Schema,
    store::PipelineVersions,
};
use fencepost_identity::pointer::Pointer;
use serde_json::{Value, json};

use super::decisions::{Place, router_of};

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": { "list": { "type": "array", "items": { "type": "object" } } },
    "required": ["list"]
}"#;

fn judge() -> Judge {
    let pointer = |text| Pointer::new(text).unwrap();
    let rules = FindingsRules {
        list: pointer("/list"),
        rule: pointer("/rule"),
        severity: pointer("/severity"),
        severities: vec!["low".to_owned()],
        location: Some(Location {
            path: pointer("/path"),
            line: pointer("/line"),
            end_line: None,
            revision: RevisionForm::Files("files".to_owned()),
        }),
        key: vec![KeyField::Rule, KeyField::SourceLine],
    };
    Judge {
        kind: Kind::Findings(Box::new(rules)),
        schema: Arc::new(Schema::compile(SCHEMA.as_bytes()).unwrap()),
        prompt: "Find it.".to_owned(),
        policy: Policy::default(),
        review_when: Vec::new(),
    }
}

fn finding(path: &str, line: u32) -> Value {
    json!({ "rule": "r", "severity": "low", "path": path, "line": line })
}

fn correct(findings: &[Value]) -> Value {
    let value = json!({ "list": findings });
    json!({ "decision": "correct", "revision": "1", "why": "wrong", "value": value })
}

#[tokio::test]
async fn a_corrected_list_fits_the_revision_that_was_reviewed() {
    let mut place = Place::new().await;
    place.router = router_of(&place.store, "moderation-7", "moderation-v3", judge());
    let files = json!({ "files": { "a.rs": "one\ntwo\n" } });
    let key = place.in_review_about("1", &files).await;
    let before = place.report(key).await;
    let wrong = [finding("canary", 1), finding("a.rs", 2), finding("a.rs", 3)];
    let answer = place.decide(key, correct(&wrong)).await;
    assert_eq!((answer.status, answer.code()), (422, "invalid_value"));
    assert_eq!(
        answer.body["detail"],
        "the answer's /list/0/path is not in the revision, \
         /list/2/line is no line that the revision shows"
    );
    assert_eq!(place.report(key).await, before);
    let answer = place.decide(key, correct(&wrong[1..2])).await;
    assert_eq!(
        (answer.status, &answer.body["outcome"]),
        (200, &json!("decided"))
    );
    let result = &place.report(key).await["result"];
    assert_eq!(result["value"], json!({ "list": [finding("a.rs", 2)] }));
}

#[tokio::test]
async fn what_a_report_is_about_is_read_until_it_is_erased() {
    let mut place = Place::new().await;
    place.router = router_of(&place.store, "moderation-7", "moderation-v3", judge());
    let files = json!({ "files": { "a.rs": "one\n" } });
    let key = place.in_review_about("1", &files).await;
    let input = place.store.input(key).await.unwrap().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&input).unwrap(), files);
    place.store.erase(key, "kim".to_owned()).await.unwrap();
    assert_eq!(place.store.input(key).await.unwrap(), None);
    let answer = place.decide(key, correct(&[finding("a.rs", 1)])).await;
    assert_eq!((answer.status, answer.code()), (409, "erased"));
}

#[tokio::test]
async fn where_nothing_was_fetched_only_nothing_can_be_found() {
    let mut place = Place::new().await;
    place.router = router_of(&place.store, "moderation-7", "moderation-v3", judge());
    let key = place.unfetched("1").await;
    let answer = place.decide(key, correct(&[finding("a.rs", 1)])).await;
    assert_eq!((answer.status, answer.code()), (409, "not_fetched"));
    let answer = place.decide(key, correct(&[])).await;
    assert_eq!(answer.status, 200);
    let result = &place.report(key).await["result"];
    assert_eq!(result["value"], json!({ "list": [] }));
}

#[tokio::test]
async fn another_schema_under_a_bound_version_is_no_measure() {
    let mut place = Place::new().await;
    place.router = router_of(&place.store, "moderation-7", "moderation-v3", judge());
    let bound = PipelineVersions {
        pipeline: "moderation".to_owned(),
        classifier_version: "moderation-7".to_owned(),
        classifier_digest: [7; 32],
        schema_version: "moderation-v3".to_owned(),
        schema_digest: [8; 32],
    };
    place.store.bind_versions(bound).await.unwrap();
    let key = place.unfetched("1").await;
    let answer = place.decide(key, correct(&[])).await;
    assert_eq!((answer.status, answer.code()), (409, "other_schema"));
}
