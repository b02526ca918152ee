//! Another job for a report, under a version that it had no job of.

use async_trait::async_trait;
use fencepost_identity::key::{ClaimKey, ReportKey};

use super::{Operation, Tx, record::audit};
use crate::{
    failpoint::durable,
    report::{Event, Outcome, State, Transition, transition},
    store::{Replayed, StoreError, row::Row, session::statement, sql},
};

/// Has a report judged again. The report stays in its state until the job is granted, where its
/// current job was not finished, or settled.
pub(in crate::store) struct Replay {
    pub(in crate::store) key: ReportKey,
    pub(in crate::store) classifier_version: String,
    pub(in crate::store) who: String,
}

#[async_trait]
impl Operation for Replay {
    type Done = Replayed;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Replayed, StoreError> {
        let report = tx.lock(self.key).await?;
        let key = self.key.as_bytes();
        let look = statement(sql::REPLAYED_REPORT).bind(key);
        let Some(row) = tx.session().row(look).await? else {
            return Ok(Replayed::Unknown);
        };
        let row = Row::new(&row, self.key);
        if row.state()? == State::Terminal(Outcome::Erased) {
            return Ok(Replayed::Erased);
        }
        if report.is_superseded() {
            return Ok(Replayed::Superseded);
        }
        let pipeline = row.text("report.pipeline")?;
        let of_version = statement(sql::JOB_OF_VERSION)
            .bind(key)
            .bind(&self.classifier_version);
        if let Some(row) = tx.session().row(of_version).await? {
            let state = Row::new(&row, self.key).state()?;
            return Ok(Replayed::Already { state });
        }
        let unbound = statement(sql::UNBOUND_JOB).bind(key);
        if tx.session().row(unbound).await?.is_some() {
            return Ok(Replayed::Pending);
        }
        self.make(tx, pipeline).await?;
        durable!(tx, "replay");
        Ok(Replayed::Made)
    }
}

impl Replay {
    async fn make(&self, tx: &mut Tx<'_>, pipeline: String) -> Result<(), StoreError> {
        let Transition::To(state) = transition(None, Event::Ingest) else {
            return Err(StoreError::Fault("a new job was not accepted".to_owned()));
        };
        let claim_key = ClaimKey::of(&self.key, &self.classifier_version);
        let insert = statement(sql::INSERT_REPLAY)
            .bind(self.key.as_bytes())
            .bind(pipeline)
            .bind(&self.classifier_version)
            .bind(claim_key.as_bytes())
            .bind(state.as_str())
            .bind(tx.now.get());
        tx.session().execute(insert).await?;
        let detail = self.classifier_version.clone();
        audit(tx, &self.who, "report.replay", self.key, detail).await
    }
}
