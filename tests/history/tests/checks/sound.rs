//! Histories that are as they should be: each legal ending, and what leads there.

mod later;

use fencepost_history::{
    Acknowledgement, AttemptOutcome, DecisionKind, Ending, Finished, History, Terms, check,
};

use crate::story::{Story, TERMS, key};

fn assert_sound(history: &History, terms: &Terms) {
    let verdict = check(history, terms);
    assert!(verdict.is_sound(), "{}", verdict.explain(history, 1));
}

/// A story that may end here.
fn unfinished(tell: impl FnOnce(&mut Story, &str)) {
    let mut story = Story::default();
    let key = story.accept(1);
    tell(&mut story, &key);
    assert_sound(&story.history, &TERMS);
}

/// A story after which nothing is left to do.
fn finished(tell: impl FnOnce(&mut Story, &str)) {
    let mut story = Story::default();
    let key = story.accept(1);
    tell(&mut story, &key);
    let finished = Finished::Expected;
    assert_sound(&story.history, &Terms { finished, ..TERMS });
}

#[test]
fn nothing_happened() {
    assert_sound(&History::default(), &TERMS);
}

#[test]
fn a_run_may_end_anywhere() {
    unfinished(|_, _| {});
    unfinished(|story, key| story.grant(key));
    unfinished(|story, key| story.ask(key));
    unfinished(|story, key| {
        story.ask(key);
        story.reject(key, AttemptOutcome::SchemaInvalid);
    });
    unfinished(|story, key| {
        story.ask(key);
        story.give_back(key, AttemptOutcome::RateLimited);
    });
    unfinished(|story, key| {
        story.ask(key);
        story.grant(key);
    });
}

#[test]
fn an_answer_is_committed() {
    finished(|story, key| {
        story.ask(key);
        story.commit(key);
        story.acknowledge(key);
    });
}

#[test]
fn a_client_that_was_refused_was_promised_nothing() {
    finished(|story, first| {
        story.ask(first);
        story.commit(first);
        story.history.acknowledgements.push(Acknowledgement {
            key: key(2),
            status: 503,
            at_ms: 5,
        });
    });
}

#[test]
fn each_verdict_asks_a_new_question() {
    finished(|story, key| {
        story.ask(key);
        story.reject(key, AttemptOutcome::SyntaxInvalid);
        story.ask(key);
        story.reject(key, AttemptOutcome::Truncated);
        story.ask(key);
        story.commit(key);
    });
}

#[test]
fn a_lost_worker_and_its_successor_may_both_have_asked() {
    finished(|story, key| {
        story.ask(key);
        story.grant(key);
        story.call(key);
        story.call(key);
        // The first worker's, late; the other two are those of the second and the third.
        story.grant(key);
        story.commit(key);
    });
}

#[test]
fn a_stored_answer_is_committed_without_another_call() {
    finished(|story, key| {
        story.ask(key);
        story.grant(key);
        story.commit(key);
    });
}

#[test]
fn a_call_that_was_refused_is_given_back() {
    finished(|story, key| {
        for outcome in [AttemptOutcome::RateLimited, AttemptOutcome::Overloaded] {
            story.ask(key);
            story.give_back(key, outcome);
        }
        story.grant(key);
        story.give_back(key, AttemptOutcome::Released);
        story.ask(key);
        story.commit(key);
    });
}

#[test]
fn attempts_are_spent() {
    finished(|story, key| {
        story.ask(key);
        story.ask(key);
        story.ask(key);
        story.exhaust(key);
    });
    finished(|story, key| {
        for _ in 0..2 {
            story.ask(key);
            story.reject(key, AttemptOutcome::PolicyInvalid);
        }
        story.ask(key);
        story.reject_for_review(key, AttemptOutcome::PolicyInvalid);
    });
}

#[test]
fn time_is_over_before_any_grant() {
    finished(|story, key| story.exhaust(key));
}

#[test]
fn a_person_accepts_corrects_or_dismisses() {
    for kind in [
        DecisionKind::Accept,
        DecisionKind::Correct,
        DecisionKind::Dismiss,
    ] {
        finished(|story, key| {
            story.ask(key);
            story.commit_for_review(key);
            story.decide(key, kind);
        });
    }
}

#[test]
fn a_person_corrects_what_no_model_got_right() {
    finished(|story, key| {
        story.ask(key);
        story.reject_for_review(key, AttemptOutcome::Refused);
        story.decide(key, DecisionKind::Correct);
    });
}

#[test]
fn a_person_corrects_what_no_model_was_asked() {
    finished(|story, key| {
        story.exhaust(key);
        story.decide(key, DecisionKind::Correct);
    });
}

#[test]
fn a_person_decides_after_a_model_answered_again() {
    finished(|story, key| {
        story.ask(key);
        story.commit_for_review(key);
        story.decide(key, DecisionKind::Retry);
        story.ask(key);
        story.commit_for_review(key);
        story.decide(key, DecisionKind::Correct);
        story.history.results[0].attempt = None;
        story.history.results[0].token = 0;
    });
}

#[test]
fn of_the_versions_of_a_thing_one_is_current() {
    unfinished(|story, _| {
        for number in 2..=5 {
            story.accept(number);
        }
        let reports = &mut story.history.reports;
        let thing = reports[0].thing.clone();
        for (report, is_current) in reports
            .iter_mut()
            .zip([Some(false), Some(true), None, None])
        {
            report.is_current = is_current;
            report.thing.clone_from(&thing);
        }
        reports[4].is_current = Some(true);
    });
}

#[test]
fn a_person_asks_for_another_attempt() {
    finished(|story, key| {
        for _ in 0..3 {
            story.ask(key);
        }
        story.exhaust(key);
        story.decide(key, DecisionKind::Retry);
        for _ in 0..2 {
            story.ask(key);
        }
        story.commit_for_review(key);
        story.decide(key, DecisionKind::Retry);
        story.ask(key);
        story.commit_for_review(key);
        story.decide(key, DecisionKind::Accept);
    });
    unfinished(|story, key| {
        story.ask(key);
        story.commit_for_review(key);
        story.decide(key, DecisionKind::Retry);
    });
}

#[test]
fn tokens_reach_as_far_as_a_database_counts() {
    finished(|story, key| {
        story.history.reports[0].fence = i64::MAX - 2;
        story.ask(key);
        story.ask(key);
        story.commit(key);
    });
}

#[test]
fn reports_do_not_depend_on_each_other() {
    let mut story = Story::default();
    let keys: Vec<String> = (1..=20).map(|number| story.accept(number)).collect();
    for key in &keys {
        story.ask(key);
    }
    for (index, key) in keys.iter().enumerate() {
        match index % 4 {
            0 => story.commit(key),
            1 => story.reject(key, AttemptOutcome::SchemaInvalid),
            2 => story.commit_for_review(key),
            _ => story.ask(key),
        }
    }
    assert_sound(&story.history, &TERMS);
    let counts = check(&story.history, &TERMS).counts;
    assert_eq!(
        (counts.reports, counts.acknowledged, counts.grants),
        (20, 20, 25)
    );
    assert_eq!(
        (counts.charged, counts.lost, counts.model_calls),
        (25, 5, 25)
    );
    assert_eq!((counts.commits, counts.results, counts.finals), (10, 10, 5));
    assert_eq!(
        (counts.reviews, counts.open_reviews, counts.unfinished),
        (5, 5, 10)
    );
    assert_eq!((counts.events, counts.decisions), (30, 0));
    assert!(
        story
            .history
            .jobs
            .iter()
            .any(|job| job.ended(Ending::Committed))
    );
}

#[test]
fn a_story_is_told_in_order() {
    let mut story = Story::default();
    let key = story.accept(1);
    story.ask(&key);
    story.ask(&key);
    story.commit(&key);
    let told = story.history.describe(&key);
    let expected = format!(
        "report {key}: fence 2
         0 ms  event 1: report.accepted
        10 ms  a client is answered 202
        20 ms  attempt 1: job 1 granted under token 1
        30 ms  the model is asked question 1
        40 ms  attempt 1: lease_lost
        40 ms  attempt 2: job 1 granted under token 2
        50 ms  the model is asked question 1
        60 ms  attempt 2: committed
        60 ms  result schema-1, current, of attempt 2 under token 2
        60 ms  event 2: result.final
  job 1: terminal (committed), 2 grants, 2 charged, 0 given back
"
    );
    assert_eq!(told, expected);
}
