//! Another provider: what a changed extractor is asked about, and what it leaves alone. The real
//! worker asks real servers; only their models are scripted.

use std::{collections::BTreeMap, num::NonZeroU32, sync::Arc, time::Duration};

use fencepost::{
    clock::UnixMillis,
    extractor::{
        BaseUrl, Settings,
        openai::{Api, OpenAi},
    },
    judge::{Judge, Kind},
    policy::Policy,
    report::WorkerId,
    retry::Backoff,
    schema::Schema,
    store::{CredentialName, Ingested, NewReport, PipelineVersions, Store, VersionCount},
    tls,
    worker::{Keep, Limiter, Limits, Pipeline, Step, TokioTimer, Worker, WorkerParts, bind, stop},
};
use fencepost_model::{Behaviour, ModelServer, in_turn, moderation};

use super::fixture::{self, Database, LEASE, key};

const SCHEMA: &str = include_str!("../../schemas/moderation-v3.json");

/// The pipeline with a model at this address, under a version of its own.
fn pipeline(model: &ModelServer, version: &str, digest: u8) -> Pipeline {
    let settings = Settings {
        model: "small".to_owned(),
        base_url: BaseUrl::new(&model.base_url()).unwrap(),
        max_output_tokens: NonZeroU32::new(100).unwrap(),
        temperature: None,
    };
    let tls = tls::for_scheme("http").unwrap();
    let clock = UnixMillis::of_this_machine;
    let extractor = OpenAi::new(settings, Api::Chat, None, tls, clock).unwrap();
    Pipeline {
        versions: PipelineVersions {
            pipeline: "moderation".to_owned(),
            classifier_version: version.to_owned(),
            classifier_digest: [digest; 32],
            schema_version: "moderation-v3".to_owned(),
            schema_digest: [9; 32],
        },
        judge: Judge {
            kind: Kind::Classification,
            schema: Arc::new(Schema::compile(SCHEMA.as_bytes()).unwrap()),
            prompt: "Classify it.".to_owned(),
            policy: Policy::default(),
            review_when: Vec::new(),
        },
        extractor: Arc::new(extractor),
        limiter: Limiter::new(Limits::default(), Arc::default()),
        credential: CredentialName::new(version),
        max_attempts: 3,
        lease: LEASE,
        call_timeout: Duration::from_secs(45),
        max_elapsed: Duration::from_secs(24 * 60 * 60),
        keep: Keep::Raw,
        sources: BTreeMap::new(),
    }
}

/// All that a worker with this pipeline alone finds to do, until nothing is due.
async fn work(db: &impl Database, pipeline: Pipeline) -> Vec<Step> {
    db.make_due().await;
    let store = db.store();
    let bindings = bind(&*store, [pipeline]).await.unwrap();
    assert!(bindings.conflicts.is_empty());
    let (_stop, signal) = stop();
    let worker = Worker::new(WorkerParts {
        id: WorkerId::new("worker"),
        store,
        pipelines: bindings.claimable,
        // Longer than the test: what failed is due when the test says so.
        backoff: Backoff {
            first: Duration::from_secs(3600),
            longest: Duration::from_secs(3600),
        },
        timer: Arc::new(TokioTimer),
        wake: Arc::default(),
        stop: signal,
    });
    let mut steps = Vec::new();
    loop {
        match worker.step().await.unwrap() {
            Step::Idle { .. } => return steps,
            step => steps.push(step),
        }
    }
}

/// The report number `n`, of which a person need not see anything.
fn report(n: u32) -> NewReport {
    NewReport {
        input: Some(fixture::input(&format!(r#"{{"text":"report {n}"}}"#), 1)),
        ..fixture::report(n)
    }
}

async fn delivered(store: &dyn Store, n: u32) {
    let new = store.ingest(report(n)).await.unwrap();
    assert!(matches!(new, Ingested::Accepted { .. }), "{new:?}");
}

async fn redelivered(store: &dyn Store, n: u32) {
    let again = store.ingest(report(n)).await.unwrap();
    assert!(matches!(again, Ingested::Duplicate { .. }), "{again:?}");
}

async fn version(store: &dyn Store, n: u32) -> Option<String> {
    store
        .report(key(n))
        .await
        .unwrap()
        .unwrap()
        .classifier_version
}

pub(crate) async fn another_provider_is_asked_about_new_reports_alone(db: &impl Database) {
    let store = db.store();
    let spam = || moderation("spam", 0.9, false);
    let busy = Behaviour::rate_limited(Duration::from_secs(3600));
    let first = ModelServer::start(in_turn([spam(), spam(), busy, spam()]));
    let second = ModelServer::start(in_turn([moderation("other", 0.9, false)]));
    let calls = || (first.calls().len(), second.calls().len());
    for n in 1..=2 {
        delivered(&*store, n).await;
    }
    let steps = work(db, pipeline(&first, "first-1", 1)).await;
    let committed = |step: &Step| matches!(step, Step::Committed(_));
    assert!(steps.len() == 2 && steps.iter().all(committed), "{steps:?}");
    // Begun with the first provider, and not done when the second one takes over.
    delivered(&*store, 3).await;
    let steps = work(db, pipeline(&first, "first-1", 1)).await;
    assert!(matches!(steps[..], [Step::Rescheduled { .. }]), "{steps:?}");
    assert_eq!(calls(), (3, 0));

    for n in 1..=3 {
        redelivered(&*store, n).await;
    }
    assert_eq!(work(db, pipeline(&second, "second-1", 2)).await, []);
    assert_eq!(calls(), (3, 0));
    delivered(&*store, 4).await;
    let steps = work(db, pipeline(&second, "second-1", 2)).await;
    assert_eq!(steps, [Step::Committed(key(4))]);
    assert_eq!(calls(), (3, 1));
    let stranded = VersionCount {
        pipeline: "moderation".to_owned(),
        classifier_version: Some("first-1".to_owned()),
        count: 1,
    };
    assert_eq!(store.stats().await.unwrap().unfinished, [stranded]);

    // And back again.
    for n in 1..=4 {
        redelivered(&*store, n).await;
    }
    let steps = work(db, pipeline(&first, "first-1", 1)).await;
    assert_eq!(steps, [Step::Committed(key(3))]);
    assert_eq!(calls(), (4, 1));
    assert_eq!(store.stats().await.unwrap().unfinished, []);
    for (n, expected) in [
        (1, "first-1"),
        (2, "first-1"),
        (3, "first-1"),
        (4, "second-1"),
    ] {
        assert_eq!(version(&*store, n).await.as_deref(), Some(expected), "{n}");
    }
    let categories = "SELECT value FROM result WHERE value LIKE '%\"other\"%'";
    assert_eq!(
        (db.texts(categories).await.len(), db.rows("result").await),
        (1, 4)
    );
}
