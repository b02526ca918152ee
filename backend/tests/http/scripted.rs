//! A store that answers what a test tells it to, for the answers that a healthy database never
//! gives.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use fencepost::store::{
    AttemptView, Backup, Bindings, Bound, Claim, ClaimRequest, Commit, Commitment, Content, Cursor,
    Decided, Decision, Emptied, Erasure, ExpiredAnswer, ExpiredAnswers, Fetched, Filter, Held,
    Ingested, InputPage, Keeping, KeptInput, KeptPlace, LastAnswer, Lease, NewReport, Page, Pause,
    Paused, PipelineVersions, RawAnswer, Rebound, Rejected, Rejection, Release, Released, Replayed,
    ReportView, Resumed, ReviewPage, Stats, Store, StoreError, Subject, Unsettled, VersionKind,
};
use fencepost_identity::key::{MappingDigest, ReportKey};
use tokio::sync::Semaphore;

/// What it answers to everything.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mood {
    /// Reports are new, nothing else is there.
    Fine,
    /// Every report was stored before, with another content.
    Conflict,
    /// Every source is bound to another mapping.
    OtherMapping,
    /// Every statement fails.
    Fails(fn() -> StoreError),
}

pub(crate) struct Scripted {
    mood: Mood,
    seen: Mutex<Vec<NewReport>>,
    /// Each ingest takes one permit before it answers.
    gate: Semaphore,
}

impl Scripted {
    /// Answers at once.
    pub(crate) fn new(mood: Mood) -> Arc<Self> {
        Self::gated(mood, Semaphore::MAX_PERMITS)
    }

    /// Answers this many times; further ones wait for [`Self::open`].
    pub(crate) fn gated(mood: Mood, permits: usize) -> Arc<Self> {
        Arc::new(Self {
            mood,
            seen: Mutex::default(),
            gate: Semaphore::new(permits),
        })
    }

    pub(crate) fn open(&self) {
        self.gate.add_permits(1);
    }

    /// The reports whose ingest ended.
    pub(crate) fn seen(&self) -> Vec<NewReport> {
        self.seen.lock().unwrap().clone()
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.mood {
            Mood::Fails(error) => Err(error()),
            Mood::Fine | Mood::Conflict | Mood::OtherMapping => Ok(()),
        }
    }
}

#[async_trait]
impl Store for Scripted {
    async fn ingest(&self, report: NewReport) -> Result<Ingested, StoreError> {
        self.gate.acquire().await.unwrap().forget();
        self.check()?;
        let key = report.identity.report_key();
        let bound = report.mapping_digest;
        self.seen.lock().unwrap().push(report);
        let state = fencepost::report::State::Accepted;
        Ok(match self.mood {
            Mood::Fine | Mood::Fails(_) => Ingested::Accepted { key, state },
            Mood::Conflict => Ingested::Duplicate {
                key,
                state,
                content: Content::Conflict { seen: 2 },
            },
            Mood::OtherMapping => Ingested::MappingChanged { bound },
        })
    }

    async fn report(&self, _: ReportKey) -> Result<Option<ReportView>, StoreError> {
        self.check().map(|()| None)
    }

    async fn decide(&self, _: ReportKey, _: Decision) -> Result<Decided, StoreError> {
        self.check().map(|()| Decided::Unknown)
    }

    async fn replay(&self, _: ReportKey, _: String, _: String) -> Result<Replayed, StoreError> {
        self.check().map(|()| Replayed::Unknown)
    }

    async fn last_answer(&self, _: ReportKey, _: String) -> Result<Option<LastAnswer>, StoreError> {
        self.check().map(|()| None)
    }

    async fn expired_answers(
        &self,
        _: Keeping,
        _: Option<KeptPlace>,
    ) -> Result<ExpiredAnswers, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn empty_answer(&self, _: ExpiredAnswer) -> Result<Emptied, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn erase(&self, _: ReportKey, _: String) -> Result<Erasure, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn reviews(&self, _: Option<Cursor>, _: u32) -> Result<ReviewPage, StoreError> {
        self.check().map(|()| ReviewPage {
            reviews: Vec::new(),
            unreadable: Vec::new(),
            next: None,
        })
    }

    async fn input(&self, _: ReportKey) -> Result<Option<Vec<u8>>, StoreError> {
        self.check().map(|()| None)
    }

    async fn attempts(&self, _: ReportKey) -> Result<Vec<AttemptView>, StoreError> {
        self.check().map(|()| Vec::new())
    }

    async fn list(&self, _: Filter, _: Option<Cursor>, _: u32) -> Result<Page, StoreError> {
        self.check().map(|()| Page {
            reports: Vec::new(),
            unreadable: Vec::new(),
            next: None,
        })
    }

    async fn inputs(&self, _: String, _: Option<Cursor>, _: u32) -> Result<InputPage, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn stats(&self) -> Result<Stats, StoreError> {
        self.check().map(|()| Stats::default())
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.check()
    }

    async fn bind_versions(&self, _: PipelineVersions) -> Result<Bound, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn bindings(&self) -> Result<Bindings, StoreError> {
        let bound = |kind, name: &str| ((kind, "moderation".to_owned(), name.to_owned()), [9; 32]);
        self.check().map(|()| Bindings {
            sources: BTreeMap::new(),
            versions: BTreeMap::from([
                bound(VersionKind::Classifier, "moderation-7"),
                bound(VersionKind::Schema, "moderation-v3"),
            ]),
        })
    }

    async fn claim(&self, _: ClaimRequest) -> Result<Claim, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn heartbeat(&self, _: &Lease) -> Result<Held, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn keep_input(&self, _: &Lease, _: Fetched) -> Result<KeptInput, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn store_raw(&self, _: &Lease, _: RawAnswer) -> Result<Held, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn commit(&self, _: Lease, _: Commitment) -> Result<Commit, Unsettled> {
        unreachable!("no router asks for this")
    }

    async fn reject(&self, _: Lease, _: Rejection) -> Result<Rejected, Unsettled> {
        unreachable!("no router asks for this")
    }

    async fn release(&self, _: Lease, _: Release) -> Result<Released, Unsettled> {
        unreachable!("no router asks for this")
    }

    async fn rebind_source(
        &self,
        _: String,
        _: MappingDigest,
        _: String,
    ) -> Result<Rebound, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn pause(&self, _: Subject, _: String) -> Result<Paused, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn resume(&self, _: Subject, _: String) -> Result<Resumed, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn pauses(&self) -> Result<Vec<Pause>, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn backup(&self, _: &Path) -> Result<Backup, StoreError> {
        unreachable!("no router asks for this")
    }

    async fn close(&self) {
        unreachable!("no router asks for this")
    }
}
