//! A list of findings, however it was disturbed on its way: the same rows and the same marker,
//! byte for byte, on either database.

use std::{sync::Arc, time::Duration};

use fencepost_model::{Behaviour, ModelServer, in_turn};
use fencepost_tests::{DatabaseKind, Launch, Program, Sealed, Stack, wait_until};
use serde_json::json;

use crate::{ended, outcomes, stack};

/// A source and a pipeline of findings beside those of the example, asking the scripted model.
const CHANGES: (&str, &str) = (
    "[extractor.baseline]",
    r#"[source.changes]
verify = "standard-webhooks"
secrets = ["notes_secret"]
pipeline = "changes"

[source.changes.identity]
tenant = { value = "acme" }
report_id = "/id"
version = { content = ["/head"] }

[source.changes.input]
diff = "/diff"

[pipeline.changes]
kind = "findings"
schema = "backend/schemas/code-review-v1.json"
schema_version = "changes-v1"
prompt = "backend/prompts/code-review-1.md"
classifier_version = "changes-1"
extractor = "model"
max_attempts = 3

[pipeline.changes.findings]
revision = { diff = "diff" }

[extractor.baseline]"#,
);

const DIFF: &str = "\
diff --git a/app/fetch.py b/app/fetch.py
index 3f1c2aa..9d0e1bb 100644
--- a/app/fetch.py
+++ b/app/fetch.py
@@ -1,4 +1,7 @@
 import requests
 
 def fetch(url):
-    return requests.get(url)
+    head = requests.head(url, verify=False)
+    if head.ok:
+        head = requests.head(url, verify=False)
+    return requests.get(url, auth=(\"svc\", \"example\"))
";

/// Two rules on one line, one line that stands there twice, and one finding told twice.
const ANSWER: &str = r#"{"findings": [
  {"rule": "disabled_tls_verification", "severity": "high",
   "path": "app/fetch.py", "line": 4, "summary": "No certificate is checked."},
  {"rule": "other", "severity": "low",
   "path": "./app/fetch.py", "line": 4, "summary": "No timeout is set."},
  {"rule": "disabled_tls_verification", "severity": "high",
   "path": "app/fetch.py", "line": 6, "summary": "Here neither."},
  {"rule": "hardcoded_secret", "severity": "medium",
   "path": "app/fetch.py", "line": 7, "summary": "A password in the code."},
  {"rule": "hardcoded_secret", "severity": "critical",
   "path": "app/fetch.py", "line": 7, "summary": "The service's password."}
]}"#;

/// What is left in the end, whatever happened: the findings' keys, those of their lineages and of
/// their result; the keys of the result, of the current result and of the events; each finding with
/// its place in the answer and how many fell together with it; the marker. Derived by another
/// program, which hashed the fields as they are documented.
const ROWS: &str = include_str!("findings.txt");

/// A backend that takes in, a model with this script, and the report that is delivered.
async fn set_up(
    kind: DatabaseKind,
    script: impl Into<Vec<Behaviour>>,
) -> (Stack, Arc<ModelServer>, Sealed) {
    let (stack, model) = stack(kind, &[CHANGES], in_turn(script)).await;
    let payload = json!({"id": "pr-7", "head": "9d0e1bb", "diff": DIFF, "title": "Ask the head"});
    let change = Sealed::of(&stack.project, "changes", None, &payload);
    (stack, model, change)
}

fn answer() -> Behaviour {
    Behaviour::Answer(ANSWER.to_owned())
}

/// The findings, and what marks them as processed.
async fn rows(stack: &Stack) -> Vec<String> {
    let database = stack.db();
    let mut rows = Vec::new();
    for keys in [
        "SELECT finding_key FROM finding ORDER BY position",
        "SELECT lineage_key FROM finding ORDER BY position",
        "SELECT result_key FROM finding ORDER BY position",
        "SELECT result_key FROM result",
        "SELECT current_result FROM report",
        "SELECT event_key FROM outbox ORDER BY sequence",
    ] {
        rows.extend(database.keys(keys).await);
    }
    for texts in [
        "SELECT CAST(position AS TEXT) || ' ' || status || ' ' || CAST(collapsed AS TEXT) || ' '
             || value FROM finding ORDER BY position",
        "SELECT schema_version || ' ' || status || ' ' || value FROM result",
        "SELECT state || ' ' || coalesce(outcome, '') FROM job",
        "SELECT kind FROM outbox ORDER BY sequence",
        "SELECT status FROM review",
    ] {
        rows.extend(database.texts(texts).await);
    }
    rows
}

async fn assert_converged(stack: Stack, model: &ModelServer, calls: usize) {
    stack.settle().await;
    assert_eq!(rows(&stack).await, ROWS.lines().collect::<Vec<_>>());
    assert_eq!(model.calls().len(), calls);
    stack.finish().await;
}

/// A worker that dies there.
async fn die_at(stack: &mut Stack, point: &str) {
    let armed = Launch {
        program: Program::Failpoints,
        ..Launch::default()
    };
    let armed = armed.with("FENCEPOST_KILL_AT", format!("{point}:1"));
    let worker = stack.start_worker_with(&armed).await;
    stack.worker_dies(worker).await;
    // Nobody waits for what a dead worker had.
    stack.db().age_leases().await;
    stack.start_worker().await;
}

pub(crate) async fn the_same_source_twice_at_once_is_one_extraction(kind: DatabaseKind) {
    let (mut stack, model, change) = set_up(kind, [answer()]).await;
    stack.start_worker().await;
    stack.start_worker().await;
    let (one, other) = tokio::join!(stack.post(&change), stack.post(&change));
    let mut statuses = [one.unwrap().status, other.unwrap().status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 202]);
    assert_converged(stack, &model, 1).await;
}

pub(crate) async fn killed_with_the_answer_stored_and_no_finding_committed(kind: DatabaseKind) {
    for point in [
        "raw.after",
        "judged.before",
        "judged.after",
        "commit.before",
    ] {
        let (mut stack, model, change) = set_up(kind, [answer()]).await;
        stack.post(&change).await.unwrap().assert_accepted();
        die_at(&mut stack, point).await;
        assert_converged(stack, &model, 1).await;
    }
}

pub(crate) async fn killed_with_the_findings_committed_and_nobody_told(kind: DatabaseKind) {
    let (mut stack, model, change) = set_up(kind, [answer()]).await;
    let key = stack.post(&change).await.unwrap().assert_accepted();
    die_at(&mut stack, "commit.after").await;
    stack.settle().await;
    assert_eq!(outcomes(&stack, &key).await, [ended("committed", true)]);
    let again = stack.post(&change).await.unwrap();
    assert_eq!((again.status, again.key()), (200, key.clone()));
    assert_converged(stack, &model, 1).await;
}

pub(crate) async fn a_rate_limit_and_then_an_answer(kind: DatabaseKind) {
    let script = [Behaviour::rate_limited(Duration::from_secs(3600)), answer()];
    let (mut stack, model, change) = set_up(kind, script).await;
    stack.start_worker().await;
    let key = stack.post(&change).await.unwrap().assert_accepted();
    let limited = [ended("rate_limited", false)];
    wait_until("the job is put off", async || {
        (outcomes(&stack, &key).await == limited).then_some(())
    })
    .await;
    assert_eq!(stack.db().make_due().await, 1);
    assert_converged(stack, &model, 2).await;
}

pub(crate) async fn the_same_webhook_three_times(kind: DatabaseKind) {
    let (mut stack, model, change) = set_up(kind, [answer()]).await;
    let key = stack.post(&change).await.unwrap().assert_accepted();
    let before = stack.post(&change).await.unwrap();
    assert_eq!((before.status, before.key()), (200, key.clone()));
    stack.start_worker().await;
    stack.settle().await;
    let after = stack.post(&change).await.unwrap();
    assert_eq!((after.status, after.key()), (200, key.clone()));
    assert_converged(stack, &model, 1).await;
}
