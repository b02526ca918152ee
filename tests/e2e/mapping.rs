//! A changed mapping would give old reports new keys: refused until somebody says that it is meant.

use fencepost_tests::{Delivery, NOTES_SECRET, Stack, wait_until};
use serde_json::json;

/// Readable by the old mapping and by the new one.
fn note(id: &str) -> Delivery {
    let body = json!({ "id": id, "number": format!("no-{id}"), "text": "a text" });
    Delivery::standard("/hooks/notes", NOTES_SECRET, body.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_mapping_is_refused_until_it_is_bound_anew() {
    let mut stack = Stack::start().await;
    let old = stack.deliver(&note("1")).await.assert_accepted();
    let other = Delivery::report("acme", "r-1", 1, "a text");
    stack.deliver(&other).await.assert_accepted();
    stack.settle().await;
    let written = stack.db().written().await;

    stack.stop_host().await;
    stack.stop_backend().await;
    let pointer = "version = \"event\"\n\n[source.notes.input]";
    stack.project.edit_config(
        &format!("report_id = \"/id\"\n{pointer}"),
        &format!("report_id = \"/number\"\n{pointer}"),
    );
    stack.start_backend().await;
    stack.start_host().await;

    for _ in 0..2 {
        stack
            .deliver(&note("1"))
            .await
            .assert_problem(503, "mapping_changed");
    }
    assert_eq!(stack.db().written().await, written, "nothing is stored");
    // The host may still be writing what the answers were about.
    let told = wait_until("both refusals are logged", async || {
        Some(stack.refusals()).filter(|refusals| refusals.len() >= 2)
    })
    .await;
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0]["code"], "mapping_changed", "{told:?}");
    stack.deliver(&other).await.assert_duplicate();

    let rebound = stack.fencepost(&["source", "rebind", "notes"]);
    assert_eq!(rebound.code, Some(0), "{rebound:?}");
    let new = stack.deliver(&note("1")).await.assert_accepted();
    assert_ne!(old, new, "re-keyed, as was meant");
    assert!(
        stack.report(&old).await.is_some(),
        "the old one is still there"
    );
    let audited = stack.db().texts("SELECT subject FROM audit").await;
    assert_eq!(audited, ["notes"]);
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edge_that_is_changed_before_its_backend_is_told_to_wait() {
    let mut stack = Stack::start().await;
    stack.deliver(&note("1")).await.assert_accepted();
    stack.stop_host().await;
    stack.project.edit_config(
        "version = \"event\"\n\n[source.notes.input]",
        "version = { content = [\"/text\"] }\n\n[source.notes.input]",
    );
    stack.start_host().await;
    stack
        .deliver(&note("1"))
        .await
        .assert_problem(503, "mapping_changed");
    stack.stop_host().await;
    stack
        .project
        .edit_config("version = { content = [\"/text\"] }", "version = \"event\"");
    stack.start_host().await;
    stack.deliver(&note("1")).await.assert_duplicate();
    stack.finish().await;
}
