//! However often a report is delivered, it is one record and is extracted once.

use fencepost_tests::{Delivery, Stack, sample};
use serde_json::{Map, Value};

/// The same document with its members in the order of their names.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members = members
                .into_iter()
                .map(|(name, value)| (name.clone(), sorted(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(values) => values.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_deliveries_at_once_are_one_record_and_one_extraction() {
    let stack = Stack::start().await;
    let payload = sample("issue_comment.created.json");
    let compact = payload.to_string();
    let reordered = serde_json::to_string_pretty(&sorted(&payload)).unwrap();
    assert_ne!(compact, reordered);
    let deliveries = (0..100).map(|number| {
        let body = if number % 2 == 0 {
            &compact
        } else {
            &reordered
        };
        Delivery::github("github-comments", body.as_str())
            .without("x-github-delivery")
            .header("x-github-delivery", &format!("delivery-{number}"))
            .header("user-agent", &format!("GitHub-Hookshot/{number}"))
    });

    let answers = stack.deliver_at_once(deliveries.collect()).await;

    let first = |answer: &&_| fencepost_tests::Answer::json(answer)["duplicate"] == false;
    assert_eq!(answers.len(), 100);
    assert_eq!(answers.iter().filter(first).count(), 1, "{answers:?}");
    let key = answers.iter().find(first).unwrap().assert_accepted();
    for answer in answers.iter().filter(|answer| !first(answer)) {
        assert_eq!(answer.assert_duplicate(), key);
        assert!(answer.json().get("conflict").is_none(), "{answer:?}");
    }
    stack.settle().await;
    assert_eq!(stack.db().reports().await, 1);
    let attempts = stack.attempts(&key).await;
    assert_eq!(attempts.len(), 1, "{attempts:?}");
    assert_eq!(attempts[0]["charged"], true);
    let stats = stack.stats().await;
    assert_eq!(stats["charged_attempts"], "1", "{stats}");
    assert_eq!(stats["results"], "1", "{stats}");
    assert_eq!(stats["conflicts"], "0", "{stats}");
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_of_a_delivery_says_nothing_of_the_report() {
    let stack = Stack::start().await;
    let mut other = sample("issue_comment.created.json");
    other["comment"]["id"] = 1.into();
    let first = sample("issue_comment.created.json").to_string();
    let first = stack
        .deliver(&Delivery::github("github-comments", first))
        .await;
    let second = stack
        .deliver(&Delivery::github("github-comments", other.to_string()))
        .await;
    assert_ne!(first.assert_accepted(), second.assert_accepted());
    assert_eq!(stack.db().reports().await, 2);
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_report_delivered_again_is_told_as_it_is() {
    let stack = Stack::start().await;
    let sure = "I can reproduce this on the latest version. Stack trace attached.";
    for (id, text, state, finals) in [
        ("n-1", sure, "terminal", 1),
        ("n-2", "You are totally right!", "ready_for_review", 1),
    ] {
        let note = Delivery::note(id, text);
        let key = stack.deliver(&note).await.assert_accepted();
        stack.settle().await;
        let shown = stack.report(&key).await.unwrap();
        assert_eq!(shown["state"], state, "{shown}");
        assert_eq!(
            shown["review"].is_object(),
            state == "ready_for_review",
            "{shown}"
        );
        let again = stack.deliver(&note).await;
        assert_eq!(again.assert_duplicate(), key);
        assert_eq!(again.json()["state"], state, "{again:?}");
        assert_eq!(stack.report(&key).await.unwrap(), shown);
        let told = "SELECT count(*) FROM outbox WHERE kind = 'result.final'";
        assert_eq!(stack.db().number(told).await, finals);
    }
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_id_of_two_tenants_is_two_reports() {
    let stack = Stack::start().await;
    let acme = stack
        .deliver(&Delivery::report("acme", "r-1", 1, "one text"))
        .await;
    let other = stack
        .deliver(&Delivery::report("umbrella", "r-1", 1, "one text"))
        .await;
    assert_ne!(acme.assert_accepted(), other.assert_accepted());
    stack.finish().await;
}
