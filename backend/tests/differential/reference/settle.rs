//! Rules 4, 7 and 8: how a holder settles its job, conditional on its token.

use fencepost::{
    report::{AttemptOutcome, Outcome, ReviewReason, State},
    store::{
        AfterRejection, CallRecord, Charge, Commit, Commitment, Rejected, Rejection, Release,
        Released, ResultView, ReviewNeed,
    },
};
use fencepost_identity::key::ResultKey;

use super::{Reference, Told, claim::Hold};

/// How an attempt ended.
struct Ending {
    outcome: AttemptOutcome,
    reason: Option<String>,
    call: Option<CallRecord>,
    charge: Charge,
}

impl Reference {
    /// One row per report and schema version, whatever is run twice.
    pub(crate) fn commit(&mut self, hold: &Hold, value: Commitment) -> Commit {
        if let Err(lost) = self.stands(hold) {
            return Commit::Lost(lost);
        }
        let ending = Ending {
            outcome: AttemptOutcome::Committed,
            reason: value.remark,
            call: value.call,
            charge: Charge::Keep,
        };
        self.end_attempt(hold, ending);
        let key = ResultKey::of(&hold.report, &hold.schema_version);
        self.put_result(hold, key, value.value);
        if let Some(findings) = value.findings {
            self.put_list(hold, key, findings);
        }
        self.take_over(hold.job);
        match value.review {
            Some(_) if self.is_superseded(hold.report) => {
                self.move_job(hold.job, State::Terminal(Outcome::Superseded));
                Commit::Superseded(key)
            }
            Some(need) => {
                self.send_to_review(hold, &need);
                Commit::InReview(key)
            }
            None => {
                self.move_job(hold.job, State::Terminal(Outcome::Committed));
                self.tell_final(hold, key);
                Commit::Final(key)
            }
        }
    }

    fn put_result(&mut self, hold: &Hold, key: ResultKey, value: String) {
        let now = self.now;
        let report = self.of(hold.report);
        let before = report.results.get(&hold.schema_version);
        let created = before.map_or(now, |before| before.created);
        let result = ResultView {
            key,
            schema_version: hold.schema_version.clone(),
            value,
            attempt: Some(hold.attempt),
            candidate: None,
            created,
        };
        report.results.insert(hold.schema_version.clone(), result);
        report.canonical = Some(hold.schema_version.clone());
    }

    /// A result is final once.
    fn tell_final(&mut self, hold: &Hold, result: ResultKey) {
        let events = &mut self.of(hold.report).events;
        let told = |event: &Told| matches!(event, Told::Final { result: told } if *told == result);
        if !events.iter().any(told) {
            events.push(Told::Final { result });
        }
    }

    pub(crate) fn reject(&mut self, hold: &Hold, rejection: Rejection) -> Rejected {
        if let Err(lost) = self.stands(hold) {
            return Rejected::Lost(lost);
        }
        let ending = Ending {
            outcome: rejection.outcome,
            reason: rejection.reason,
            call: rejection.call,
            charge: Charge::Keep,
        };
        self.end_attempt(hold, ending);
        if self.is_superseded(hold.report) {
            self.move_job(hold.job, State::Terminal(Outcome::Superseded));
            return Rejected::Superseded;
        }
        let need = match rejection.next {
            AfterRejection::Again(wait) if !self.is_spent(hold) => {
                let due = self.now.plus(wait);
                self.jobs[hold.job].due = due;
                self.move_job(hold.job, State::ValidationRejected);
                return Rejected::Again { due };
            }
            AfterRejection::Again(_) => ReviewReason::AttemptsSpent.into(),
            AfterRejection::Review(need) => need,
        };
        self.send_to_review(hold, &need);
        Rejected::SentToReview(need.reason)
    }

    pub(crate) fn release(&mut self, hold: &Hold, release: Release) -> Released {
        if let Err(lost) = self.stands(hold) {
            return Released::Lost(lost);
        }
        let job = &mut self.jobs[hold.job];
        // A charge is given back at most as often as there are attempts.
        let charge = match release.charge {
            Charge::GiveBack if job.given_back < job.budget(hold.max_attempts) => {
                job.given_back += 1;
                Charge::GiveBack
            }
            Charge::GiveBack | Charge::Keep => Charge::Keep,
        };
        let ending = Ending {
            outcome: release.outcome,
            reason: release.reason,
            call: release.call,
            charge,
        };
        self.end_attempt(hold, ending);
        if self.is_superseded(hold.report) {
            self.move_job(hold.job, State::Terminal(Outcome::Superseded));
            return Released::Superseded;
        }
        if self.is_spent(hold) {
            let need = ReviewNeed::from(ReviewReason::AttemptsSpent);
            self.send_to_review(hold, &need);
            return Released::SentToReview(need.reason);
        }
        let due = self.now.plus(release.after);
        self.jobs[hold.job].due = due;
        self.move_job(hold.job, State::Accepted);
        Released::Rescheduled { due, charge }
    }

    fn is_spent(&self, hold: &Hold) -> bool {
        let job = &self.jobs[hold.job];
        job.charged - job.given_back >= job.budget(hold.max_attempts)
    }

    fn send_to_review(&mut self, hold: &Hold, need: &ReviewNeed) {
        self.move_job(hold.job, State::ReadyForReview);
        self.take_over(hold.job);
        self.open_review(hold.report, need);
    }

    /// Closes an attempt. A verdict is recorded with the answer that it is about, too.
    fn end_attempt(&mut self, hold: &Hold, ending: Ending) {
        let now = self.now;
        let verdict = Some(ending.outcome).filter(|outcome| outcome.is_verdict());
        for attempt in &mut self.of(hold.report).attempts {
            let attempt = &mut attempt.view;
            let own = attempt.number == hold.attempt;
            if own {
                attempt.outcome = Some(ending.outcome);
                attempt.ended = Some(now);
                attempt.reason.clone_from(&ending.reason);
                attempt.charged = ending.charge == Charge::Keep;
                attempt.call = ending.call.clone().or(attempt.call.take());
            }
            if own || attempt.call_key == Some(hold.call_key) {
                attempt.verdict = attempt.verdict.or(verdict);
            }
        }
        self.jobs[hold.job].verdicts += u32::from(verdict.is_some());
    }
}
