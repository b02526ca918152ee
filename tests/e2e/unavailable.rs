//! A 2xx means stored. When the backend can't be asked, or doesn't say so, the sender is told to
//! come again, in time; and then nothing was lost and nothing is there twice.

use std::time::{Duration, Instant};

use fencepost_tests::{Delivery, Mode, Stack};

/// The default of `ack_deadline_ms`.
const DEADLINE: Duration = Duration::from_millis(2_500);
/// For the machine, not for the edge.
const SLACK: Duration = Duration::from_secs(5);

async fn assert_refused(stack: &Stack, code: &str, reason: &str) {
    let before = stack.refusals().len();
    let written = stack.db().written().await;
    let answer = stack
        .deliver(&Delivery::note("n-1", "a text of a note"))
        .await;
    answer.assert_problem(503, code);
    let refusals = fencepost_tests::wait_until("the refusal is in the log", async || {
        Some(stack.refusals()).filter(|refusals| refusals.len() > before)
    })
    .await;
    assert_eq!(refusals.len(), before + 1, "one line: {refusals:?}");
    let line = &refusals[before];
    assert_eq!(
        (&line["code"], &line["reason"]),
        (&code.into(), &reason.into()),
        "{line}"
    );
    assert_eq!(line["source"], "notes");
    assert!(
        !stack
            .project
            .log("host.stderr")
            .contains("a text of a note")
    );
    assert_eq!(stack.db().written().await, written, "nothing is stored");
}

/// The sender comes again: once accepted, then a duplicate.
async fn assert_nothing_lost(stack: Stack) {
    let note = Delivery::note("n-1", "a text of a note");
    let key = stack.deliver(&note).await.assert_accepted();
    assert_eq!(stack.deliver(&note).await.assert_duplicate(), key);
    assert_eq!(stack.db().reports().await, 1);
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_is_down_is_a_503_and_nothing_is_lost() {
    let mut stack = Stack::start().await;
    stack.wire.close().await;
    assert_refused(&stack, "not_stored", "backend_unreachable").await;
    stack.wire.open();
    assert_nothing_lost(stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_never_answers_is_a_503_in_time() {
    let stack = Stack::start().await;
    stack.wire.set(Mode::Silent).await;
    let asked = Instant::now();
    assert_refused(&stack, "not_stored", "backend_too_slow").await;
    let waited = asked.elapsed();
    assert!(waited >= DEADLINE, "it gave up after {waited:?}");
    assert!(waited < DEADLINE + SLACK, "it took {waited:?}");
    stack.connect().await;
    assert_nothing_lost(stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_hangs_up_is_a_503() {
    let stack = Stack::start().await;
    stack.wire.set(Mode::Hangup).await;
    assert_refused(&stack, "not_stored", "backend_unreachable").await;
    stack.connect().await;
    assert_nothing_lost(stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_does_not_say_stored_is_never_passed_on_as_success() {
    let stack = Stack::start().await;
    let other_key = "00".repeat(32);
    let stored = |key: &str| {
        format!("{{\"report_key\":\"{key}\",\"state\":\"accepted\",\"duplicate\":false}}")
    };
    let odd = "backend_answer_not_understood";
    let answers = [
        ("202 Accepted", stored(&other_key), "not_stored", odd),
        ("200 OK", String::new(), "not_stored", odd),
        (
            "200 OK",
            "<html>a proxy's page</html>".to_owned(),
            "not_stored",
            odd,
        ),
        ("204 No Content", String::new(), "not_stored", odd),
        ("302 Found", String::new(), "not_stored", odd),
        (
            "400 Bad Request",
            "{\"code\":\"bad_envelope\"}".into(),
            "not_stored",
            "backend_refused",
        ),
        (
            "401 Unauthorized",
            "{\"code\":\"unauthorized\"}".into(),
            "not_stored",
            "backend_refused",
        ),
        (
            "500 Oops",
            "{\"code\":\"internal\"}".into(),
            "not_stored",
            "backend_refused",
        ),
        (
            "503 Busy",
            "{\"code\":\"busy\"}".to_owned(),
            "busy",
            "backend_refused",
        ),
    ];
    for (status, body, code, reason) in answers {
        println!("{status} {body}");
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n");
        let answer = format!("{head}content-type: application/json\r\n\r\n{body}");
        stack.wire.set(Mode::Answer(answer.into_bytes())).await;
        assert_refused(&stack, code, reason).await;
    }
    stack.connect().await;
    assert_nothing_lost(stack).await;
}

/// The edge gave up, the backend had stored it: the sender comes again and is told so.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_lost_after_storing_is_a_duplicate_the_next_time() {
    let mut stack = Stack::start().await;
    let note = Delivery::note("n-1", "a text of a note");
    let key = stack.deliver(&note).await.assert_accepted();
    stack.wire.close().await;
    stack.deliver(&note).await.assert_problem(503, "not_stored");
    stack.wire.open();
    assert_eq!(stack.deliver(&note).await.assert_duplicate(), key);
    stack.finish().await;
}
