//! Every model call belongs to a grant.
//!
//! A grant asks at most one question, the `n`th of its job, where `n` is one more than the verdicts
//! before it; the call key follows from report, classifier version and `n`. So of each call key
//! there may be as many calls as there are grants of that report, under that version, with that
//! `n`. A grant that was given back counts too, since a model that refuses a call has been called,
//! except if it was `released`: that is said of one whose worker stopped before it asked.
//!
//! This holds of erased and superseded reports as well. It compares numbers, not times: the model
//! has a clock of its own.

use std::collections::BTreeMap;

use fencepost_identity::key::{CallKey, ClaimKey, ReportKey};

use super::case::Case;
use crate::{
    rows::{Attempt, History},
    violation::Violation,
    words::AttemptOutcome,
};

/// The grants that may have asked one question.
struct Grants<'a> {
    report: &'a str,
    grants: i64,
}

pub(super) fn check(
    history: &History,
    cases: &BTreeMap<&str, Case<'_>>,
    found: &mut Vec<Violation>,
) {
    let mut calls = BTreeMap::<&str, i64>::new();
    for call in &history.model_calls {
        *calls.entry(&call.call_key).or_default() += 1;
    }
    if calls.is_empty() {
        return;
    }
    let grants = grants(cases);
    for (call_key, calls) in calls {
        let call_key = call_key.to_owned();
        match grants.get(&call_key) {
            None => found.push(Violation::CallWithoutGrant { call_key, calls }),
            Some(Grants { report, grants }) if calls > *grants => {
                found.push(Violation::MoreCallsThanGrants {
                    report: (*report).to_owned(),
                    call_key,
                    calls,
                    grants: *grants,
                });
            }
            Some(_) => {}
        }
    }
}

/// How many grants may have asked each question.
fn grants<'a>(cases: &BTreeMap<&'a str, Case<'a>>) -> BTreeMap<String, Grants<'a>> {
    let mut grants = BTreeMap::new();
    for (report, case) in cases {
        // A key that is none has no calls either.
        let Ok(key) = report.parse::<ReportKey>() else {
            continue;
        };
        for job in &case.jobs {
            for (attempt, question) in questions(case.attempts_of(job)) {
                let claim = ClaimKey::of(&key, &attempt.classifier_version);
                let call = CallKey::of(&claim, question).to_string();
                let of_call = grants.entry(call).or_insert(Grants { report, grants: 0 });
                of_call.grants += i64::from(may_have_asked(attempt));
            }
        }
    }
    grants
}

/// The attempts of a job, each with the number of the question that it may ask.
pub(crate) fn questions<'a>(
    attempts: impl Iterator<Item = &'a Attempt>,
) -> impl Iterator<Item = (&'a Attempt, u32)> {
    attempts.scan(1, |question: &mut u32, attempt| {
        let asks = *question;
        let judged = attempt.outcome.is_some_and(AttemptOutcome::is_verdict);
        *question = question.saturating_add(u32::from(judged));
        Some((attempt, asks))
    })
}

fn may_have_asked(attempt: &Attempt) -> bool {
    attempt.charged || attempt.outcome != Some(AttemptOutcome::Released)
}
