//! A report judged again by what its pipeline is now: its last answer, without a call, as long as
//! the model would be asked in the same way; else by a worker, which asks anew.

mod difference;

use std::fmt;

use fencepost_identity::key::ReportKey;

pub use self::difference::Change;
use crate::{
    clock::UnixMillis,
    judge::{Answer, Judge, Judgement},
    report::{AttemptNumber, State},
    store::{
        Corruption, KeptAnswer, LastAnswer, PastVerdict, Replayed, ReportView, ResultView,
        ReviewView, Store, StoreError,
    },
};

/// A pipeline as it is configured now.
#[derive(Clone, Copy, Debug)]
pub struct Present<'a> {
    /// What a model would be asked under.
    pub classifier_version: &'a str,
    /// What the schema is called.
    pub schema_version: &'a str,
    /// What an answer is judged by.
    pub judge: &'a Judge,
}

/// What a replay came to.
#[derive(Debug)]
pub enum Replay {
    /// The last answer was judged again. Nothing was written.
    Judged(Box<Again>),
    /// The report was asked about under this version, and no answer of it is left.
    NothingKept {
        /// When the last one was emptied, if that is what became of it.
        emptied: Option<UnixMillis>,
    },
    /// A worker judges it, has judged it, or never will.
    Job(Replayed),
}

/// An answer that was judged before and is judged now.
pub struct Again {
    /// The attempt that brought the answer.
    pub attempt: AttemptNumber,
    /// The report's state.
    pub state: State,
    /// The verdict on the answer; none as long as nobody has judged it.
    pub then: Option<PastVerdict>,
    /// The report's result: of this answer, of another, or a person's.
    pub result: Option<ResultView>,
    /// Whether a person is or was asked about the report.
    pub review: Option<ReviewView>,
    /// What the answer is worth now.
    pub now: Judgement,
    /// From the result to the value that the answer has now; none where it has none.
    pub changes: Vec<Change>,
}

impl fmt::Debug for Again {
    /// Leaves values out: they may hold prose about the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Again")
            .field("attempt", &self.attempt)
            .field("then", &self.then)
            .field("now", &self.now)
            .field("changes", &self.changes.len())
            .finish_non_exhaustive()
    }
}

/// Judges a report's last answer of the present classifier version again, or has a job of that
/// version made where there was none. `who` is who meant it, for the audit of the job; a look is
/// not recorded.
///
/// # Errors
/// The database failed, or a row of the report can't be understood.
pub async fn replay(
    store: &dyn Store,
    report: ReportView,
    present: Present<'_>,
    who: String,
) -> Result<Replay, StoreError> {
    let key = report.summary.key;
    let version = || present.classifier_version.to_owned();
    let emptied = match store.last_answer(key, version()).await? {
        Some(LastAnswer::Kept(answer)) => {
            let again = judge_again(report, *answer, present)?;
            return Ok(Replay::Judged(Box::new(again)));
        }
        Some(LastAnswer::Emptied { at }) => Some(at),
        None => None,
    };
    let replayed = store.replay(key, version(), who).await?;
    let is_done = matches!(
        replayed,
        Replayed::Already {
            state: State::ReadyForReview | State::Terminal(_)
        }
    );
    Ok(if is_done {
        Replay::NothingKept { emptied }
    } else {
        Replay::Job(replayed)
    })
}

fn judge_again(
    report: ReportView,
    answer: KeptAnswer,
    present: Present<'_>,
) -> Result<Again, StoreError> {
    let now = present.judge.judge(Answer {
        text: &String::from_utf8_lossy(&answer.raw),
        call_key: answer.call_key,
        input: &answer.input,
    });
    let result = report.result;
    let changes = match &now {
        Judgement::Valid { value, .. } => {
            let then = result.as_ref().map(|result| result.value.as_str());
            let unreadable = |_| unreadable(report.summary.key);
            let input = &answer.input;
            difference::between(present.judge, input, then, value).map_err(unreadable)?
        }
        Judgement::Invalid { .. } => Vec::new(),
    };
    Ok(Again {
        attempt: answer.attempt,
        state: report.summary.state,
        then: answer.verdict,
        result,
        review: report.review,
        now,
        changes,
    })
}

fn unreadable(key: ReportKey) -> StoreError {
    StoreError::Corrupt(Corruption {
        table: "result",
        column: "value",
        key: key.to_string(),
    })
}
