//! Histories that must fail: each is sound but for one thing, and exactly that is found.

mod calls;
mod commits;
mod endings;
mod findings;
mod grants;
mod reviews;

use std::collections::BTreeSet;

use fencepost_history::{Attempt, AttemptOutcome, History, Terms, Violation, check};

use crate::story::{Story, TERMS, attempt, key, report};

/// A story of two reports, of which only the first is touched.
fn told(tell: impl FnOnce(&mut Story, &str)) -> (History, String) {
    let mut story = Story::default();
    let key = story.accept(1);
    let other = story.accept(2);
    story.ask(&other);
    tell(&mut story, &key);
    let verdict = check(&story.history, &TERMS);
    assert!(
        verdict.is_sound(),
        "before it is broken: {}",
        verdict.explain(&story.history, 1)
    );
    (story.history, key)
}

fn committed(story: &mut Story, key: &str) {
    story.ask(key);
    story.commit(key);
}

fn in_review(story: &mut Story, key: &str) {
    story.ask(key);
    story.commit_for_review(key);
}

/// Breaks a story and says what must be found, and found alone.
fn broken(
    tell: impl FnOnce(&mut Story, &str),
    sabotage: impl FnOnce(&mut History, &str),
    expected: impl FnOnce(String) -> Violation,
) -> Violation {
    let (mut history, key) = told(tell);
    sabotage(&mut history, &key);
    found(&history, &TERMS, expected(key))
}

fn found(history: &History, terms: &Terms, expected: Violation) -> Violation {
    let verdict = check(history, terms);
    let found = verdict.violations.as_slice();
    assert_eq!(
        found,
        std::slice::from_ref(&expected),
        "{}",
        verdict.explain(history, 1)
    );
    let line = expected.to_string();
    assert!(!line.contains('\n'), "{line}");
    if let Some(report) = expected.report() {
        assert!(line.contains(report), "{line}");
    }
    expected
}

/// The attempts, jobs and so on of a report, gone.
fn without(history: &mut History, key: &str) {
    history.reports.retain(|row| row.key != key);
    history.jobs.retain(|row| row.report != key);
    history.attempts.retain(|row| row.report != key);
    history.results.retain(|row| row.report != key);
    history.findings.retain(|row| row.report != key);
    history.reviews.retain(|row| row.report != key);
    history.decisions.retain(|row| row.report != key);
    history.events.retain(|row| row.report != key);
}

fn promises() -> Vec<Violation> {
    vec![
        broken(
            |story, key| story.acknowledge(key),
            without,
            |report| Violation::Lost { report, times: 2 },
        ),
        broken(
            |_, _| {},
            |history, _| history.reports.push(history.reports[0].clone()),
            |report| Violation::ReportTwice { report, rows: 2 },
        ),
        broken(
            in_review,
            |history, _| {
                let mut stray = history.reviews[0].clone();
                stray.report = key(9);
                history.reviews.push(stray);
            },
            |_| Violation::Orphan {
                report: key(9),
                what: "a review item".to_owned(),
            },
        ),
        broken(
            |story, _| {
                let other = story.accept(3);
                report(&mut story.history, &other).is_current = Some(true);
            },
            |history, key| {
                let thing = history.reports.last().unwrap().thing.clone();
                let version = report(history, key);
                version.is_current = Some(true);
                version.thing = thing;
            },
            |report| Violation::CurrentVersions {
                report,
                versions: 2,
            },
        ),
        broken(
            |_, _| {},
            |history, key| report(history, key).current_job = Some(2),
            |report| Violation::NoCurrentJob { report },
        ),
    ]
}

macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        const KINDS: &[&str] = &[$(stringify!($kind)),*];

        fn kind(violation: &Violation) -> &'static str {
            match violation {
                $(Violation::$kind { .. } => stringify!($kind),)*
            }
        }
    };
}
kinds!(
    Lost,
    ReportTwice,
    Orphan,
    CurrentVersions,
    NoCurrentJob,
    AttemptNumbers,
    TokenDidNotGrow,
    FenceBehind,
    OpenAttempt,
    NoOpenAttempt,
    Miscounted,
    TooManyCharged,
    TooManyGivenBack,
    CallWithoutGrant,
    MoreCallsThanGrants,
    ResultKeyTwice,
    SchemaVersionTwice,
    CurrentTwice,
    CurrentElsewhere,
    SettledWithoutResult,
    CommitWithoutResult,
    ResultOfNoCommit,
    CandidateOfNoCommit,
    StaleResult,
    CommittedUnderOldToken,
    WentOn,
    ResultAndUnfinished,
    FindingTwice,
    FindingOfNoResult,
    FindingNotListed,
    WithdrawnYetListed,
    FindingsMissing,
    FindingOfNoCommit,
    FindingPositions,
    WithdrawalUntold,
    WithdrawalOfNothing,
    ResultAndOpenReview,
    ReviewMissing,
    ReviewForNothing,
    OpenReviews,
    Revision,
    DecisionNumbers,
    DecisionOnNothing,
    EventNumbers,
    AcceptedAnnounced,
    FinalTwice,
    FinalMissing,
    FinalOfNothing,
    ErasedAndUnfinished,
    Unfinished,
    SetAside,
);

#[test]
fn each_thing_that_is_broken_is_found_and_nothing_else() {
    let all = [
        promises(),
        grants::all(),
        calls::all(),
        commits::all(),
        findings::all(),
        reviews::all(),
        endings::all(),
    ];
    let found: BTreeSet<&str> = all.iter().flatten().map(kind).collect();
    let kinds: BTreeSet<&str> = KINDS.iter().copied().collect();
    assert_eq!(found, kinds, "a violation that no history shows");
}

#[test]
fn a_zombie_that_commits_after_a_takeover_is_found() {
    let (mut history, key) = told(|story, key| {
        story.ask(key);
        story.grant(key);
        story.commit(key);
    });
    let newer = commits::late(&mut history, &key);
    let zombie: &mut Attempt = attempt(&mut history, &key, 1);
    zombie.outcome = Some(AttemptOutcome::Committed);
    let verdict = check(&history, &TERMS);
    assert_eq!(
        verdict.violations,
        [
            Violation::CommittedUnderOldToken {
                report: key.clone(),
                attempt: 1,
                newer: 2,
            },
            Violation::WentOn {
                report: key.clone(),
                attempt: 1,
                next: 2,
            },
        ]
    );
    let text = verdict.explain(&history, 1);
    assert!(text.starts_with("2 violations in 2 reports"), "{text}");
    assert_eq!(
        text.matches(&format!("report {key}: fence 2\n")).count(),
        1,
        "{text}"
    );
    assert!(
        text.contains(&format!("{:>8} ms  attempt 1: committed", newer + 1 - 10)),
        "{text}"
    );
}
