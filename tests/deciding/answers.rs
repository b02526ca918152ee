//! What a model answers, and what follows.

use std::{collections::BTreeSet, time::Duration};

use fencepost_model::{Behaviour, in_turn, moderation};
use fencepost_tests::{DatabaseKind, wait_until};

use crate::{accept, ended, outcomes, stack};

pub(crate) async fn answers_that_break_the_schema_end_with_a_person(kind: DatabaseKind) {
    let short = r#"{"category":"spam"}"#;
    let (mut stack, model) = stack(kind, &[], move |_| Behaviour::Answer(short.to_owned())).await;
    stack.start_worker().await;
    let key = accept(&stack, "n-1").await;
    stack.settle().await;
    let invalid = vec![ended("schema_invalid", true); 3];
    assert_eq!(outcomes(&stack, &key).await, invalid);
    // A judged answer is asked for anew, under another key.
    let keys: BTreeSet<_> = model
        .calls()
        .into_iter()
        .map(|call| call.call_key)
        .collect();
    assert_eq!(keys.len(), 3);
    let reviews = "SELECT reason || ' ' || status FROM review";
    assert_eq!(stack.db().texts(reviews).await, ["attempts_spent open"]);
    stack.finish().await;
}

pub(crate) async fn a_rate_limit_is_waited_for_and_costs_no_attempt(kind: DatabaseKind) {
    let hour = Duration::from_secs(3600);
    let script = in_turn([
        Behaviour::rate_limited(hour),
        moderation("spam", 0.9, false),
    ]);
    let (mut stack, model) = stack(kind, &[], script).await;
    stack.start_worker().await;
    let key = accept(&stack, "n-1").await;
    let limited = [ended("rate_limited", false)];
    wait_until("the job is put off", async || {
        (outcomes(&stack, &key).await == limited).then_some(())
    })
    .await;
    let wait = "SELECT due_ms - updated_ms FROM job";
    let wait = stack.db().number(wait).await;
    // With a little more, so that not all who were told the same come back at the same moment.
    assert!((3_600_000..3_660_000).contains(&wait), "{wait}");
    assert_eq!(model.calls().len(), 1);
    assert_eq!(stack.db().make_due().await, 1);
    stack.settle().await;
    let expected = [ended("rate_limited", false), ended("committed", true)];
    assert_eq!(outcomes(&stack, &key).await, expected);
    let calls = model.calls();
    // Nothing was judged in between: it is the same question.
    assert_eq!((calls.len(), &calls[0].call_key), (2, &calls[1].call_key));
    stack.finish().await;
}

/// Bytes that databases disagree about, and values that parsers do.
#[tokio::test(flavor = "multi_thread")]
async fn odd_answers_get_the_same_verdict_on_either_database() {
    let odd = [
        r#"{\"category\":\"spam\\u0000\",\"confidence\":0.9,\"needsHumanReview\":false}"#,
        r#"{\"category\":\"\\ud800\",\"confidence\":0.9,\"needsHumanReview\":false}"#,
        r#"{\"category\":\"spam\",\"confidence\":0.9,\"needsHumanReview\":false,\"\\u0000\":1}"#,
        r#"{\"category\":\"spam\",\"confidence\":1e400,\"needsHumanReview\":false}"#,
        r#"{\"category\":\"spam\",\"category\":\"abuse\",\"confidence\":1}"#,
        r#"{\"category\":\"spam\",\"confidence\":1.0,\"needsHumanReview\":false}"#,
        r"\u0000",
        r"{} {}",
    ];
    let mut verdicts = Vec::new();
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let script = move |asked: &fencepost_model::Asked| {
            let number: usize = asked.text().trim_start_matches("text ").parse().unwrap();
            Behaviour::Escaped(odd[number].to_owned())
        };
        let (mut stack, _model) = stack(kind, &[], script).await;
        stack.start_worker().await;
        let mut of_kind = Vec::new();
        for number in 0..odd.len() {
            let (id, text) = (format!("n-{number}"), format!("text {number}"));
            let note = fencepost_tests::Sealed::note(&stack.project, &id, &text);
            let key = stack.post(&note).await.unwrap().assert_accepted();
            stack.settle().await;
            let attempts = stack.attempts(&key).await;
            let told = |it: &serde_json::Value| (it["outcome"].clone(), it["reason"].clone());
            let result = stack.report(&key).await.unwrap()["result"]["value"].clone();
            of_kind.push((attempts.iter().map(told).collect::<Vec<_>>(), result));
        }
        stack.finish().await;
        verdicts.push(of_kind);
    }
    assert_eq!(verdicts[0], verdicts[1]);
    let committed = verdicts[0].iter().filter(|(_, result)| !result.is_null());
    assert_eq!(committed.count(), 1, "only 1.0 fits: {:?}", verdicts[0]);
}
