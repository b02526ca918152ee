//! The ingress fence.

use std::sync::Arc;

use async_trait::async_trait;
use fencepost_identity::key::{InputHash, MappingDigest, ReportKey};

use super::{
    Lane, Operation, Reading, Tx,
    record::{self, Announcement},
    version,
};
use crate::{
    failpoint::durable,
    report::{Event, InputOrigin, Outcome, State, Transition, VersionStatus, transition},
    store::{
        Content, Ingested, NewInput, NewReport, StoreError,
        row::Row,
        session::{Session, statement},
        sql,
    },
};

/// Stores a report, its job and its event, or finds it.
#[derive(Clone)]
pub(in crate::store) struct Ingest {
    key: ReportKey,
    report: Arc<NewReport>,
}

/// Tells what can be told of a delivery without writing anything: a duplicate that brings nothing
/// new.
pub(in crate::store) struct Look(pub(in crate::store) Ingest);

/// What is stored under a report's key.
struct Known {
    origin: InputOrigin,
    input_hash: InputHash,
    state: State,
}

impl Ingest {
    pub(in crate::store) fn new(report: NewReport) -> Self {
        Self {
            key: report.identity.report_key(),
            report: Arc::new(report),
        }
    }

    async fn known(&self, session: &mut Session<'_>) -> Result<Option<Known>, StoreError> {
        let known = statement(sql::KNOWN_REPORT).bind(self.key.as_bytes());
        let Some(row) = session.row(known).await? else {
            return Ok(None);
        };
        let row = Row::new(&row, self.key);
        let input_hash = row.digest("report.input_hash", InputHash::from_bytes)?;
        Ok(Some(Known {
            origin: row.word("report.input_from")?,
            input_hash,
            state: row.state()?,
        }))
    }

    /// Whether it brings nothing new. Of an erased report nobody can tell any more: it is a
    /// duplicate, whatever it brings. A reference has no content that could be compared.
    fn is_same(&self, known: &Known) -> bool {
        let erased = known.state == State::Terminal(Outcome::Erased);
        match (known.origin, &self.report.input) {
            (InputOrigin::Forwarded, Some(input)) => erased || known.input_hash == input.hash,
            (InputOrigin::Reference | InputOrigin::Fetched, _) | (_, None) => true,
        }
    }

    fn duplicate(&self, known: &Known, content: Content) -> Ingested {
        Ingested::Duplicate {
            key: self.key,
            state: known.state,
            content,
        }
    }

    async fn record_conflict(
        &self,
        tx: &mut Tx<'_>,
        content: InputHash,
    ) -> Result<Content, StoreError> {
        let conflict = statement(sql::RECORD_CONFLICT)
            .bind(self.key.as_bytes())
            .bind(content.as_bytes())
            .bind(tx.now.get());
        let row = tx.session().one(conflict).await?;
        let seen = Row::new(&row, self.key).count("content_conflict.seen")?;
        Ok(Content::Conflict { seen })
    }

    /// Stores it, unless another was first: it may be stored between the look and this, which waits
    /// for the other's commit then.
    async fn insert(&self, tx: &mut Tx<'_>, state: State) -> Result<First, StoreError> {
        let report = &*self.report;
        let key = self.key.as_bytes();
        let links = serde_json::to_string(&report.links)
            .map_err(|error| StoreError::Fault(error.to_string()))?;
        let (origin, NewInput { canonical, hash }) = match report.input.clone() {
            Some(input) => (InputOrigin::Forwarded, input),
            None => (InputOrigin::Reference, NewInput::none_yet()),
        };
        let insert = statement(sql::INSERT_REPORT)
            .bind(key)
            .bind(report.identity.tenant.as_str())
            .bind(report.identity.namespace.as_str())
            .bind(report.identity.report_id.as_str())
            .bind(report.identity.version.to_string())
            .bind(&report.source)
            .bind(&report.pipeline)
            .bind(report.mapping_digest.as_bytes())
            .bind(&canonical)
            .bind(hash.as_bytes())
            .bind(links)
            .bind(&report.order)
            .bind(tx.now.get())
            .bind(origin.as_str());
        if tx.session().execute(insert).await? == 0 {
            return Ok(First::No);
        }
        let job = statement(sql::INSERT_JOB)
            .bind(key)
            .bind(&report.pipeline)
            .bind(report.identity.tenant.as_str())
            .bind(state.as_str())
            .bind(tx.now.get());
        let job = tx.session().one(job).await?;
        let job = Row::new(&job, self.key).number("job.job_id")?;
        let current = statement(sql::SET_CURRENT_JOB).bind(key).bind(job);
        tx.session().execute(current).await?;
        record::announce(tx, self.key, Announcement::Accepted).await?;
        durable!(tx, "ingest");
        let Some(order) = &report.order else {
            return Ok(First::Yes(state));
        };
        match version::place(tx, self.key, &report.identity, order).await? {
            VersionStatus::Current => Ok(First::Yes(state)),
            // It came late: stored, and never worked on.
            VersionStatus::Superseded => {
                version::supersede(tx, self.key).await?;
                Ok(First::Yes(State::Terminal(Outcome::Superseded)))
            }
        }
    }

    /// What the source is bound to, which is this report's mapping if it was bound to none.
    async fn bind(&self, tx: &mut Tx<'_>) -> Result<MappingDigest, StoreError> {
        let (source, digest) = (&self.report.source, self.report.mapping_digest);
        if let Some(bound) = binding(tx.session(), source).await? {
            return Ok(bound);
        }
        bind(tx, source, &digest).await?;
        // Another may have bound it at the same moment, and been first.
        let bound = binding(tx.session(), source).await?;
        bound.ok_or_else(|| StoreError::Fault("a source was bound to nothing".to_owned()))
    }
}

/// Whether a report was the first of its key.
enum First {
    /// It is stored, in this state.
    Yes(State),
    No,
}

#[async_trait]
impl Reading for Look {
    type Found = Option<Ingested>;

    async fn run(&self, session: &mut Session<'_>) -> Result<Option<Ingested>, StoreError> {
        let Self(ingest) = self;
        let Some(bound) = binding(session, &ingest.report.source).await? else {
            return Ok(None);
        };
        if bound != ingest.report.mapping_digest {
            return Ok(Some(Ingested::MappingChanged { bound }));
        }
        let known = ingest.known(session).await?;
        let same = known.filter(|known| ingest.is_same(known));
        Ok(same.map(|known| ingest.duplicate(&known, Content::Same)))
    }
}

#[async_trait]
impl Operation for Ingest {
    type Done = Ingested;
    const LANE: Lane = Lane::Ingest;

    fn rank(&self) -> [u8; 32] {
        match self.report.order {
            Some(_) => version::thing(&self.report.identity),
            None => *self.key.as_bytes(),
        }
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Ingested, StoreError> {
        let bound = self.bind(tx).await?;
        if bound != self.report.mapping_digest {
            return Ok(Ingested::MappingChanged { bound });
        }
        if self.report.order.is_some() {
            tx.lock_thing(version::thing(&self.report.identity)).await?;
        }
        let mut known = self.known(tx.session()).await?;
        if known.is_none() {
            let Transition::To(state) = transition(None, Event::Ingest) else {
                return Err(StoreError::Fault(
                    "a new report was not accepted".to_owned(),
                ));
            };
            match self.insert(tx, state).await? {
                First::Yes(state) => {
                    let key = self.key;
                    return Ok(Ingested::Accepted { key, state });
                }
                First::No => known = self.known(tx.session()).await?,
            }
        }
        match known {
            Some(known) => {
                let other = self.report.input.as_ref().filter(|_| !self.is_same(&known));
                let content = match other {
                    Some(other) => self.record_conflict(tx, other.hash).await?,
                    None => Content::Same,
                };
                Ok(self.duplicate(&known, content))
            }
            None => Err(StoreError::Fault("a report came and went".to_owned())),
        }
    }
}

/// The mapping that a source is bound to.
pub(super) async fn binding(
    session: &mut Session<'_>,
    source: &str,
) -> Result<Option<MappingDigest>, StoreError> {
    let bound = statement(sql::SOURCE_BINDING).bind(source);
    let row = session.row(bound).await?;
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
    let bind = statement(sql::BIND_SOURCE)
        .bind(source)
        .bind(digest.as_bytes())
        .bind(tx.now.get());
    tx.session().execute(bind).await?;
    Ok(())
}
