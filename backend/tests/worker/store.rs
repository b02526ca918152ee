//! The real store, with a database that fails when a test says so.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use fencepost::store::{
    AttemptView, Backup, Bindings, Bound, Claim, ClaimRequest, Commit, Commitment, Cursor, Filter,
    Held, Ingested, Lease, NewReport, Page, PipelineVersions, RawAnswer, Rebound, Rejected,
    Rejection, Release, Released, ReportView, Stats, Store, StoreError, Unsettled,
};
use fencepost_identity::key::{MappingDigest, ReportKey};

/// Fails at commits and at the storing of raw answers, as often as it was told to; nothing of the
/// failed request reaches the database.
pub(crate) struct Failing {
    inner: Arc<dyn Store>,
    commits: Mutex<VecDeque<StoreError>>,
    raws: Mutex<VecDeque<StoreError>>,
}

impl Failing {
    pub(crate) fn at_commit(
        inner: Arc<dyn Store>,
        errors: impl IntoIterator<Item = StoreError>,
    ) -> Self {
        let commits = Mutex::new(errors.into_iter().collect());
        Self {
            inner,
            commits,
            raws: Mutex::default(),
        }
    }

    pub(crate) fn at_raw(
        inner: Arc<dyn Store>,
        errors: impl IntoIterator<Item = StoreError>,
    ) -> Self {
        let raws = Mutex::new(errors.into_iter().collect());
        Self {
            inner,
            commits: Mutex::default(),
            raws,
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

    async fn report(&self, key: ReportKey) -> Result<Option<ReportView>, StoreError> {
        self.inner.report(key).await
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
