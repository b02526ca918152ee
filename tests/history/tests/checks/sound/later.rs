//! What may happen to a report that had come to rest.

use fencepost_history::{AttemptOutcome, DecisionKind};

use super::{assert_sound, finished, unfinished};
use crate::story::{OTHER_CLASSIFIER, OTHER_SCHEMA, TERMS, attempt, job};

#[test]
fn a_list_is_replaced_by_another() {
    finished(|story, key| {
        story.ask(key);
        story.commit_list(key, &["a", "b"]);
        story.replay(key, OTHER_CLASSIFIER);
        story.ask(key);
        story.commit_list(key, &["c", "b"]);
        story.replay(key, OTHER_SCHEMA);
        story.ask(key);
        story.commit_list(key, &[]);
    });
}

#[test]
fn a_person_replaces_a_list() {
    finished(|story, key| {
        story.ask(key);
        story.reject_for_review(key, AttemptOutcome::Refused);
        story.correct_list(key, &["a"]);
    });
}

#[test]
fn a_list_is_erased() {
    finished(|story, key| {
        story.ask(key);
        story.commit_list(key, &["a"]);
        story.erase(key);
    });
}

#[test]
fn a_replay_has_a_job_of_its_own() {
    for versions in [OTHER_CLASSIFIER, OTHER_SCHEMA] {
        finished(|story, key| {
            story.ask(key);
            story.commit(key);
            story.replay(key, versions);
            story.ask(key);
            story.commit(key);
        });
        finished(|story, key| {
            story.ask(key);
            story.replay(key, versions);
            story.ask(key);
            story.commit(key);
        });
        unfinished(|story, key| {
            story.ask(key);
            story.commit(key);
            story.replay(key, versions);
            story.ask(key);
        });
    }
}

#[test]
fn a_replay_of_the_same_job_gives_it_another_budget() {
    finished(|story, key| {
        story.ask(key);
        story.commit(key);
        for _ in 0..3 {
            story.ask(key);
        }
        story.commit(key);
        job(&mut story.history, key).rounds = 2;
    });
}

#[test]
fn what_a_person_decided_stays_when_a_machine_commits_again() {
    for kind in [
        DecisionKind::Accept,
        DecisionKind::Correct,
        DecisionKind::Dismiss,
    ] {
        finished(|story, key| {
            story.ask(key);
            story.commit_for_review(key);
            story.decide(key, kind);
            let decided = story.history.results.clone();
            story.replay(key, OTHER_CLASSIFIER);
            story.ask(key);
            story.commit(key);
            story.history.results = decided;
            story.history.results[0].candidate_attempt = Some(2);
            assert_sound(&story.history, &TERMS);
            story.erase(key);
            story.history.results[0].candidate_attempt = None;
        });
    }
}

#[test]
fn a_newer_version_takes_the_place_at_any_time() {
    finished(|story, key| story.supersede(key));
    finished(|story, key| {
        story.ask(key);
        story.supersede(key);
    });
    finished(|story, key| {
        story.ask(key);
        story.commit_for_review(key);
        story.supersede(key);
    });
    finished(|story, key| {
        story.ask(key);
        story.commit(key);
        story.supersede(key);
    });
}

#[test]
fn a_report_is_erased_at_any_time() {
    finished(|story, key| story.erase(key));
    finished(|story, key| {
        story.ask(key);
        story.erase(key);
    });
    finished(|story, key| {
        story.ask(key);
        story.commit_for_review(key);
        story.erase(key);
    });
    finished(|story, key| {
        story.ask(key);
        story.commit_for_review(key);
        story.decide(key, DecisionKind::Correct);
        story.erase(key);
    });
}

#[test]
fn an_erased_report_may_have_lost_its_result() {
    finished(|story, key| {
        story.ask(key);
        story.commit(key);
        story.erase(key);
        story.history.results.clear();
        story.history.reports[0].current_result = None;
    });
}

#[test]
fn an_erased_event_may_not_say_of_what_it_tells() {
    finished(|story, key| {
        story.ask(key);
        story.commit(key);
        story.erase(key);
        for event in &mut story.history.events {
            event.result = None;
        }
    });
}

#[test]
fn a_replay_may_be_granted_in_the_moment_of_the_commit() {
    finished(|story, key| {
        story.ask(key);
        story.commit(key);
        story.replay(key, OTHER_CLASSIFIER);
        story.ask(key);
        story.commit(key);
        let granted = attempt(&mut story.history, key, 2).started_ms;
        attempt(&mut story.history, key, 1).ended_ms = Some(granted);
    });
}
