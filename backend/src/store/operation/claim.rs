//! The claim fence.

use async_trait::async_trait;

use super::{
    Locked, Operation, Tx,
    candidate::{self, Candidate},
    current::{self, Voice},
    pause::{self, Gate, Opens},
    record::follow,
    turn,
};
use crate::{
    failpoint::durable,
    report::{Event, Outcome, ReviewReason, State, VersionStatus},
    store::{
        Claim, ClaimRequest, Corruption, Grant, Lease, PipelineTerms, StoreError, Subject,
        lease::Hold, session::statement, sql,
    },
};

/// Grants a job that is due, whose turn it is.
pub(in crate::store) struct ClaimJob(pub(in crate::store) ClaimRequest);

#[async_trait]
impl Operation for ClaimJob {
    type Done = Claim;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Claim, StoreError> {
        let Self(ClaimRequest {
            pipelines, turns, ..
        }) = self;
        let paused = pause::all(tx).await?;
        let (mut due, mut later) = (Vec::new(), Vec::new());
        for terms in pipelines {
            let gate = Gate::of(&paused, terms);
            let Some(mut first) = candidate::first(tx, terms).await? else {
                continue;
            };
            match gate.opens() {
                Opens::Free => {}
                Opens::At(probe) => first.due = first.due.max(Some(probe)),
                Opens::Never => continue,
            }
            match first.due {
                Some(at) if at > tx.now => later.push(at),
                Some(_) | None => due.push((first, terms, gate)),
            }
        }
        due.sort_by_key(|(first, terms, _)| (turns.last(&terms.pipeline), first.due));
        for (first, terms, gate) in due {
            let Some(probe) = gate.pass(tx).await? else {
                continue;
            };
            let place = turn::next(tx, terms, first, turns).await?;
            // Others may be at work on it, where several may write at once.
            let claim = match candidate::lock(tx, &place, terms).await? {
                Some(job) => Some(self.take(tx, job, terms).await?),
                None => None,
            };
            let tried = |subject: &Subject| {
                let claim = claim.as_ref();
                claim.is_some_and(|claim| claim.tries(subject, terms))
            };
            probe.give_back_unless(tx, tried).await?;
            if let Some(claim) = claim {
                return Ok(claim);
            }
        }
        let wait = later.into_iter().min().map(|at| at.since(tx.now));
        Ok(Claim::Idle { wait })
    }
}

impl ClaimJob {
    async fn take(
        &self,
        tx: &mut Tx<'_>,
        job: i64,
        terms: &PipelineTerms,
    ) -> Result<Claim, StoreError> {
        let candidate = match candidate::load(tx, job, terms).await {
            Ok(candidate) => candidate,
            Err(StoreError::Corrupt(corruption)) => {
                return set_aside(tx, job, corruption.to_string(), corruption).await;
            }
            Err(error) => return Err(error),
        };
        tx.session().run(sql::MARK).await?;
        match self.grant_or_end(tx, candidate, terms).await {
            // Some other row stands in the way of this job, and would at each try.
            Err(StoreError::Contradiction(what)) => {
                tx.session().run(sql::BACK_TO_MARK).await?;
                let key = format!("job {job}");
                let corruption = Corruption {
                    table: "job",
                    column: "job_id",
                    key,
                };
                set_aside(tx, job, what, corruption).await
            }
            Err(error) => Err(error),
            Ok(claim) => {
                tx.session().run(sql::DROP_MARK).await?;
                Ok(claim)
            }
        }
    }

    async fn grant_or_end(
        &self,
        tx: &mut Tx<'_>,
        candidate: Candidate,
        terms: &PipelineTerms,
    ) -> Result<Claim, StoreError> {
        raise_fence(tx, &candidate).await?;
        current::cut_off_others(tx, candidate.report, candidate.job).await?;
        if candidate.version == Some(VersionStatus::Superseded) {
            end(tx, &candidate, Event::Supersede).await?;
            return Ok(Claim::Superseded(candidate.report));
        }
        let budget = terms.max_attempts.saturating_mul(candidate.rounds);
        if candidate.charged.saturating_sub(candidate.given_back) >= budget {
            return send_to_review(tx, &candidate, ReviewReason::AttemptsSpent).await;
        }
        if time_is_over(tx, &candidate, terms).await? {
            return send_to_review(tx, &candidate, ReviewReason::Elapsed).await;
        }
        self.grant(tx, candidate, terms).await
    }

    async fn grant(
        &self,
        tx: &mut Tx<'_>,
        candidate: Candidate,
        terms: &PipelineTerms,
    ) -> Result<Claim, StoreError> {
        let until = tx.now.plus(terms.lease);
        follow(candidate.state, granting(candidate.state))?;
        let grant = statement(sql::GRANT_JOB)
            .bind(candidate.job)
            .bind(candidate.state.as_str())
            .bind(candidate.token.stored())
            .bind(self.0.nonce.as_bytes())
            .bind(self.0.worker.as_str())
            .bind(until.get())
            .bind(&terms.classifier_version)
            .bind(candidate.claim_key.as_bytes())
            .bind(tx.now.get());
        changed(tx.session().execute(grant).await?)?;
        self.open_attempt(tx, &candidate, terms).await?;
        let hold = Hold {
            job: candidate.job,
            report: candidate.report,
            token: candidate.token,
            nonce: self.0.nonce,
            attempt: candidate.attempt,
            call_key: candidate.call_key,
            classifier_version: terms.classifier_version.clone(),
            schema_version: terms.schema_version.clone(),
            max_attempts: terms.max_attempts,
            subjects: terms.subjects(),
        };
        Ok(Claim::Granted(Box::new(Grant {
            lease: Lease {
                hold,
                until,
                length: terms.lease,
            },
            identity: candidate.identity,
            source: candidate.source,
            pipeline: terms.pipeline.clone(),
            input: candidate.input,
            unfetched: candidate.unfetched,
            stored: candidate.stored,
            last_verdict: candidate.history.last_verdict,
            failures: candidate.history.failures,
        })))
    }

    async fn open_attempt(
        &self,
        tx: &mut Tx<'_>,
        candidate: &Candidate,
        terms: &PipelineTerms,
    ) -> Result<(), StoreError> {
        let report = candidate.report.as_bytes();
        let number = statement(sql::NUMBER_ATTEMPT)
            .bind(report)
            .bind(candidate.token.stored());
        changed(tx.session().execute(number).await?)?;
        let open = statement(sql::INSERT_ATTEMPT)
            .bind(report)
            .bind(i64::from(candidate.attempt.get()))
            .bind(candidate.job)
            .bind(self.0.worker.as_str())
            .bind(candidate.token.stored())
            .bind(&terms.pipeline)
            .bind(&terms.classifier_version)
            .bind(&terms.schema_version)
            .bind(tx.now.get());
        tx.session().execute(open).await?;
        Ok(())
    }
}

/// Whether a job has had its time, which does not pass while what it depends on is paused.
async fn time_is_over(
    tx: &mut Tx<'_>,
    candidate: &Candidate,
    terms: &PipelineTerms,
) -> Result<bool, StoreError> {
    let from = candidate.elapsed_from;
    let elapsed = tx.now.since(from);
    if elapsed < terms.max_elapsed {
        return Ok(false);
    }
    let standstill = pause::standstill(tx, terms, from).await?;
    Ok(elapsed.saturating_sub(standstill) >= terms.max_elapsed)
}

/// A lease that ran out is taken over; a waiting job is granted.
fn granting(state: State) -> Event {
    if state == State::Running {
        Event::Takeover
    } else {
        Event::Grant
    }
}

/// Raises the report's token and closes the attempt that this cuts off, if there is one.
async fn raise_fence(tx: &mut Tx<'_>, candidate: &Candidate) -> Result<(), StoreError> {
    let report = candidate.report.as_bytes();
    let raise = statement(sql::RAISE_FENCE)
        .bind(report)
        .bind(candidate.fence.stored());
    changed(tx.session().execute(raise).await?)?;
    durable!(tx, if candidate.state == State::Running => "takeover", else "claim");
    let lose = statement(sql::LOSE_ATTEMPT).bind(report).bind(tx.now.get());
    tx.session().execute(lose).await?;
    Ok(())
}

/// Sends a job to review instead of granting it: nothing may be called for it any more. Where a
/// person has decided already, nobody is asked again.
async fn send_to_review(
    tx: &mut Tx<'_>,
    candidate: &Candidate,
    reason: ReviewReason,
) -> Result<Claim, StoreError> {
    let (report, job) = (candidate.report, candidate.job);
    let locked = Locked {
        version: candidate.version,
        current_job: None,
    };
    match current::voice(tx, report, &locked, job).await? {
        Voice::Decided => {
            end(tx, candidate, Event::Supersede).await?;
            return Ok(Claim::Superseded(report));
        }
        Voice::Speaks => {}
    }
    let spent = reason == ReviewReason::AttemptsSpent;
    let event = if spent && candidate.state != State::Accepted {
        Event::NeedReview
    } else {
        Event::Elapse
    };
    end(tx, candidate, event).await?;
    current::take_over_and_ask(tx, report, &locked, job, &reason.into()).await?;
    Ok(if spent {
        Claim::Exhausted(report)
    } else {
        Claim::Elapsed(report)
    })
}

/// Moves a job on instead of granting it.
async fn end(tx: &mut Tx<'_>, candidate: &Candidate, event: Event) -> Result<(), StoreError> {
    let next = follow(candidate.state, event)?;
    let end = statement(sql::END_JOB)
        .bind(candidate.job)
        .bind(candidate.state.as_str())
        .bind(candidate.token.stored())
        .bind(tx.now.get())
        .bind(next.as_str())
        .bind(next.outcome().map(Outcome::as_str));
    changed(tx.session().execute(end).await?)
}

async fn set_aside(
    tx: &mut Tx<'_>,
    job: i64,
    why: String,
    corruption: Corruption,
) -> Result<Claim, StoreError> {
    let aside = statement(sql::SET_ASIDE).bind(job).bind(why);
    tx.session().execute(aside).await?;
    Ok(Claim::SetAside(corruption))
}

/// The transaction read the row before, and holds the right to write: it can't have changed.
fn changed(rows: u64) -> Result<(), StoreError> {
    match rows {
        0 => Err(StoreError::Fault(
            "a row changed under a transaction that held it".to_owned(),
        )),
        _ => Ok(()),
    }
}
