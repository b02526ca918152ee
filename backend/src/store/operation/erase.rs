//! Erasure: what a report was is gone; that it was there is not.

use async_trait::async_trait;
use fencepost_identity::key::ReportKey;

use super::{Operation, Tx, current, record::audit};
use crate::{
    failpoint::durable,
    report::{Outcome, State},
    store::{Erasure, StoreError, session::statement, sql},
};

/// Erases a report. Its key is kept, so that a redelivery is still a duplicate; its token is
/// raised, so that who works on it can write no more.
pub(in crate::store) struct Erase {
    pub(in crate::store) key: ReportKey,
    pub(in crate::store) who: String,
}

/// What is ended, and when.
const ENDED: [&str; 4] = [
    sql::ERASE_JOBS,
    sql::LOSE_ATTEMPT,
    sql::ERASE_RESULTS,
    sql::ERASE_REVIEW,
];

/// What is only emptied.
const EMPTIED: [&str; 5] = [
    sql::ERASE_FINDINGS,
    sql::ERASE_ATTEMPTS,
    sql::ERASE_DECISIONS,
    sql::ERASE_EVENTS,
    sql::ERASE_CONFLICTS,
];

#[async_trait]
impl Operation for Erase {
    type Done = Erasure;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Erasure, StoreError> {
        tx.lock(self.key).await?;
        match current::state(tx, self.key).await {
            Ok(None) => return Ok(Erasure::Unknown),
            Ok(Some(State::Terminal(Outcome::Erased))) => return Ok(Erasure::Already),
            // From any state, also from one that can't be understood.
            Ok(Some(_)) | Err(StoreError::Corrupt(_)) => {}
            Err(error) => return Err(error),
        }
        let key = self.key.as_bytes();
        let report = statement(sql::ERASE_REPORT)
            .bind(key)
            .bind(&Vec::new())
            .bind(&[0_u8; 32]);
        tx.session().execute(report).await?;
        for end in ENDED {
            let end = statement(end).bind(key).bind(tx.now.get());
            tx.session().execute(end).await?;
        }
        for empty in EMPTIED {
            let empty = statement(empty).bind(key);
            tx.session().execute(empty).await?;
        }
        audit(tx, &self.who, "report.erase", self.key, String::new()).await?;
        durable!(tx, "erase");
        Ok(Erasure::Erased)
    }
}
