//! The claim fence.

use async_trait::async_trait;
use sqlx::Executor;

use super::{
    candidate::{self, Candidate, Place},
    classify::classify,
    dialect,
    record::{follow, open_review},
    writer::{Tx, Write},
};
use crate::{
    report::{Event, ReviewReason, State},
    store::{
        Claim, ClaimRequest, Corruption, Grant, Lease, PipelineTerms, StoreError, lease::Hold, sql,
    },
};

/// Grants the job that is due longest.
pub(super) struct ClaimJob(pub(super) ClaimRequest);

#[async_trait]
impl Write for ClaimJob {
    type Done = Claim;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Claim, StoreError> {
        let mut first: Option<(Place, &PipelineTerms)> = None;
        for terms in &self.0.pipelines {
            let Some(place) = candidate::first(tx, terms).await? else {
                continue;
            };
            match first {
                Some((earlier, _)) if earlier.due <= place.due => {}
                Some(_) | None => first = Some((place, terms)),
            }
        }
        let Some((place, terms)) = first else {
            return Ok(Claim::Idle { wait: None });
        };
        if let Some(due) = place.due.filter(|due| *due > tx.now) {
            return Ok(Claim::Idle {
                wait: Some(due.since(tx.now)),
            });
        }
        let candidate = match candidate::load(tx, place.job, terms).await {
            Ok(candidate) => candidate,
            Err(StoreError::Corrupt(corruption)) => {
                return set_aside(tx, place.job, corruption.to_string(), corruption).await;
            }
            Err(error) => return Err(error),
        };
        tx.connection
            .execute(dialect::MARK)
            .await
            .map_err(classify)?;
        match self.take(tx, candidate, terms).await {
            // Some other row stands in the way of this job, and would at each try.
            Err(StoreError::Contradiction(what)) => {
                tx.connection
                    .execute(dialect::BACK_TO_MARK)
                    .await
                    .map_err(classify)?;
                let key = format!("job {}", place.job);
                let corruption = Corruption {
                    table: "job",
                    column: "job_id",
                    key,
                };
                set_aside(tx, place.job, what, corruption).await
            }
            taken => taken,
        }
    }
}

impl ClaimJob {
    async fn take(
        &self,
        tx: &mut Tx<'_>,
        candidate: Candidate,
        terms: &PipelineTerms,
    ) -> Result<Claim, StoreError> {
        raise_fence(tx, &candidate).await?;
        if candidate.charged.saturating_sub(candidate.given_back) >= terms.max_attempts {
            end(tx, &candidate, ReviewReason::AttemptsSpent).await?;
            return Ok(Claim::Exhausted(candidate.report));
        }
        if tx.now.since(candidate.elapsed_from) >= terms.max_elapsed {
            end(tx, &candidate, ReviewReason::Elapsed).await?;
            return Ok(Claim::Elapsed(candidate.report));
        }
        self.grant(tx, candidate, terms).await
    }

    async fn grant(
        &self,
        tx: &mut Tx<'_>,
        candidate: Candidate,
        terms: &PipelineTerms,
    ) -> Result<Claim, StoreError> {
        let report = candidate.report.as_bytes().as_slice();
        let supersede = sqlx::query(sql::SUPERSEDE_LIVE_JOB)
            .bind(report)
            .bind(candidate.job)
            .bind(tx.now.get());
        supersede
            .execute(&mut *tx.connection)
            .await
            .map_err(classify)?;
        let until = tx.now.plus(terms.lease);
        follow(candidate.state, granting(candidate.state))?;
        let grant = sqlx::query(sql::GRANT_JOB)
            .bind(candidate.job)
            .bind(candidate.state.as_str())
            .bind(candidate.token.stored())
            .bind(self.0.nonce.as_bytes().as_slice())
            .bind(self.0.worker.as_str())
            .bind(until.get())
            .bind(&terms.classifier_version)
            .bind(candidate.claim_key.as_bytes().as_slice())
            .bind(tx.now.get());
        changed(
            grant
                .execute(&mut *tx.connection)
                .await
                .map_err(classify)?
                .rows_affected(),
        )?;
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
        let report = candidate.report.as_bytes().as_slice();
        let number = sqlx::query(sql::NUMBER_ATTEMPT)
            .bind(report)
            .bind(candidate.token.stored());
        changed(
            number
                .execute(&mut *tx.connection)
                .await
                .map_err(classify)?
                .rows_affected(),
        )?;
        let open = sqlx::query(sql::INSERT_ATTEMPT)
            .bind(report)
            .bind(i64::from(candidate.attempt.get()))
            .bind(candidate.job)
            .bind(self.0.worker.as_str())
            .bind(candidate.token.stored())
            .bind(&terms.classifier_version)
            .bind(&terms.schema_version)
            .bind(tx.now.get());
        open.execute(&mut *tx.connection).await.map_err(classify)?;
        Ok(())
    }
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
    let report = candidate.report.as_bytes().as_slice();
    let raise = sqlx::query(sql::RAISE_FENCE)
        .bind(report)
        .bind(candidate.fence.stored());
    changed(
        raise
            .execute(&mut *tx.connection)
            .await
            .map_err(classify)?
            .rows_affected(),
    )?;
    let lose = sqlx::query(sql::LOSE_ATTEMPT)
        .bind(report)
        .bind(tx.now.get());
    lose.execute(&mut *tx.connection).await.map_err(classify)?;
    Ok(())
}

/// Sends a job to review instead of granting it: nothing may be called for it any more.
async fn end(
    tx: &mut Tx<'_>,
    candidate: &Candidate,
    reason: ReviewReason,
) -> Result<(), StoreError> {
    let spent = reason == ReviewReason::AttemptsSpent && candidate.state != State::Accepted;
    follow(
        candidate.state,
        if spent {
            Event::NeedReview
        } else {
            Event::Elapse
        },
    )?;
    let end = sqlx::query(sql::END_JOB)
        .bind(candidate.job)
        .bind(candidate.state.as_str())
        .bind(candidate.token.stored())
        .bind(tx.now.get());
    changed(
        end.execute(&mut *tx.connection)
            .await
            .map_err(classify)?
            .rows_affected(),
    )?;
    open_review(tx, candidate.report, &reason.into()).await
}

async fn set_aside(
    tx: &mut Tx<'_>,
    job: i64,
    why: String,
    corruption: Corruption,
) -> Result<Claim, StoreError> {
    let aside = sqlx::query(sql::SET_ASIDE).bind(job).bind(why);
    aside.execute(&mut *tx.connection).await.map_err(classify)?;
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
