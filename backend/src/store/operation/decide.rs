//! What a reviewer decides.

use async_trait::async_trait;
use fencepost_identity::key::{ReportKey, ResultKey};

use super::{
    Operation, Tx, bind,
    findings::{self, List},
    record::{Announcement, announce, audit, follow},
    version::close_review,
};
use crate::{
    failpoint::durable,
    report::{Event, FencingToken, Outcome, State},
    store::{
        Correction, Decided, Decision, DecisionKind, ReviewStatus, StoreError, VersionKind,
        row::Row, session::statement, sql,
    },
};

/// Decides about a report that waits for a person.
pub(in crate::store) struct Decide {
    pub(in crate::store) key: ReportKey,
    pub(in crate::store) decision: Decision,
}

/// What is asked, and of which job.
struct Question {
    job: i64,
    fence: FencingToken,
    result: Option<ResultKey>,
    pipeline: String,
}

#[async_trait]
impl Operation for Decide {
    type Done = Decided;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Decided, StoreError> {
        tx.lock(self.key).await?;
        let question = match self.question(tx).await? {
            Ok(question) => question,
            Err(none) => return Ok(none),
        };
        let state = match &self.decision.kind {
            DecisionKind::Accept => {
                let Some(result) = question.result else {
                    return Ok(Decided::NothingToAccept);
                };
                announce(tx, self.key, Announcement::ResultFinal { result }).await?;
                self.rest(tx, &question, Event::Decide).await?
            }
            DecisionKind::Correct(correction) => {
                if !self.fits(tx, &question, correction).await? {
                    return Ok(Decided::OtherSchema);
                }
                let result = self.correct(tx, &question, correction).await?;
                announce(tx, self.key, Announcement::ResultFinal { result }).await?;
                self.rest(tx, &question, Event::Decide).await?
            }
            DecisionKind::Dismiss => self.rest(tx, &question, Event::Dismiss).await?,
            DecisionKind::Retry => self.retry(tx, &question).await?,
        };
        close_review(tx, self.key).await?;
        self.record(tx).await?;
        durable!(tx, "decision");
        Ok(Decided::Decided { state })
    }
}

impl Decide {
    /// What is asked, if it is what the reviewer saw.
    async fn question(&self, tx: &mut Tx<'_>) -> Result<Result<Question, Decided>, StoreError> {
        let look = statement(sql::REVIEW_ITEM).bind(self.key.as_bytes());
        let Some(row) = tx.session().row(look).await? else {
            return Ok(Err(Decided::Unknown));
        };
        let row = Row::new(&row, self.key);
        let state = row.state()?;
        let status = row.word_or_none("review.status")?;
        let revision = row.count_or_none("review.revision")?;
        let (State::ReadyForReview, Some(ReviewStatus::Open), Some(revision)) =
            (state, status, revision)
        else {
            return Ok(Err(Decided::NotInReview { state }));
        };
        if revision != self.decision.revision_seen {
            return Ok(Err(Decided::Stale { revision }));
        }
        Ok(Ok(Question {
            job: row.number("job.job_id")?,
            fence: row.stored("report.fence", FencingToken::from_stored)?,
            result: row.digest_or_none("report.current_result", ResultKey::from_bytes)?,
            pipeline: row.text("report.pipeline")?,
        }))
    }

    /// Brings the job to rest.
    async fn rest(
        &self,
        tx: &mut Tx<'_>,
        question: &Question,
        event: Event,
    ) -> Result<State, StoreError> {
        let next = follow(State::ReadyForReview, event)?;
        let rest = statement(sql::REST_REVIEWED_JOB)
            .bind(question.job)
            .bind(next.as_str())
            .bind(next.outcome().map(Outcome::as_str))
            .bind(tx.now.get());
        tx.session().execute(rest).await?;
        Ok(next)
    }

    /// Whether the version that the value was held to stands for what it is bound to: else what it
    /// lists would be kept under other keys than before.
    async fn fits(
        &self,
        tx: &mut Tx<'_>,
        question: &Question,
        correction: &Correction,
    ) -> Result<bool, StoreError> {
        let version = (
            question.pipeline.as_str(),
            correction.schema_version.as_str(),
        );
        let digest = &correction.schema_digest;
        bind::holds_for(tx, VersionKind::Schema, version, digest).await
    }

    /// Makes what the reviewer wrote the report's result.
    async fn correct(
        &self,
        tx: &mut Tx<'_>,
        question: &Question,
        correction: &Correction,
    ) -> Result<ResultKey, StoreError> {
        let key = self.key.as_bytes();
        let Correction {
            value,
            findings,
            schema_version,
            ..
        } = correction;
        let result = ResultKey::of(&self.key, schema_version);
        let retire = statement(sql::RETIRE_RESULT)
            .bind(key)
            .bind(schema_version.to_owned())
            .bind(tx.now.get());
        tx.session().execute(retire).await?;
        let put = statement(sql::PUT_CORRECTION)
            .bind(result.as_bytes())
            .bind(key)
            .bind(schema_version.to_owned())
            .bind(value.to_owned())
            .bind(question.fence.stored())
            .bind(tx.now.get());
        tx.session().execute(put).await?;
        let point = statement(sql::SET_CURRENT_RESULT)
            .bind(key)
            .bind(result.as_bytes())
            .bind(question.fence.stored());
        tx.session().execute(point).await?;
        if let Some(findings) = findings {
            let list = List {
                report: self.key,
                result,
                token: question.fence,
                attempt: None,
            };
            findings::put(tx, list, findings).await?;
        }
        Ok(result)
    }

    /// Opens the job again, unless another job of the report is under way: that one is the other
    /// attempt then, and the report is in its state.
    async fn retry(&self, tx: &mut Tx<'_>, question: &Question) -> Result<State, StoreError> {
        let under_way = statement(sql::JOB_UNDER_WAY).bind(self.key.as_bytes());
        if let Some(row) = tx.session().row(under_way).await? {
            let row = Row::new(&row, self.key);
            let (job, state) = (row.number("job.job_id")?, row.state()?);
            self.rest(tx, question, Event::Supersede).await?;
            let point = statement(sql::SET_CURRENT_JOB)
                .bind(self.key.as_bytes())
                .bind(job);
            tx.session().execute(point).await?;
            return Ok(state);
        }
        let next = follow(State::ReadyForReview, Event::AskAgain)?;
        let reopen = statement(sql::REOPEN_JOB)
            .bind(question.job)
            .bind(next.as_str())
            .bind(tx.now.get());
        tx.session().execute(reopen).await?;
        Ok(next)
    }

    async fn record(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let decision = &self.decision;
        let kind = decision.kind.as_str();
        let revision = decision.revision_seen;
        let value = match &decision.kind {
            DecisionKind::Correct(correction) => Some(correction.value.as_str()),
            DecisionKind::Accept | DecisionKind::Dismiss | DecisionKind::Retry => None,
        };
        let insert = statement(sql::INSERT_DECISION)
            .bind(self.key.as_bytes())
            .bind(i64::try_from(revision).unwrap_or(i64::MAX))
            .bind(&decision.who)
            .bind(&decision.why)
            .bind(kind.to_owned())
            .bind(value)
            .bind(tx.now.get());
        tx.session().execute(insert).await?;
        // The reason may speak of the report, so it stands in the decision alone.
        let detail = format!("{kind}, revision {revision}");
        audit(tx, &decision.who, "report.decide", self.key, detail).await
    }
}
