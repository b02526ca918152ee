//! What the cases have in common: a database with verbs that only tests need, and short ways to
//! say usual things.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use fencepost::{
    report::{AttemptOutcome, Nonce, ReviewReason, WorkerId},
    store::{
        AfterRejection, CallRecord, Charge, Claim, ClaimRequest, Commitment, CredentialName, Grant,
        Ingested, NewInput, NewReport, PipelineTerms, RawAnswer, Rejection, Release, Store,
    },
};
use fencepost_identity::{
    identity::{Identity, Namespace, ReportId, Tenant, Version},
    key::{InputHash, MappingDigest, ReportKey},
};

/// A database, with what a test must be able to do to it behind the store's back.
#[async_trait]
pub(crate) trait Database: Send + Sync {
    /// A new, empty one.
    async fn new() -> Self
    where
        Self: Sized;

    /// The store under test.
    fn store(&self) -> Arc<dyn Store>;

    /// Another store on the same database, as another process would have.
    async fn another_store(&self) -> Arc<dyn Store>;

    /// Runs a statement, past all checks of the schema.
    async fn execute(&self, statement: &str);

    /// Reads one number.
    async fn number(&self, query: &str) -> i64;

    /// Reads the first column of a query's rows, which are texts.
    async fn texts(&self, query: &str) -> Vec<String>;

    /// All rows of all tables, as text.
    async fn contents(&self) -> String;

    /// Bytes, as a statement spells them.
    fn bytes(&self, hexadecimal: impl std::fmt::Display) -> String
    where
        Self: Sized;

    /// How often others changed the database, as far as this connection can see.
    async fn changes(&self) -> i64;

    /// Makes every `event` (such as `INSERT`) on a table fail, until it is mended.
    async fn break_table(&self, event: &str, table: &str);

    /// Mends what `break_table` broke.
    async fn mend(&self);

    /// Lets all leases run out.
    async fn age_leases(&self) {
        self.execute("UPDATE job SET lease_until_ms = 1 WHERE state = 'running'")
            .await;
    }

    /// Makes all waiting jobs due.
    async fn make_due(&self) {
        self.execute("UPDATE job SET due_ms = 1 WHERE state <> 'running'")
            .await;
    }

    /// How many rows a table has.
    async fn rows(&self, table: &str) -> i64 {
        self.number(&format!("SELECT count(*) FROM {table}")).await
    }
}

pub(crate) fn identity(n: u32) -> Identity {
    Identity {
        tenant: Tenant::new("acme").unwrap(),
        namespace: Namespace::new("issues").unwrap(),
        report_id: ReportId::new(n.to_string()).unwrap(),
        version: Version::Event,
    }
}

pub(crate) fn key(n: u32) -> ReportKey {
    identity(n).report_key()
}

pub(crate) fn mapping(byte: u8) -> MappingDigest {
    MappingDigest::from_bytes([byte; 32])
}

/// An input, with a hash of this byte.
pub(crate) fn input(text: &str, hash: u8) -> NewInput {
    NewInput {
        canonical: text.as_bytes().to_vec(),
        hash: InputHash::from_bytes([hash; 32]),
    }
}

/// The report number `n`.
pub(crate) fn report(n: u32) -> NewReport {
    NewReport {
        identity: identity(n),
        input: Some(input(r#"{"text":"buy now\u0000"}"#, 1)),
        links: vec![("page".to_owned(), "https://example.org/1".to_owned())],
        source: "comments".to_owned(),
        mapping_digest: mapping(1),
        order: None,
        pipeline: "moderation".to_owned(),
    }
}

/// The report number `n` with other content.
pub(crate) fn report_with_content(n: u32, content: u8) -> NewReport {
    NewReport {
        input: Some(input(r#"{"text":"buy now\u0000"}"#, content)),
        ..report(n)
    }
}

pub(crate) async fn ingest(store: &dyn Store, n: u32) -> ReportKey {
    match store.ingest(report(n)).await.unwrap() {
        Ingested::Accepted { key, .. } => key,
        other => panic!("{other:?}"),
    }
}

pub(crate) const LEASE: Duration = Duration::from_secs(60);

pub(crate) fn terms() -> PipelineTerms {
    PipelineTerms {
        pipeline: "moderation".to_owned(),
        classifier_version: "moderation-7".to_owned(),
        schema_version: "moderation-v3".to_owned(),
        credential: CredentialName::new("OPENAI_API_KEY"),
        fetched_with: std::collections::BTreeMap::new(),
        lease: LEASE,
        max_attempts: 3,
        max_elapsed: Duration::from_secs(24 * 60 * 60),
    }
}

pub(crate) fn terms_with_attempts(max_attempts: u32) -> PipelineTerms {
    PipelineTerms {
        max_attempts,
        ..terms()
    }
}

pub(crate) fn request(nonce: u8, terms: PipelineTerms) -> ClaimRequest {
    ClaimRequest {
        worker: WorkerId::new(format!("worker {nonce}")),
        nonce: Nonce::new([nonce; 16]),
        pipelines: vec![terms],
        turns: Arc::default(),
    }
}

/// Claims as worker number `worker`, and must be granted something.
pub(crate) async fn grant(store: &dyn Store, worker: u8) -> Grant {
    grant_on(store, worker, terms()).await
}

/// The same, on other terms.
pub(crate) async fn grant_on(store: &dyn Store, worker: u8, terms: PipelineTerms) -> Grant {
    match store.claim(request(worker, terms)).await.unwrap() {
        Claim::Granted(grant) => *grant,
        other => panic!("{other:?}"),
    }
}

/// Claims, and must be granted nothing.
pub(crate) async fn idle(store: &dyn Store, worker: u8) {
    let claim = store.claim(request(worker, terms())).await.unwrap();
    assert!(matches!(claim, Claim::Idle { .. }), "{claim:?}");
}

pub(crate) fn call() -> CallRecord {
    CallRecord {
        provider: "openai".to_owned(),
        model: "small".to_owned(),
        request_id: Some("req-1".to_owned()),
        tokens_in: Some(3_000_000_000),
        tokens_out: Some(7),
        latency_ms: Some(3_000_000_001),
    }
}

pub(crate) const VALUE: &str = r#"{"category":"spam","confidence":0.9,"needsHumanReview":false}"#;

pub(crate) fn value() -> Commitment {
    Commitment {
        value: VALUE.to_owned(),
        findings: None,
        review: None,
        remark: None,
        call: Some(call()),
    }
}

pub(crate) fn value_for_review() -> Commitment {
    Commitment {
        review: Some(ReviewReason::Policy.into()),
        ..value()
    }
}

pub(crate) fn answer() -> RawAnswer {
    RawAnswer {
        raw: br#"{"category":"spam"}"#.to_vec(),
        call: call(),
    }
}

/// An answer that broke the schema; another attempt is wanted at once.
pub(crate) fn rejection() -> Rejection {
    Rejection {
        outcome: AttemptOutcome::SchemaInvalid,
        reason: Some("/confidence is missing".to_owned()),
        call: Some(call()),
        next: AfterRejection::Again(Duration::ZERO),
    }
}

pub(crate) fn release(outcome: AttemptOutcome, charge: Charge) -> Release {
    Release {
        outcome,
        reason: None,
        call: None,
        refused: None,
        after: Duration::ZERO,
        charge,
    }
}

/// Polls a future a few times, and then drops it.
pub(crate) async fn poll_and_drop(future: impl Future, polls: usize) {
    let mut future = Box::pin(future);
    for _ in 0..polls {
        let polled = std::future::poll_fn(|context| {
            std::task::Poll::Ready(future.as_mut().poll(context).is_ready())
        });
        if polled.await {
            return;
        }
        tokio::task::yield_now().await;
    }
}
