//! The edge keeps nothing: it may go at any time, and two secrets are live while one is replaced.

use fencepost_tests::{Delivery, NOTES_OLD_SECRET, NOTES_SECRET, Stack};

fn note(secret: &str) -> Delivery {
    Delivery::standard(
        "/hooks/notes",
        secret,
        "{\"id\":\"n-1\",\"text\":\"a text\"}",
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_program_has_to_stay_for_a_duplicate_to_be_one() {
    let mut stack = Stack::start().await;
    let key = stack.deliver(&note(NOTES_SECRET)).await.assert_accepted();
    stack.stop_host().await;
    stack.start_host().await;
    assert_eq!(
        stack.deliver(&note(NOTES_SECRET)).await.assert_duplicate(),
        key
    );
    stack.stop_backend().await;
    stack.start_backend().await;
    assert_eq!(
        stack.deliver(&note(NOTES_SECRET)).await.assert_duplicate(),
        key
    );
    stack.kill9().await;
    stack.start_backend().await;
    assert_eq!(
        stack.deliver(&note(NOTES_SECRET)).await.assert_duplicate(),
        key
    );
    assert_eq!(stack.db().reports().await, 1);
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_secret_is_replaced_both_sign_the_same_report() {
    let stack = Stack::start().await;
    let key = stack
        .deliver(&note(NOTES_OLD_SECRET))
        .await
        .assert_accepted();
    assert_eq!(
        stack.deliver(&note(NOTES_SECRET)).await.assert_duplicate(),
        key
    );
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_whose_time_is_over_signs_nothing() {
    let mut stack = Stack::start().await;
    stack.stop_host().await;
    stack
        .project
        .edit_config("not_after = 2100-01-01", "not_after = 2020-01-01");
    stack.start_host().await;
    stack
        .deliver(&note(NOTES_OLD_SECRET))
        .await
        .assert_problem(401, "unauthorized");
    assert_eq!(stack.db().written().await, 0);
    stack.deliver(&note(NOTES_SECRET)).await.assert_accepted();
    stack.finish().await;
}
