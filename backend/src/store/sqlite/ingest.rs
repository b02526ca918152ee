//! The ingress fence.

use std::sync::Arc;

use async_trait::async_trait;
use fencepost_identity::key::{InputHash, MappingDigest, ReportKey};
use sqlx::SqliteConnection;

use super::{
    classify::classify,
    record::{self, Announcement},
    row::Row,
    writer::{Tx, Write},
};
use crate::{
    report::{Event, State, Transition, transition},
    store::{Content, Ingested, NewReport, StoreError, sql},
};

/// Stores a report, its job and its event, or finds it.
#[derive(Clone)]
pub(super) struct Ingest {
    key: ReportKey,
    report: Arc<NewReport>,
}

/// What is stored under a report's key.
struct Known {
    input_hash: InputHash,
    state: State,
}

impl Ingest {
    pub(super) fn new(report: NewReport) -> Self {
        Self {
            key: report.identity.report_key(),
            report: Arc::new(report),
        }
    }

    /// Tells what can be told without writing anything.
    pub(super) async fn look(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Option<Ingested>, StoreError> {
        let Some(bound) = binding(connection, &self.report.source).await? else {
            return Ok(None);
        };
        if bound != self.report.mapping_digest {
            return Ok(Some(Ingested::MappingChanged { bound }));
        }
        let known = self.known(connection).await?;
        let same = known.filter(|known| known.input_hash == self.report.input_hash);
        Ok(same.map(|known| self.duplicate(&known, Content::Same)))
    }

    async fn known(&self, connection: &mut SqliteConnection) -> Result<Option<Known>, StoreError> {
        let known = sqlx::query(sql::KNOWN_REPORT).bind(self.key.as_bytes().as_slice());
        let Some(row) = known.fetch_optional(connection).await.map_err(classify)? else {
            return Ok(None);
        };
        let row = Row::new(&row, self.key);
        let input_hash = row.digest("report.input_hash", InputHash::from_bytes)?;
        Ok(Some(Known {
            input_hash,
            state: row.state()?,
        }))
    }

    fn duplicate(&self, known: &Known, content: Content) -> Ingested {
        Ingested::Duplicate {
            key: self.key,
            state: known.state,
            content,
        }
    }

    async fn record_conflict(&self, tx: &mut Tx<'_>) -> Result<Content, StoreError> {
        let conflict = sqlx::query(sql::RECORD_CONFLICT)
            .bind(self.key.as_bytes().as_slice())
            .bind(self.report.input_hash.as_bytes().as_slice())
            .bind(tx.now.get());
        let row = conflict
            .fetch_one(&mut *tx.connection)
            .await
            .map_err(classify)?;
        let seen = Row::new(&row, self.key).count("content_conflict.seen")?;
        Ok(Content::Conflict { seen })
    }

    async fn insert(&self, tx: &mut Tx<'_>, state: State) -> Result<(), StoreError> {
        let report = &*self.report;
        let key = self.key.as_bytes().as_slice();
        let links = serde_json::to_string(&report.links)
            .map_err(|error| StoreError::Fault(error.to_string()))?;
        let inserted = sqlx::query(sql::INSERT_REPORT)
            .bind(key)
            .bind(report.identity.tenant.as_str())
            .bind(report.identity.namespace.as_str())
            .bind(report.identity.report_id.as_str())
            .bind(report.identity.version.to_string())
            .bind(&report.source)
            .bind(&report.pipeline)
            .bind(report.mapping_digest.as_bytes().as_slice())
            .bind(&report.input)
            .bind(report.input_hash.as_bytes().as_slice())
            .bind(links)
            .bind(&report.order)
            .bind(tx.now.get());
        inserted
            .execute(&mut *tx.connection)
            .await
            .map_err(classify)?;
        let job = sqlx::query_scalar::<_, i64>(sql::INSERT_JOB)
            .bind(key)
            .bind(&report.pipeline)
            .bind(state.as_str())
            .bind(tx.now.get());
        let job = job.fetch_one(&mut *tx.connection).await.map_err(classify)?;
        let current = sqlx::query(sql::SET_CURRENT_JOB).bind(key).bind(job);
        current
            .execute(&mut *tx.connection)
            .await
            .map_err(classify)?;
        record::announce(tx, self.key, Announcement::Accepted).await
    }
}

#[async_trait]
impl Write for Ingest {
    type Done = Ingested;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Ingested, StoreError> {
        // Another may have come between the look and the right to write.
        match binding(tx.connection, &self.report.source).await? {
            Some(bound) if bound != self.report.mapping_digest => {
                return Ok(Ingested::MappingChanged { bound });
            }
            Some(_) => {}
            None => bind(tx, &self.report.source, &self.report.mapping_digest).await?,
        }
        let known = self.known(tx.connection).await?;
        match (
            transition(known.as_ref().map(|known| known.state), Event::Ingest),
            known,
        ) {
            (Transition::To(state), _) => {
                self.insert(tx, state).await?;
                Ok(Ingested::Accepted {
                    key: self.key,
                    state,
                })
            }
            (_, Some(known)) if known.input_hash == self.report.input_hash => {
                Ok(self.duplicate(&known, Content::Same))
            }
            (_, Some(known)) => {
                let conflict = self.record_conflict(tx).await?;
                Ok(self.duplicate(&known, conflict))
            }
            (_, None) => Err(StoreError::Fault(
                "a new report was not accepted".to_owned(),
            )),
        }
    }
}

/// The mapping that a source is bound to.
pub(super) async fn binding(
    connection: &mut SqliteConnection,
    source: &str,
) -> Result<Option<MappingDigest>, StoreError> {
    let bound = sqlx::query(sql::SOURCE_BINDING).bind(source.to_owned());
    let row = bound.fetch_optional(connection).await.map_err(classify)?;
    let digest = |row| {
        Row::new(&row, source).digest("source_binding.mapping_digest", MappingDigest::from_bytes)
    };
    row.map(digest).transpose()
}

/// Binds a source that is not bound yet.
pub(super) async fn bind(
    tx: &mut Tx<'_>,
    source: &str,
    digest: &MappingDigest,
) -> Result<(), StoreError> {
    let bind = sqlx::query(sql::BIND_SOURCE)
        .bind(source.to_owned())
        .bind(digest.as_bytes().as_slice())
        .bind(tx.now.get());
    bind.execute(&mut *tx.connection).await.map_err(classify)?;
    Ok(())
}
