//! Replays over the admin listener, on a database.

use std::time::Duration;

use fencepost::{
    report::AttemptOutcome,
    store::{AfterRejection, CallRecord, Commitment, Keeping, RawAnswer, Rejection},
};
use fencepost_identity::key::ReportKey;
use serde_json::{Value, json};

use super::{
    Answer,
    decisions::{Place, get, post, router, router_with},
};

const ANSWER: &str = r#"{"category":"spam","confidence":0.5,"needsHumanReview":false}"#;
/// A schema that lets no category be what it was.
const NARROW: &str = r#"{"type":"object","properties":{"category":{"enum":["other"]},
    "confidence":{"type":"number"},"needsHumanReview":{"type":"boolean"}}}"#;
const SHIPPED: &str = include_str!("../../schemas/moderation-v3.json");

async fn replay(router: &axum::Router, key: ReportKey) -> Answer {
    post(router, &format!("/v1/reports/{key}/replay"), "").await
}

fn word(answer: &Answer) -> &str {
    answer.body["replay"].as_str().unwrap()
}

/// A report whose kept answer was refused; another attempt is due.
async fn refused(place: &Place, id: &str, raw: &str) -> ReportKey {
    let lease = place.granted(id).await;
    let key = lease.report();
    let answer = RawAnswer {
        raw: raw.as_bytes().to_vec(),
        call: CallRecord::default(),
    };
    place.store.store_raw(&lease, answer).await.unwrap();
    let rejection = Rejection {
        outcome: AttemptOutcome::SchemaInvalid,
        reason: Some("at /category/enum".to_owned()),
        call: None,
        next: AfterRejection::Again(Duration::from_secs(60)),
    };
    place.store.reject(lease, rejection).await.unwrap();
    key
}

/// A report whose kept answer is the result.
async fn committed(place: &Place, id: &str, raw: &str, value: &str) -> ReportKey {
    let lease = place.granted(id).await;
    let key = lease.report();
    let answer = RawAnswer {
        raw: raw.as_bytes().to_vec(),
        call: CallRecord::default(),
    };
    place.store.store_raw(&lease, answer).await.unwrap();
    let commitment = Commitment {
        value: value.to_owned(),
        findings: None,
        review: None,
        remark: None,
        call: None,
    };
    place.store.commit(lease, commitment).await.unwrap();
    key
}

#[tokio::test]
async fn a_refused_answer_is_judged_by_the_schema_of_now() {
    let place = Place::new().await;
    let key = refused(&place, "1", ANSWER).await;
    let before = place.report(key).await;
    let wider = router_with(&place.store, "moderation-7", ("moderation-v4", SHIPPED));
    let answer = replay(&wider, key).await;
    let document = json!({
        "report_key": key, "classifier_version": "moderation-7", "replay": "judged",
        "state": "validation_rejected", "outcome": null,
        "judged": {
            "attempt": 1,
            "then": {
                "outcome": "schema_invalid", "reason": "at /category/enum",
                "schema_version": "moderation-v3", "result": null, "review": null,
            },
            "now": {
                "outcome": "valid", "reason": null, "schema_version": "moderation-v4",
                "value": {"category": "spam", "confidence": 0.5, "needsHumanReview": false},
                "review": {"reason": "policy", "note": "/confidence below 0.7"},
            },
            "changes": [
                {"pointer": "/category", "change": "added", "then": null, "now": "spam"},
                {"pointer": "/confidence", "change": "added", "then": null, "now": 0.5},
                {"pointer": "/needsHumanReview", "change": "added", "then": null, "now": false},
            ],
        },
    });
    assert_eq!((answer.status, &answer.body), (200, &document));
    // A look changes nothing, however often.
    assert_eq!(replay(&wider, key).await.body, document);
    assert_eq!(place.report(key).await, before);
}

#[tokio::test]
async fn a_committed_answer_is_compared_with_the_result() {
    let place = Place::new().await;
    let fenced = format!("```json\n{}\n```", ANSWER.replace("0.5", "0.90"));
    let result = ANSWER.replace("0.5", "0.8").replace("spam", "abuse");
    let key = committed(&place, "1", &fenced, &result).await;
    let same = replay(&place.router, key).await.body;
    assert_eq!(same["state"], "terminal");
    assert_eq!(same["outcome"], "committed");
    let judged = &same["judged"];
    assert_eq!(judged["then"]["outcome"], "valid");
    assert_eq!(judged["then"]["result"]["value"]["confidence"], 0.8);
    assert_eq!(judged["now"]["review"], Value::Null);
    assert_eq!(
        judged["now"]["reason"],
        "the answer stood in a fence, which was taken away"
    );
    let changes = json!([
        {"pointer": "/category", "change": "changed", "then": "abuse", "now": "spam"},
        {"pointer": "/confidence", "change": "changed", "then": 0.8, "now": 0.9},
    ]);
    assert_eq!(judged["changes"], changes);

    let narrow = router_with(&place.store, "moderation-7", ("moderation-v4", NARROW));
    let judged = &replay(&narrow, key).await.body["judged"];
    assert_eq!(judged["now"]["outcome"], "schema_invalid");
    assert_eq!(judged["now"]["value"], Value::Null);
    assert_eq!(judged["changes"], json!([]));
    let reason = judged["now"]["reason"].as_str().unwrap();
    assert!(reason.contains("/category/enum"), "{reason}");
    for text in ["text-canary", "```"] {
        assert!(!same.to_string().contains(text), "{text}");
    }
}

#[tokio::test]
async fn a_replay_makes_one_job_per_version() {
    let place = Place::new().await;
    let key = committed(&place, "1", ANSWER, ANSWER).await;
    let newer = router(&place.store, "moderation-8");
    for (status, expected) in [(202, "made"), (200, "already"), (200, "already")] {
        let answer = replay(&newer, key).await;
        assert_eq!((answer.status, word(&answer)), (status, expected));
        assert_eq!(answer.body["classifier_version"], "moderation-8");
        assert_eq!(answer.body["state"], "accepted");
        assert_eq!(answer.body["judged"], Value::Null);
    }
    // The answer of the version before is there still.
    assert_eq!(word(&replay(&place.router, key).await), "judged");
    place.store.erase(key, "kim".to_owned()).await.unwrap();
    for router in [&newer, &place.router] {
        let erased = replay(router, key).await;
        assert_eq!((erased.status, erased.code()), (409, "erased"));
    }
    let report = place.report(key).await;
    assert_eq!(
        (&report["identity"], &report["outcome"]),
        (&Value::Null, &json!("erased"))
    );
    let unknown = replay(&newer, ReportKey::from_bytes([0; 32])).await;
    assert_eq!((unknown.status, unknown.code()), (404, "unknown_report"));
}

#[tokio::test]
async fn where_no_answer_is_kept_the_remedy_is_told() {
    let place = Place::new().await;
    let key = place.in_review("1").await;
    let answer = replay(&place.router, key).await;
    assert_eq!((answer.status, answer.code()), (409, "no_answer_kept"));
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(detail.starts_with("no answer of the report is kept") && detail.contains("`retry`"));

    let key = committed(&place, "2", ANSWER, ANSWER).await;
    let keeping = Keeping {
        pipeline: "moderation".to_owned(),
        kept_for: Duration::ZERO,
    };
    let expired = place.store.expired_answers(keeping, None).await.unwrap();
    let [expired] = expired.answers[..] else {
        panic!("{expired:?}")
    };
    place.store.empty_answer(expired).await.unwrap();
    let answer = replay(&place.router, key).await;
    assert_eq!((answer.status, answer.code()), (409, "no_answer_kept"));
    let attempts = get(&place.router, &format!("/v1/reports/{key}/attempts")).await;
    let attempt = &attempts.body["attempts"][0];
    assert_eq!(attempt["raw"], Value::Null);
    let at = attempt["raw_emptied_at"].as_str().unwrap();
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(detail.contains(&format!("kept until {at}")), "{detail}");
}

#[tokio::test]
async fn a_report_that_waits_or_is_worked_on_is_told_as_such() {
    let place = Place::new().await;
    let lease = place.granted("1").await;
    let key = lease.report();
    let running = replay(&place.router, key).await;
    assert_eq!((running.status, word(&running)), (200, "already"));
    assert_eq!(running.body["state"], "running");
    // An answer that nobody has judged yet can be looked at all the same.
    let answer = RawAnswer {
        raw: ANSWER.as_bytes().to_vec(),
        call: CallRecord::default(),
    };
    place.store.store_raw(&lease, answer).await.unwrap();
    let unjudged = replay(&place.router, key).await;
    assert_eq!(word(&unjudged), "judged");
    assert_eq!(unjudged.body["judged"]["then"]["outcome"], Value::Null);
    assert_eq!(unjudged.body["judged"]["now"]["outcome"], "valid");
}

#[tokio::test]
async fn a_row_that_can_not_be_understood_is_an_error() {
    let place = Place::new().await;
    let key = committed(&place, "1", ANSWER, "no JSON").await;
    let answer = replay(&place.router, key).await;
    assert_eq!((answer.status, answer.code()), (500, "corrupt_row"));
    assert!(!answer.body.to_string().contains("no JSON"));
}
