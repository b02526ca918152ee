//! Another version is another report; other content under one identity is a conflict, and the first
//! one stays.

use fencepost_tests::{Delivery, Stack, sample};

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_comment_is_another_version_and_a_deleted_one_is_ignored() {
    let stack = Stack::start().await;
    let deliver = async |name: &str| {
        let body = sample(name).to_string();
        stack
            .deliver(&Delivery::github("github-comments", body))
            .await
    };
    let created = deliver("issue_comment.created.json")
        .await
        .assert_accepted();
    let edited = deliver("issue_comment.edited.json").await.assert_accepted();
    assert_ne!(created, edited);
    let written = stack.db().written().await;

    let deleted = deliver("issue_comment.deleted.json").await;
    assert_eq!(deleted.status, 200);
    assert_eq!(deleted.json(), serde_json::json!({ "ignored": true }));
    assert_eq!(
        stack.wire.requests().len(),
        2,
        "an ignored event goes no further"
    );
    stack.settle().await;
    assert_eq!(stack.db().reports().await, 2);
    assert!(stack.db().written().await >= written);

    let [created, edited] = [created, edited].map(|key| stack.fencepost(&["show", "--json", &key]));
    let [created, edited] = [created.json(), edited.json()];
    let identity = |shown: &serde_json::Value| shown["report"]["identity"].clone();
    assert_eq!(
        identity(&created)["report_id"],
        identity(&edited)["report_id"]
    );
    assert_ne!(identity(&created)["version"], identity(&edited)["version"]);
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_with_the_filtered_member_missing_is_ignored() {
    let stack = Stack::start().await;
    let mut payload = sample("issue_comment.created.json");
    payload.as_object_mut().unwrap().remove("action");
    let answer = stack
        .deliver(&Delivery::github("github-comments", payload.to_string()))
        .await;
    assert_eq!(
        (answer.status, answer.json()),
        (200, serde_json::json!({ "ignored": true }))
    );
    assert_eq!(stack.db().written().await, 0);
    assert_eq!(stack.wire.bytes().len(), 0);
    stack.finish().await;
}

/// Delivers `first`, then twice `other` under the same identity.
async fn conflict(first: Delivery, other: Delivery) {
    let stack = Stack::start().await;
    let key = stack.deliver(&first).await.assert_accepted();
    stack.settle().await;
    let before = stack.report(&key).await.unwrap();
    assert_eq!(before["conflict_count"], "0", "{before}");

    for _ in 0..2 {
        let answer = stack.deliver(&other).await;
        assert_eq!(answer.assert_duplicate(), key);
        assert_eq!(answer.json()["conflict"], true, "{answer:?}");
    }
    let answer = stack.deliver(&first).await;
    assert_eq!(answer.assert_duplicate(), key);
    assert!(
        answer.json().get("conflict").is_none(),
        "the first one is no conflict: {answer:?}"
    );

    let database = stack.db();
    let seen = database.number("SELECT seen FROM content_conflict").await;
    assert_eq!(seen, 2, "one row per content, counted");
    let mut after = stack.report(&key).await.unwrap();
    assert_eq!(after["conflict_count"], "1", "{after}");
    assert_eq!(stack.stats().await["conflicts"], "1");
    after["conflict_count"] = "0".into();
    assert_eq!(after, before, "nothing else has changed");
    let kept = database
        .texts("SELECT CAST(input AS TEXT) FROM report")
        .await;
    assert_eq!(kept, ["{\"text\":\"the first text\"}"]);
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_text_under_one_event_is_a_conflict_and_the_first_stays() {
    conflict(
        Delivery::note("n-1", "the first text"),
        Delivery::note("n-1", "another text"),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_text_under_one_revision_is_a_conflict_and_the_first_stays() {
    conflict(
        Delivery::report("acme", "r-1", 1, "the first text"),
        Delivery::report("acme", "r-1", 1, "another text"),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_revision_is_another_report() {
    let stack = Stack::start().await;
    let one = stack
        .deliver(&Delivery::report("acme", "r-1", 1, "one text"))
        .await;
    let two = stack
        .deliver(&Delivery::report("acme", "r-1", 2, "one text"))
        .await;
    assert_ne!(one.assert_accepted(), two.assert_accepted());
    stack.finish().await;
}
