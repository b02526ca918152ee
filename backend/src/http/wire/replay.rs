//! What a replay came to, as a document.

use fencepost_identity::key::ReportKey;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{ResultWire, ReviewWire};
use crate::{
    judge::Judgement,
    replay::{Again, Change},
    report::{AttemptNumber, AttemptOutcome, Outcome, ReviewReason, State},
};

/// What a replay came to.
#[derive(Debug, Serialize)]
pub struct ReplayWire {
    report_key: ReportKey,
    /// What the job is bound to, or what the answer was asked for under.
    classifier_version: String,
    replay: ReplayWord,
    /// The state of that version's job; the report's, where an answer was judged again.
    state: &'static str,
    outcome: Option<Outcome>,
    /// Null where a job does it.
    judged: Option<JudgedWire>,
}

/// What a replay came to, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayWord {
    /// The last answer was judged again; nothing was written.
    Judged,
    /// A job was made.
    Made,
    /// There was one of that version, which is not done.
    Already,
    /// One waits that will have the version.
    Pending,
}

/// An answer, judged before and now.
#[derive(Debug, Serialize)]
struct JudgedWire {
    /// The one that brought the answer.
    attempt: AttemptNumber,
    then: ThenWire,
    now: NowWire,
    /// From `then.result.value` to `now.value`, member by member.
    changes: Vec<ChangeWire>,
}

#[derive(Debug, Serialize)]
struct ThenWire {
    /// `valid`, or how it was not; null as long as nobody has judged it.
    outcome: Option<&'static str>,
    reason: Option<String>,
    schema_version: Option<String>,
    /// The report's result; it may be of another answer, or a person's.
    result: Option<ResultWire>,
    review: Option<ReviewWire>,
}

#[derive(Debug, Serialize)]
struct NowWire {
    /// `valid`, or how it is not.
    outcome: &'static str,
    reason: Option<String>,
    schema_version: String,
    /// Null where the answer would not be taken.
    value: Option<Box<RawValue>>,
    /// Why a person would be asked; null where nobody would.
    review: Option<NeedWire>,
}

#[derive(Debug, Serialize)]
struct NeedWire {
    reason: ReviewReason,
    note: String,
}

#[derive(Debug, Serialize)]
struct ChangeWire {
    pointer: String,
    change: &'static str,
    then: Option<Box<RawValue>>,
    now: Option<Box<RawValue>>,
}

impl ReplayWire {
    /// A report, the version, what came of it and the state of the job.
    #[must_use]
    pub fn new(
        report_key: ReportKey,
        classifier_version: String,
        replay: ReplayWord,
        state: State,
    ) -> Self {
        Self {
            report_key,
            classifier_version,
            replay,
            state: state.as_str(),
            outcome: state.outcome(),
            judged: None,
        }
    }

    /// A report whose answer was judged again, by the schema of this version.
    #[must_use]
    pub fn judged(
        report_key: ReportKey,
        classifier_version: String,
        again: Again,
        schema_version: &str,
    ) -> Self {
        let (state, word) = (again.state, ReplayWord::Judged);
        Self {
            judged: Some(JudgedWire::new(again, schema_version)),
            ..Self::new(report_key, classifier_version, word, state)
        }
    }
}

impl JudgedWire {
    fn new(again: Again, schema_version: &str) -> Self {
        let then = again.then.as_ref();
        Self {
            attempt: again.attempt,
            then: ThenWire {
                outcome: then.map(|then| verdict_word(then.outcome)),
                reason: then.and_then(|then| then.reason.clone()),
                schema_version: then.map(|then| then.schema_version.clone()),
                result: again.result.map(ResultWire::from),
                review: again.review.map(ReviewWire::from),
            },
            now: NowWire::new(again.now, schema_version.to_owned()),
            changes: again.changes.into_iter().map(ChangeWire::from).collect(),
        }
    }
}

/// An answer's verdict, in a word: what attempts call committed is an answer that was valid.
#[must_use]
pub fn verdict_word(outcome: AttemptOutcome) -> &'static str {
    if outcome == AttemptOutcome::Committed {
        "valid"
    } else {
        outcome.as_str()
    }
}

impl NowWire {
    fn new(now: Judgement, schema_version: String) -> Self {
        match now {
            Judgement::Valid {
                value,
                doubt,
                remark,
                ..
            } => Self {
                outcome: verdict_word(AttemptOutcome::Committed),
                reason: remark,
                schema_version,
                value: RawValue::from_string(value).ok(),
                review: doubt.map(|note| NeedWire {
                    reason: ReviewReason::Policy,
                    note,
                }),
            },
            Judgement::Invalid { outcome, reason } => Self {
                outcome: verdict_word(outcome),
                reason: Some(reason),
                schema_version,
                value: None,
                review: None,
            },
        }
    }
}

impl From<Change> for ChangeWire {
    fn from(change: Change) -> Self {
        let value = |text: Option<String>| text.and_then(|text| RawValue::from_string(text).ok());
        Self {
            change: change.word(),
            pointer: change.pointer,
            then: value(change.then),
            now: value(change.now),
        }
    }
}
