//! The commit fence, and the other ways in which a holder settles its job.

use async_trait::async_trait;
use fencepost_identity::key::ResultKey;

use super::{
    Lane, Locked, Operation, Tx,
    current::{self, Voice},
    findings::{self, List},
    hold::{Standing, diagnose, fenced, standing},
    record::{self, Announcement, Ending, close_attempt, follow, open_review},
};
use crate::{
    clock::UnixMillis,
    failpoint::durable,
    report::{AttemptOutcome, Event, ReviewReason, State},
    store::{
        AfterRejection, Charge, Commit, Commitment, Lost, Rejected, Rejection, Release, Released,
        ReviewNeed, StoreError, lease::Hold, session::statement, sql,
    },
};

/// What a job is left as.
struct Settlement {
    state: State,
    due: UnixMillis,
    charge: Charge,
    outcome: AttemptOutcome,
}

/// Moves the job, if its lease stands; why not, if it doesn't.
async fn settle(
    tx: &mut Tx<'_>,
    hold: &Hold,
    settlement: Settlement,
) -> Result<Result<(), Lost>, StoreError> {
    let settle = fenced(sql::SETTLE, hold)
        .bind(settlement.state.as_str())
        .bind(settlement.state.outcome().map(|outcome| outcome.as_str()))
        .bind(settlement.due.get())
        .bind(match settlement.charge {
            Charge::Keep => 0_i64,
            Charge::GiveBack => 1,
        })
        .bind(i64::from(settlement.outcome.is_verdict()))
        .bind(tx.now.get());
    let settled = tx.session().execute(settle).await?;
    match settled {
        0 => diagnose(tx, hold).await.map(Err),
        _ => Ok(Ok(())),
    }
}

/// Whether another attempt may follow, counting `charge` as this one's.
fn attempts_are_spent(hold: &Hold, standing: &Standing, charge: Charge) -> bool {
    let given_back = match charge {
        Charge::Keep => standing.given_back,
        Charge::GiveBack => standing.given_back.saturating_add(1),
    };
    standing.charged.saturating_sub(given_back) >= budget(hold, standing)
}

/// How many charged attempts the job may have: as many again for each time that it was opened.
fn budget(hold: &Hold, standing: &Standing) -> u32 {
    hold.max_attempts.saturating_mul(standing.rounds)
}

/// What follows a job that can't go on: a person is asked, unless one has decided already.
fn ask(voice: Voice, need: ReviewNeed) -> (Event, Next) {
    match voice {
        Voice::Speaks => (Event::NeedReview, Next::Review(need)),
        Voice::Decided => (Event::Supersede, Next::Nothing),
    }
}

/// Commits a valid value.
pub(in crate::store) struct CommitJob {
    pub(in crate::store) hold: Hold,
    pub(in crate::store) value: Commitment,
}

impl CommitJob {
    async fn put_result(&self, tx: &mut Tx<'_>, result: ResultKey) -> Result<(), StoreError> {
        let hold = &self.hold;
        let report = hold.report.as_bytes();
        let key = result.as_bytes();
        let retire = statement(sql::RETIRE_RESULT)
            .bind(report)
            .bind(&hold.schema_version)
            .bind(tx.now.get());
        tx.session().execute(retire).await?;
        let put = statement(sql::PUT_RESULT)
            .bind(key)
            .bind(report)
            .bind(&hold.schema_version)
            .bind(&self.value.value)
            .bind(hold.token.stored())
            .bind(i64::from(hold.attempt.get()))
            .bind(tx.now.get());
        tx.session().execute(put).await?;
        let point = statement(sql::SET_CURRENT_RESULT)
            .bind(report)
            .bind(key)
            .bind(hold.token.stored());
        tx.session().execute(point).await?;
        let Some(findings) = &self.value.findings else {
            return Ok(());
        };
        let list = List {
            report: hold.report,
            result,
            token: hold.token,
            attempt: Some(hold.attempt),
        };
        findings::put(tx, list, findings).await
    }

    /// Keeps the value where it replaces nothing: a person has decided.
    async fn keep_candidate(&self, tx: &mut Tx<'_>, result: ResultKey) -> Result<(), StoreError> {
        let hold = &self.hold;
        let keep = statement(sql::KEEP_CANDIDATE)
            .bind(result.as_bytes())
            .bind(hold.report.as_bytes())
            .bind(&hold.schema_version)
            .bind(&self.value.value)
            .bind(hold.token.stored())
            .bind(i64::from(hold.attempt.get()))
            .bind(tx.now.get());
        tx.session().execute(keep).await?;
        Ok(())
    }

    /// What the job goes through.
    fn event(&self, report: &Locked, voice: Voice) -> Event {
        match (voice, &self.value.review) {
            // Nobody is asked about a version that is no longer current.
            (Voice::Speaks, Some(_)) if report.is_superseded() => Event::Supersede,
            (Voice::Speaks, Some(_)) => Event::NeedReview,
            (Voice::Speaks, None) | (Voice::Decided, _) => Event::Commit,
        }
    }
}

#[async_trait]
impl Operation for CommitJob {
    type Done = Commit;
    const LANE: Lane = Lane::Commit;

    fn rank(&self) -> [u8; 32] {
        *self.hold.report.as_bytes()
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Commit, StoreError> {
        let (key, job) = (self.hold.report, self.hold.job);
        let report = tx.lock(key).await?;
        let voice = current::voice(tx, key, &report, job).await?;
        let outcome = AttemptOutcome::Committed;
        let settlement = Settlement {
            state: follow(State::Running, self.event(&report, voice))?,
            due: tx.now,
            charge: Charge::Keep,
            outcome,
        };
        if let Err(lost) = settle(tx, &self.hold, settlement).await? {
            return Ok(Commit::Lost(lost));
        }
        let result = ResultKey::of(&self.hold.report, &self.hold.schema_version);
        match voice {
            Voice::Speaks => self.put_result(tx, result).await?,
            Voice::Decided => self.keep_candidate(tx, result).await?,
        }
        let call = self.value.call.as_ref();
        let ending = Ending {
            outcome,
            reason: self.value.remark.as_deref(),
            call,
            charge: Charge::Keep,
        };
        close_attempt(tx, &self.hold, ending).await?;
        durable!(tx, "commit");
        if voice == Voice::Decided {
            return Ok(Commit::Candidate(result));
        }
        current::take_over(tx, key, &report, job).await?;
        match &self.value.review {
            Some(_) if report.is_superseded() => Ok(Commit::Superseded(result)),
            Some(need) => {
                open_review(tx, key, need).await?;
                Ok(Commit::InReview(result))
            }
            None => {
                let told = Announcement::ResultFinal { result };
                record::announce(tx, key, told).await?;
                Ok(Commit::Final(result))
            }
        }
    }
}

/// Records that an attempt failed for good.
pub(in crate::store) struct RejectJob {
    pub(in crate::store) hold: Hold,
    pub(in crate::store) rejection: Rejection,
}

#[async_trait]
impl Operation for RejectJob {
    type Done = Rejected;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Rejected, StoreError> {
        let (key, job) = (self.hold.report, self.hold.job);
        let report = tx.lock(key).await?;
        let standing = match standing(tx, &self.hold).await? {
            Ok(standing) => standing,
            Err(lost) => return Ok(Rejected::Lost(lost)),
        };
        let voice = current::voice(tx, key, &report, job).await?;
        let spent = attempts_are_spent(&self.hold, &standing, Charge::Keep);
        let ((event, next), due) = match &self.rejection.next {
            _ if report.is_superseded() => ((Event::Supersede, Next::Nothing), tx.now),
            AfterRejection::Review(need) => (ask(voice, need.clone()), tx.now),
            AfterRejection::Again(_) if spent => {
                (ask(voice, ReviewReason::AttemptsSpent.into()), tx.now)
            }
            AfterRejection::Again(wait) => ((Event::Reject, Next::Again), tx.now.plus(*wait)),
        };
        let outcome = self.rejection.outcome;
        let settlement = Settlement {
            state: follow(State::Running, event)?,
            due,
            charge: Charge::Keep,
            outcome,
        };
        if let Err(lost) = settle(tx, &self.hold, settlement).await? {
            return Ok(Rejected::Lost(lost));
        }
        let ending = Ending {
            outcome,
            reason: self.rejection.reason.as_deref(),
            call: self.rejection.call.as_ref(),
            charge: Charge::Keep,
        };
        close_attempt(tx, &self.hold, ending).await?;
        durable!(tx, "reject");
        match next {
            Next::Nothing => Ok(Rejected::Superseded),
            Next::Review(need) => {
                current::take_over_and_ask(tx, key, &report, job, &need).await?;
                Ok(Rejected::SentToReview(need.reason))
            }
            Next::Again => Ok(Rejected::Again { due }),
        }
    }
}

/// What follows a job that was settled without a result.
enum Next {
    /// It is claimed again.
    Again,
    /// A person is asked.
    Review(ReviewNeed),
    /// Nothing: a newer version took the report's place, or a person has decided.
    Nothing,
}

/// Gives a lease back.
pub(in crate::store) struct ReleaseJob {
    pub(in crate::store) hold: Hold,
    pub(in crate::store) release: Release,
}

impl ReleaseJob {
    /// What the job goes through: all three lead to the same state, and are told apart in what is
    /// counted.
    fn event(&self) -> Event {
        let outcome = self.release.outcome;
        if matches!(outcome, AttemptOutcome::Auth | AttemptOutcome::Quota) {
            return Event::Pause;
        }
        if outcome.is_transient() {
            Event::Snooze
        } else {
            Event::Release
        }
    }

    /// An attempt is given back at most as often as there are attempts, so that a job can't go
    /// round for ever without being charged.
    fn charge(&self, standing: &Standing) -> Charge {
        match self.release.charge {
            Charge::GiveBack if standing.given_back < budget(&self.hold, standing) => {
                Charge::GiveBack
            }
            Charge::GiveBack | Charge::Keep => Charge::Keep,
        }
    }
}

#[async_trait]
impl Operation for ReleaseJob {
    type Done = Released;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Released, StoreError> {
        let (key, job) = (self.hold.report, self.hold.job);
        let report = tx.lock(key).await?;
        let standing = match standing(tx, &self.hold).await? {
            Ok(standing) => standing,
            Err(lost) => return Ok(Released::Lost(lost)),
        };
        let voice = current::voice(tx, key, &report, job).await?;
        let charge = self.charge(&standing);
        let (event, next) = if report.is_superseded() {
            (Event::Supersede, Next::Nothing)
        } else if attempts_are_spent(&self.hold, &standing, charge) {
            ask(voice, ReviewReason::AttemptsSpent.into())
        } else {
            (self.event(), Next::Again)
        };
        let outcome = self.release.outcome;
        let due = tx.now.plus(self.release.after);
        let settlement = Settlement {
            state: follow(State::Running, event)?,
            due,
            charge,
            outcome,
        };
        if let Err(lost) = settle(tx, &self.hold, settlement).await? {
            return Ok(Released::Lost(lost));
        }
        let ending = Ending {
            outcome,
            reason: self.release.reason.as_deref(),
            call: self.release.call.as_ref(),
            charge,
        };
        close_attempt(tx, &self.hold, ending).await?;
        durable!(tx, "release");
        match next {
            Next::Nothing => Ok(Released::Superseded),
            Next::Review(need) => {
                current::take_over_and_ask(tx, key, &report, job, &need).await?;
                Ok(Released::SentToReview(need.reason))
            }
            Next::Again => Ok(Released::Rescheduled { due, charge }),
        }
    }
}
