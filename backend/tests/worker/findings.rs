//! Answers that are lists, and inputs that nothing can be held against.

use fencepost::{
    findings::{FindingsRules, KeyField, Location, RevisionForm},
    judge::Kind,
    report::{AttemptOutcome, Outcome, ReviewReason, State},
    schema::Schema,
    worker::Step,
};
use fencepost_identity::pointer::Pointer;

use crate::rig::{Charged, Rig, one_step};

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": { "list": { "type": "array", "items": { "type": "object" } } },
    "required": ["list"]
}"#;
const DIFF: &str = "--- a/a.rs\n+++ b/a.rs\n@@ -0,0 +1,1 @@\n+canary\n";
const GOOD: &str = r#"{"list":[{"line":1,"path":"a.rs","rule":"r","severity":"low"}]}"#;

/// A rig of a pipeline whose input has a diff under the name of the text.
async fn rig() -> Rig {
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
            revision: RevisionForm::Diff("text".to_owned()),
        }),
        key: vec![KeyField::Rule, KeyField::SourceLine],
    };
    let mut rig = Rig::new().await;
    let judge = &mut rig.pipeline.judge;
    judge.kind = Kind::Findings(Box::new(rules));
    judge.schema = Schema::compile(SCHEMA.as_bytes()).unwrap().into();
    judge.review_when.clear();
    rig
}

#[tokio::test]
async fn a_list_is_committed_as_it_was_answered() {
    let mut rig = rig().await;
    let worker = rig.worker().await;
    let key = rig.ingest_text("1", DIFF).await;
    assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
    let view = rig.view(key).await;
    assert_eq!(view.summary.state, State::Terminal(Outcome::Committed));
    assert_eq!(view.result.unwrap().value, GOOD);
}

#[tokio::test]
async fn a_finding_at_another_place_is_asked_for_again() {
    let mut rig = rig().await;
    let worker = rig.worker().await;
    let key = rig.ingest_text("1", DIFF).await;
    let elsewhere = GOOD.replace("a.rs", "b.rs");
    rig.answered(&worker, &elsewhere).await;
    let refused = (Some(AttemptOutcome::PolicyInvalid), Charged::Yes);
    assert_eq!(rig.outcomes(key).await, [refused]);
    let reason = rig.attempts(key).await[0].reason.clone().unwrap();
    assert_eq!(reason, "the answer's /list/0/path is not in the revision");
    assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
}

#[tokio::test]
async fn a_revision_that_can_not_be_read_is_shown_to_a_person_and_to_no_model() {
    let mut rig = rig().await;
    let worker = rig.worker().await;
    for id in ["1", "2", "3", "4"] {
        let key = rig.ingest_text(id, &format!("{DIFF}canary\n")).await;
        let step = one_step(&worker).await.unwrap();
        assert_eq!(step, Step::SentToReview(key));
        let invalid = (Some(AttemptOutcome::InvalidRequest), Charged::Yes);
        assert_eq!(rig.outcomes(key).await, [invalid]);
        let attempt = rig.attempts(key).await.remove(0);
        assert_eq!(attempt.call, None);
        let reason = attempt.reason.unwrap();
        assert!(
            reason.starts_with("the input's `text`: line 5 of the diff: "),
            "{reason}"
        );
        assert!(!reason.contains("canary"), "{reason}");
        let review = rig.view(key).await.review.unwrap();
        assert_eq!(review.reason, ReviewReason::InvalidRequest);
    }
    rig.no_call();
    // Nobody was asked, so that nothing is paused: the next is worked on.
    let key = rig.ingest_text("5", DIFF).await;
    assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
}
