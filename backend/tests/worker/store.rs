//! The real store, with a database that fails when a test says so.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use fencepost::store::{
    AttemptView, Backup, Bindings, Bound, Claim, ClaimRequest, Commit, Commitment, Cursor, Decided,
    Decision, Emptied, Erasure, ExpiredAnswer, ExpiredAnswers, Fetched, Filter, Held, Ingested,
    InputPage, Keeping, KeptInput, KeptPlace, LastAnswer, Lease, NewReport, Page, Pause, Paused,
    PipelineVersions, RawAnswer, Rebound, Rejected, Rejection, Release, Released, Replayed,
    ReportView, Resumed, ReviewPage, Stats, Store, StoreError, Subject, Unsettled,
};
use fencepost_identity::key::{MappingDigest, ReportKey};
use tokio::sync::Notify;

/// Fails at commits and at the storing of raw answers, as often as it was told to; nothing of the
/// failed request reaches the database.
pub(crate) struct Failing {
    inner: Arc<dyn Store>,
    commits: Mutex<VecDeque<StoreError>>,
    raws: Mutex<VecDeque<StoreError>>,
    inputs: Mutex<VecDeque<StoreError>>,
    claims: Option<Arc<Gate>>,
}

/// Where claims wait until a test lets them on.
#[derive(Default)]
pub(crate) struct Gate {
    /// Told when a claim waits.
    pub(crate) reached: Notify,
    opened: Notify,
}

impl Gate {
    /// Lets the one claim on that waits.
    pub(crate) fn open(&self) {
        self.opened.notify_one();
    }
}

impl Failing {
    /// Fails at nothing, but holds each claim up before it is made.
    pub(crate) fn at_claims(inner: Arc<dyn Store>) -> (Self, Arc<Gate>) {
        let gate = Arc::<Gate>::default();
        let store = Self {
            claims: Some(Arc::clone(&gate)),
            ..Self::at_commit(inner, [])
        };
        (store, gate)
    }

    pub(crate) fn at_commit(
        inner: Arc<dyn Store>,
        errors: impl IntoIterator<Item = StoreError>,
    ) -> Self {
        let commits = Mutex::new(errors.into_iter().collect());
        Self {
            inner,
            commits,
            raws: Mutex::default(),
            inputs: Mutex::default(),
            claims: None,
        }
    }

    pub(crate) fn at_raw(
        inner: Arc<dyn Store>,
        errors: impl IntoIterator<Item = StoreError>,
    ) -> Self {
        Self {
            raws: Mutex::new(errors.into_iter().collect()),
            ..Self::at_commit(inner, [])
        }
    }

    pub(crate) fn at_input(
        inner: Arc<dyn Store>,
        errors: impl IntoIterator<Item = StoreError>,
    ) -> Self {
        Self {
            inputs: Mutex::new(errors.into_iter().collect()),
            ..Self::at_commit(inner, [])
        }
    }
}

#[async_trait]
impl Store for Failing {
    async fn commit(&self, lease: Lease, value: Commitment) -> Result<Commit, Unsettled> {
        let error = self.commits.lock().unwrap().pop_front();
        match error {
            Some(error) => Err(Unsettled {
                lease: Box::new(lease),
                error,
            }),
            None => self.inner.commit(lease, value).await,
        }
    }

    async fn store_raw(&self, lease: &Lease, answer: RawAnswer) -> Result<Held, StoreError> {
        let error = self.raws.lock().unwrap().pop_front();
        match error {
            Some(error) => Err(error),
            None => self.inner.store_raw(lease, answer).await,
        }
    }

    async fn keep_input(&self, lease: &Lease, fetched: Fetched) -> Result<KeptInput, StoreError> {
        let error = self.inputs.lock().unwrap().pop_front();
        match error {
            Some(error) => Err(error),
            None => self.inner.keep_input(lease, fetched).await,
        }
    }

    async fn ingest(&self, report: NewReport) -> Result<Ingested, StoreError> {
        self.inner.ingest(report).await
    }

    async fn bind_versions(&self, versions: PipelineVersions) -> Result<Bound, StoreError> {
        self.inner.bind_versions(versions).await
    }

    async fn bindings(&self) -> Result<Bindings, StoreError> {
        self.inner.bindings().await
    }

    async fn claim(&self, request: ClaimRequest) -> Result<Claim, StoreError> {
        if let Some(gate) = &self.claims {
            gate.reached.notify_one();
            gate.opened.notified().await;
        }
        self.inner.claim(request).await
    }

    async fn heartbeat(&self, lease: &Lease) -> Result<Held, StoreError> {
        self.inner.heartbeat(lease).await
    }

    async fn reject(&self, lease: Lease, rejection: Rejection) -> Result<Rejected, Unsettled> {
        self.inner.reject(lease, rejection).await
    }

    async fn release(&self, lease: Lease, release: Release) -> Result<Released, Unsettled> {
        self.inner.release(lease, release).await
    }

    async fn decide(&self, key: ReportKey, decision: Decision) -> Result<Decided, StoreError> {
        self.inner.decide(key, decision).await
    }

    async fn replay(
        &self,
        key: ReportKey,
        classifier_version: String,
        who: String,
    ) -> Result<Replayed, StoreError> {
        self.inner.replay(key, classifier_version, who).await
    }

    async fn last_answer(
        &self,
        key: ReportKey,
        classifier_version: String,
    ) -> Result<Option<LastAnswer>, StoreError> {
        self.inner.last_answer(key, classifier_version).await
    }

    async fn expired_answers(
        &self,
        keeping: Keeping,
        after: Option<KeptPlace>,
    ) -> Result<ExpiredAnswers, StoreError> {
        self.inner.expired_answers(keeping, after).await
    }

    async fn empty_answer(&self, answer: ExpiredAnswer) -> Result<Emptied, StoreError> {
        self.inner.empty_answer(answer).await
    }

    async fn erase(&self, key: ReportKey, who: String) -> Result<Erasure, StoreError> {
        self.inner.erase(key, who).await
    }

    async fn reviews(&self, after: Option<Cursor>, limit: u32) -> Result<ReviewPage, StoreError> {
        self.inner.reviews(after, limit).await
    }

    async fn report(&self, key: ReportKey) -> Result<Option<ReportView>, StoreError> {
        self.inner.report(key).await
    }

    async fn input(&self, key: ReportKey) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.input(key).await
    }

    async fn attempts(&self, key: ReportKey) -> Result<Vec<AttemptView>, StoreError> {
        self.inner.attempts(key).await
    }

    async fn list(
        &self,
        filter: Filter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Page, StoreError> {
        self.inner.list(filter, after, limit).await
    }

    async fn inputs(
        &self,
        pipeline: String,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<InputPage, StoreError> {
        self.inner.inputs(pipeline, after, limit).await
    }

    async fn stats(&self) -> Result<Stats, StoreError> {
        self.inner.stats().await
    }

    async fn rebind_source(
        &self,
        source: String,
        digest: MappingDigest,
        actor: String,
    ) -> Result<Rebound, StoreError> {
        self.inner.rebind_source(source, digest, actor).await
    }

    async fn pause(&self, subject: Subject, actor: String) -> Result<Paused, StoreError> {
        self.inner.pause(subject, actor).await
    }

    async fn resume(&self, subject: Subject, actor: String) -> Result<Resumed, StoreError> {
        self.inner.resume(subject, actor).await
    }

    async fn pauses(&self) -> Result<Vec<Pause>, StoreError> {
        self.inner.pauses().await
    }

    async fn backup(&self, file: &Path) -> Result<Backup, StoreError> {
        self.inner.backup(file).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.inner.ready().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
