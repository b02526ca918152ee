//! A database in a folder of its own, a scripted model, a manual timer, and workers on them.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, Mutex, Once},
    time::Duration,
};

use fencepost::{
    judge::{Judge, Kind, Rule, Test},
    policy::Policy,
    report::{AttemptOutcome, State, WorkerId},
    retry::Backoff,
    schema::Schema,
    store::{
        AttemptView, CredentialName, Ingested, NewInput, NewReport, PipelineVersions, ReportView,
        SqliteOptions, SqliteStore, Store, StoreError,
    },
    worker::{
        Keep, Limiter, Limits, Pipeline, Step, Stop, StopSignal, Worker, WorkerParts, bind, stop,
    },
};
use fencepost_identity::{
    identity::{Identity, Namespace, ReportId, Tenant, Version},
    key::{CallKey, InputHash, MappingDigest, ReportKey},
    pointer::Pointer,
};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{Notify, mpsc};

use crate::{
    extractor::{Asked, Scripted},
    timer::{ManualTimer, within},
};

/// In every report and in the answers that go wrong: never to be seen in a log or a reason.
pub(crate) const CANARY: &str = "canary-7f3a";
pub(crate) const GOOD: &str = r#"{"category":"spam","confidence":0.9,"needsHumanReview":false}"#;
pub(crate) const LEASE: Duration = Duration::from_secs(60);
pub(crate) const BEAT: Duration = Duration::from_secs(20);
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(45);

const SCHEMA: &str = include_str!("../../schemas/moderation-v3.json");

pub(crate) struct Rig {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) calls: mpsc::UnboundedReceiver<Asked>,
    pub(crate) timer: Arc<ManualTimer>,
    pub(crate) wake: Arc<Notify>,
    pub(crate) pipeline: Pipeline,
    pub(crate) stop: Stop,
    signal: StopSignal,
    folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        record_logs();
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder.path().join("fencepost.db")).await;
        let (extractor, calls) = Scripted::new();
        let (stop, signal) = stop();
        let wake = Arc::<Notify>::default();
        let limiter = Limiter::new(Limits::default(), Arc::clone(&wake));
        Self {
            store,
            calls,
            timer: Arc::default(),
            wake,
            pipeline: pipeline(extractor, limiter),
            stop,
            signal,
            folder,
        }
    }

    /// A worker on this rig's store.
    pub(crate) async fn worker(&self) -> Worker {
        self.worker_on(Arc::clone(&self.store)).await
    }

    pub(crate) async fn worker_on(&self, store: Arc<dyn Store>) -> Worker {
        self.worker_for(store, self.pipeline.clone()).await
    }

    pub(crate) async fn worker_for(&self, store: Arc<dyn Store>, pipeline: Pipeline) -> Worker {
        self.worker_made(store, [pipeline]).await
    }

    /// A worker for several pipelines.
    pub(crate) async fn worker_with<const N: usize>(&self, pipelines: [Pipeline; N]) -> Worker {
        self.worker_made(Arc::clone(&self.store), pipelines).await
    }

    async fn worker_made<const N: usize>(
        &self,
        store: Arc<dyn Store>,
        pipelines: [Pipeline; N],
    ) -> Worker {
        let bindings = bind(&*store, pipelines).await.unwrap();
        assert!(bindings.conflicts.is_empty());
        Worker::new(WorkerParts {
            id: WorkerId::new("worker"),
            store,
            pipelines: bindings.claimable,
            // All waits after failures are nothing, so that their ends can be told apart.
            backoff: Backoff {
                first: Duration::ZERO,
                longest: Duration::ZERO,
            },
            timer: Arc::clone(&self.timer) as _,
            wake: Arc::clone(&self.wake),
            stop: self.signal.clone(),
        })
    }

    /// When what works on this rig has to end.
    pub(crate) fn signal(&self) -> StopSignal {
        self.signal.clone()
    }

    /// Stores the report with this id.
    pub(crate) async fn ingest(&self, id: &str) -> ReportKey {
        self.ingest_text(id, CANARY).await
    }

    /// Stores a report of this text.
    pub(crate) async fn ingest_text(&self, id: &str, text: &str) -> ReportKey {
        let input = json!({ "text": text }).to_string().into_bytes();
        let report = NewReport {
            input: Some(input_of(input)),
            ..report(id)
        };
        self.store_new(report).await
    }

    /// Stores the report with this id for another pipeline.
    pub(crate) async fn ingest_for(&self, pipeline: &str, id: &str) -> ReportKey {
        let report = NewReport {
            pipeline: pipeline.to_owned(),
            ..report(id)
        };
        self.store_new(report).await
    }

    async fn store_new(&self, report: NewReport) -> ReportKey {
        match self.store.ingest(report).await.unwrap() {
            Ingested::Accepted { key, .. } => key,
            other @ (Ingested::Duplicate { .. } | Ingested::MappingChanged { .. }) => {
                panic!("{other:?}")
            }
        }
    }

    /// The next call, which is being made.
    pub(crate) async fn asked(&mut self) -> Asked {
        within(self.calls.recv()).await.unwrap()
    }

    /// A step whose one call is answered like this.
    pub(crate) async fn answered(&mut self, worker: &Worker, text: &str) -> (Step, CallKey) {
        self.step(worker, |asked| asked.answer(text)).await
    }

    /// A step whose one call ends like this.
    pub(crate) async fn step(
        &mut self,
        worker: &Worker,
        reply: impl FnOnce(Asked),
    ) -> (Step, CallKey) {
        let calls = &mut self.calls;
        let (step, call_key) = tokio::join!(one_step(worker), async {
            let asked = within(calls.recv()).await.unwrap();
            let call_key = asked.call_key;
            reply(asked);
            call_key
        });
        self.no_call();
        (step.unwrap(), call_key)
    }

    /// No call was made that the test has not seen.
    pub(crate) fn no_call(&mut self) {
        assert!(self.calls.try_recv().is_err(), "a call too many");
    }

    pub(crate) async fn view(&self, key: ReportKey) -> ReportView {
        self.store.report(key).await.unwrap().unwrap()
    }

    pub(crate) async fn state(&self, key: ReportKey) -> State {
        self.view(key).await.summary.state
    }

    pub(crate) async fn attempts(&self, key: ReportKey) -> Vec<AttemptView> {
        self.store.attempts(key).await.unwrap()
    }

    /// How the attempts ended, and whether they count.
    pub(crate) async fn outcomes(&self, key: ReportKey) -> Vec<(Option<AttemptOutcome>, Charged)> {
        let attempts = self.attempts(key).await;
        attempts
            .iter()
            .map(|attempt| (attempt.outcome, charged(attempt)))
            .collect()
    }

    /// All leases have run out, by the database's clock.
    pub(crate) async fn leases_run_out(&self) {
        self.sql("UPDATE job SET lease_until_ms = 1 WHERE state = 'running'")
            .await;
    }

    /// All waits are over, by the database's clock.
    pub(crate) async fn waits_are_over(&self) {
        self.sql("UPDATE job SET due_ms = 1").await;
    }

    /// Whatever is paused may be probed, by the database's clock.
    pub(crate) async fn probes_are_due(&self) {
        self.sql("UPDATE pause SET probe_ms = 1 WHERE ended_ms IS NULL")
            .await;
    }

    pub(crate) async fn number(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query)
            .fetch_one(&mut self.connection().await)
            .await
            .unwrap()
    }

    /// Runs a statement, past all checks of the schema.
    pub(crate) async fn sql(&self, statement: &'static str) {
        let mut connection = self.connection().await;
        let past_checks = "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF";
        let past_checks = sqlx::raw_sql(past_checks).execute(&mut connection);
        past_checks.await.unwrap();
        sqlx::query(statement)
            .execute(&mut connection)
            .await
            .unwrap();
    }

    async fn connection(&self) -> SqliteConnection {
        let file = self.folder.path().join("fencepost.db");
        SqliteConnection::connect(&format!("sqlite://{}", file.display()))
            .await
            .unwrap()
    }
}

/// A step of a worker.
pub(crate) async fn one_step(worker: &Worker) -> Result<Step, StoreError> {
    within(worker.step()).await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charged {
    Yes,
    No,
}

fn charged(attempt: &AttemptView) -> Charged {
    if attempt.charged {
        Charged::Yes
    } else {
        Charged::No
    }
}

async fn open(file: &Path) -> Arc<dyn Store> {
    Arc::new(
        SqliteStore::open(file, SqliteOptions::default())
            .await
            .unwrap(),
    )
}

fn pipeline(extractor: Scripted, limiter: Arc<Limiter>) -> Pipeline {
    let rule = |pointer: &str, test| Rule {
        pointer: Pointer::new(pointer).unwrap(),
        test,
    };
    Pipeline {
        versions: PipelineVersions {
            pipeline: "moderation".into(),
            classifier_version: "moderation-7".into(),
            classifier_digest: [1; 32],
            schema_version: "moderation-v3".into(),
            schema_digest: [2; 32],
        },
        judge: Judge {
            kind: Kind::Classification,
            schema: Arc::new(Schema::compile(SCHEMA.as_bytes()).unwrap()),
            prompt: "Classify it.".into(),
            policy: Policy::default(),
            review_when: vec![
                rule("/needsHumanReview", Test::Is(Value::Bool(true))),
                rule("/confidence", Test::Below(0.7)),
            ],
        },
        extractor: Arc::new(extractor),
        limiter,
        credential: CredentialName::new("MODEL_KEY"),
        sources: BTreeMap::new(),
        max_attempts: 3,
        lease: LEASE,
        call_timeout: CALL_TIMEOUT,
        max_elapsed: Duration::from_secs(24 * 60 * 60),
        keep: Keep::Raw,
    }
}

fn input_of(canonical: Vec<u8>) -> NewInput {
    let hash = InputHash::from_bytes([3; 32]);
    NewInput { canonical, hash }
}

pub(crate) fn report(id: &str) -> NewReport {
    NewReport {
        identity: Identity {
            tenant: Tenant::new("acme").unwrap(),
            namespace: Namespace::new("comments").unwrap(),
            report_id: ReportId::new(id).unwrap(),
            version: Version::Event,
        },
        input: Some(input_of(json!({ "text": CANARY }).to_string().into_bytes())),
        links: Vec::new(),
        source: "comments".into(),
        mapping_digest: MappingDigest::from_bytes([4; 32]),
        order: None,
        pipeline: "moderation".into(),
    }
}

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Records what the whole test program logs, at every level.
fn record_logs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(|| Log);
        subscriber.init();
    });
}

struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All that was logged so far, by any test.
pub(crate) fn logged() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned()
}
