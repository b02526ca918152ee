//! What follows from an answer.

use std::time::Duration;

use fencepost::{
    extractor::Failure,
    report::{AttemptOutcome, Outcome, ReviewReason, State},
    store::{CallRecord, ReviewStatus},
    worker::{Keep, Step},
};

use crate::{
    extractor,
    rig::{CALL_TIMEOUT, CANARY, Charged, GOOD, Rig, logged, one_step},
};

#[tokio::test]
async fn a_good_answer_is_committed() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let spaced = GOOD.replace(',', ", \n");
    assert_eq!(rig.answered(&worker, &spaced).await.0, Step::Committed(key));

    let view = rig.view(key).await;
    assert_eq!(view.summary.state, State::Terminal(Outcome::Committed));
    assert_eq!(view.result.unwrap().value, GOOD);
    assert_eq!(view.review, None);
    let attempts = rig.attempts(key).await;
    let [attempt] = attempts.as_slice() else {
        panic!("{attempts:?}")
    };
    assert_eq!(attempt.outcome, Some(AttemptOutcome::Committed));
    let call = CallRecord::from(extractor::call());
    assert_eq!(attempt.call, Some(call.after(Duration::ZERO)));
    assert_eq!(attempt.raw.as_deref(), Some(spaced.as_bytes()));
    assert!(attempt.charged);
    assert_eq!(one_step(&worker).await.unwrap(), Step::Idle { wait: None });
    rig.no_call();
}

#[tokio::test]
async fn how_long_a_call_took_is_told_whatever_came_of_it() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let timer = rig.timer.clone();
    let pass = |ms| timer.pass(Duration::from_millis(ms));
    // What passes before a call and after it is none of its time.
    pass(7_000);
    rig.step(&worker, |asked| {
        pass(1_234);
        asked.fail(Failure::Overloaded { retry_after: None });
    })
    .await;
    pass(7_000);
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        pass(45_000);
        timer.end(CALL_TIMEOUT).await;
        asked.given_up().await;
    });
    assert!(matches!(step, Ok(Step::Rescheduled { .. })), "{step:?}");
    rig.step(&worker, |asked| {
        pass(99);
        asked.answer(GOOD);
    })
    .await;
    let attempts = rig.attempts(key).await;
    let latencies = attempts
        .iter()
        .map(|attempt| attempt.call.as_ref().unwrap().latency_ms);
    let expected = [Some(1_234), Some(45_000), Some(99)];
    assert_eq!(latencies.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn the_model_is_shown_the_input_that_was_stored() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    rig.ingest("1").await;
    let mut shown = Vec::new();
    rig.step(&worker, |asked| {
        shown = asked.input.clone();
        asked.answer(GOOD);
    })
    .await;
    assert_eq!(shown, format!("{{\"text\":\"{CANARY}\"}}").into_bytes());
}

#[tokio::test]
async fn an_answer_that_the_rules_doubt_is_committed_and_shown_to_a_person() {
    for (answer, note) in [
        (GOOD.replace("0.9", "0.69"), "/confidence below 0.7"),
        (GOOD.replace("false", "true"), "/needsHumanReview is true"),
    ] {
        let mut rig = Rig::new().await;
        let worker = rig.worker().await;
        let key = rig.ingest("1").await;
        assert_eq!(
            rig.answered(&worker, &answer).await.0,
            Step::SentToReview(key)
        );
        let view = rig.view(key).await;
        assert_eq!(view.summary.state, State::ReadyForReview);
        assert_eq!(view.result.unwrap().value, answer);
        let review = view.review.unwrap();
        assert_eq!(
            (review.status, review.reason),
            (ReviewStatus::Open, ReviewReason::Policy)
        );
        assert_eq!(review.note.as_deref(), Some(note));
    }
}

#[tokio::test]
async fn what_nobody_sees_in_a_report_is_asked_about_as_it_is_and_shown_to_a_person() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest_text("1", "sp\u{2060}am").await;
    let mut asked_about = Vec::new();
    let (step, _) = rig
        .step(&worker, |asked| {
            asked_about = asked.input.clone();
            asked.answer(&GOOD.replace("0.9", "0.1"));
        })
        .await;
    assert_eq!(step, Step::SentToReview(key));
    assert_eq!(asked_about, "{\"text\":\"sp\u{2060}am\"}".as_bytes());
    // Neither reason hides the other.
    let note = rig.view(key).await.review.unwrap().note;
    let both = "/confidence below 0.7; the input has 1 hidden character";
    assert_eq!(note.as_deref(), Some(both));
}

#[tokio::test]
async fn a_report_that_is_too_long_is_shown_to_a_person_and_to_no_model() {
    let mut rig = Rig::new().await;
    rig.pipeline.judge.policy.input_bytes_max = 100;
    let worker = rig.worker().await;
    for id in ["1", "2", "3", "4"] {
        let key = rig.ingest_text(id, &"a".repeat(200)).await;
        let step = one_step(&worker).await.unwrap();
        assert_eq!(step, Step::SentToReview(key));
        let too_long = (Some(AttemptOutcome::ContextTooLong), Charged::Yes);
        assert_eq!(rig.outcomes(key).await, [too_long]);
        let review = rig.view(key).await.review.unwrap();
        assert_eq!(review.reason, ReviewReason::ContextTooLong);
        assert_eq!(rig.attempts(key).await[0].call, None);
    }
    rig.no_call();
    // Nobody was asked, so that nothing is paused: the next is worked on.
    let key = rig.ingest("5").await;
    assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
}

#[tokio::test]
async fn invalid_answers_are_asked_for_again_until_the_attempts_are_spent() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    let bad = GOOD.replace("spam", "SPAM");
    let (first, first_call) = rig.answered(&worker, &bad).await;
    assert!(matches!(first, Step::Rejected { .. }), "{first:?}");
    assert_eq!(rig.state(key).await, State::ValidationRejected);
    let (second, second_call) = rig.answered(&worker, &bad).await;
    assert!(matches!(second, Step::Rejected { .. }), "{second:?}");
    let (third, third_call) = rig.answered(&worker, &bad).await;
    assert_eq!(third, Step::SentToReview(key));

    // A verdict makes the next question another one.
    assert!(first_call != second_call && second_call != third_call && first_call != third_call);
    let schema_invalid = (Some(AttemptOutcome::SchemaInvalid), Charged::Yes);
    assert_eq!(rig.outcomes(key).await, [schema_invalid; 3]);
    let view = rig.view(key).await;
    assert_eq!(
        (view.summary.state, view.result),
        (State::ReadyForReview, None)
    );
    assert_eq!(view.review.unwrap().reason, ReviewReason::AttemptsSpent);
    assert_eq!(one_step(&worker).await.unwrap(), Step::Idle { wait: None });
}

#[tokio::test]
async fn what_is_wrong_with_an_answer_is_told_by_place() {
    let extra = GOOD.replace('{', &format!("{{\"{CANARY}\":\"{CANARY}\","));
    let twice = GOOD.replace('{', "{\"category\":\"spam\",");
    let fenced = format!("```json\n{}\n```", GOOD.replace("spam", "SPAM"));
    let half = format!("```json\n{GOOD}");
    for (answer, outcome, reason) in [
        (
            extra.as_str(),
            AttemptOutcome::SchemaInvalid,
            "the schema at /additionalProperties",
        ),
        (
            twice.as_str(),
            AttemptOutcome::SyntaxInvalid,
            "names a member twice",
        ),
        (
            fenced.as_str(),
            AttemptOutcome::SchemaInvalid,
            "/category/enum; the answer stood in a fence, which was taken away",
        ),
        (
            half.as_str(),
            AttemptOutcome::SyntaxInvalid,
            "not one JSON value: line 1, column 1",
        ),
        (CANARY, AttemptOutcome::SyntaxInvalid, "not one JSON value"),
        ("", AttemptOutcome::SyntaxInvalid, "empty"),
    ] {
        let mut rig = Rig::new().await;
        let worker = rig.worker().await;
        let key = rig.ingest("1").await;
        let (step, _) = rig.answered(&worker, answer).await;
        assert!(matches!(step, Step::Rejected { .. }), "{step:?}");
        let attempts = rig.attempts(key).await;
        assert_eq!(attempts[0].outcome, Some(outcome));
        assert_eq!(attempts[0].verdict, Some(outcome));
        assert_eq!(attempts[0].raw.as_deref(), Some(answer.as_bytes()));
        let told = attempts[0].reason.clone().unwrap();
        assert!(told.contains(reason), "{told}");

        // The next attempt can still make it good.
        assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
    }
}

#[tokio::test]
async fn a_fence_that_was_taken_away_is_told_by_the_attempt() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let fenced = format!("```json\n{GOOD}\n```");
    for (id, answer, reason) in [
        ("1", GOOD, None),
        (
            "2",
            &fenced,
            Some("the answer stood in a fence, which was taken away"),
        ),
    ] {
        let key = rig.ingest(id).await;
        assert_eq!(rig.answered(&worker, answer).await.0, Step::Committed(key));
        assert_eq!(rig.view(key).await.result.unwrap().value, GOOD);
        let attempts = rig.attempts(key).await;
        assert_eq!(attempts[0].reason.as_deref(), reason);
        assert_eq!(attempts[0].raw.as_deref(), Some(answer.as_bytes()));
    }
}

#[tokio::test]
async fn answers_are_kept_only_where_the_pipeline_says_so() {
    let mut rig = Rig::new().await;
    rig.pipeline.keep = Keep::Nothing;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    rig.answered(&worker, "nonsense").await;
    assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
    let attempts = rig.attempts(key).await;
    assert!(
        attempts.iter().all(|attempt| attempt.raw.is_none()),
        "{attempts:?}"
    );
}

#[tokio::test]
async fn what_a_report_or_an_answer_says_is_in_no_log_and_no_reason() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    for answer in [CANARY.to_owned(), format!("{{\"{CANARY}\":\"{CANARY}\"}}")] {
        rig.answered(&worker, &answer).await;
    }
    rig.answered(&worker, &GOOD.replace("0.9", "0.1")).await;
    for attempt in rig.attempts(key).await {
        assert!(!format!("{:?}", attempt.reason).contains(CANARY));
        assert!(!format!("{attempt:?}").contains(CANARY));
    }
    assert!(!format!("{:?}", rig.view(key).await).contains(CANARY));
    let logged = logged();
    assert!(logged.contains(&key.to_string()), "the log is recorded");
    assert!(!logged.contains(CANARY));
}
