//! A database, a worker on it and a server that is asked: what rows are tried on.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use fencepost::{
    findings::{FindingsRules, KeyField, Location, RevisionForm},
    judge::{Judge, Kind, Rule, Test},
    policy::Policy,
    report::{AttemptOutcome, Outcome, State, WorkerId},
    retry::Backoff,
    schema::{Schema, Wrapping},
    store::{
        AttemptView, Charge, CredentialName, Ingested, NewInput, NewReport, PauseReason,
        PipelineVersions, ReportView, SqliteOptions, SqliteStore, Store, Subject,
    },
    worker::{
        Keep, Limiter, Limits, Pipeline, Step, Stop, StopSignal, TokioTimer, Worker, WorkerParts,
        bind, stop,
    },
};
use fencepost_identity::{
    identity::{Identity, Namespace, ReportId, Tenant, Version},
    key::{InputHash, MappingDigest, ReportKey},
    pointer::Pointer,
};
use fencepost_model::{ModelServer, in_turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Asked, Comes, Row, Said};
use crate::who::{ALL, Who};

const MODERATION: &str = include_str!("../../../schemas/moderation-v3.json");
const FINDINGS: &str = r#"{
    "type": "object",
    "properties": { "findings": { "type": "array", "items": {
        "type": "object",
        "properties": {
            "rule": { "enum": ["sql", "secret"] },
            "severity": { "enum": ["low", "high"] },
            "path": { "type": "string" },
            "line": { "type": "integer" },
            "summary": { "type": "string" }
        },
        "required": ["rule", "severity"], "additionalProperties": false
    } } },
    "required": ["findings"], "additionalProperties": false
}"#;
const FREE: &str = r#"{
    "type": "object",
    "properties": { "summary": { "type": "string" } },
    "required": ["summary"], "additionalProperties": false
}"#;
/// What findings are held to, in every report: a name that something may take for an entity.
const DIFF: &str = "\
diff --git a/a&b.rs b/a&b.rs
--- a/a&b.rs
+++ b/a&b.rs
@@ -42,0 +42,1 @@
+run(\"select \" + id);
";
/// In every report: never to be seen in a reason.
const CANARY: &str = "canary-of-the-report";

pub(super) struct Bench {
    pub(super) who: Who,
    pub(super) store: Arc<dyn Store>,
    signal: StopSignal,
    /// Kept, since a worker stops when nobody can tell it to.
    _stop: Stop,
    _folder: TempDir,
}

/// A pipeline of its own on a bench, so that nothing of one row waits for another.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) worker: Worker,
}

impl Bench {
    pub(super) async fn new(who: Who) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fencepost.db");
        let store = SqliteStore::open(&file, SqliteOptions::default()).await;
        let (stop, signal) = stop();
        Self {
            who,
            store: Arc::new(store.unwrap()),
            signal,
            _stop: stop,
            _folder: folder,
        }
    }

    /// A pipeline that asks a server at this address.
    pub(super) fn pipeline(&self, name: &str, asked: Asked, base_url: &str) -> Pipeline {
        let (schema, kind, review_when) = asked.of();
        Pipeline {
            sources: BTreeMap::new(),
            versions: PipelineVersions {
                pipeline: name.into(),
                classifier_version: format!("{name}-classifier"),
                classifier_digest: [1; 32],
                schema_version: format!("{name}-schema"),
                schema_digest: [2; 32],
            },
            judge: Judge {
                kind,
                schema: Arc::new(Schema::compile(schema.as_bytes()).unwrap()),
                prompt: "Classify it.".into(),
                policy: Policy::default(),
                review_when,
            },
            extractor: self.who.at(base_url).into(),
            limiter: Limiter::new(Limits::default(), Arc::default()),
            credential: CredentialName::new(name),
            max_attempts: 3,
            lease: Duration::from_secs(60),
            call_timeout: Duration::from_secs(45),
            max_elapsed: Duration::from_secs(24 * 60 * 60),
            keep: Keep::Raw,
        }
    }

    pub(super) async fn case(&self, pipeline: Pipeline) -> Case {
        let name = pipeline.name().to_owned();
        let bindings = bind(&*self.store, [pipeline]).await.unwrap();
        assert!(bindings.conflicts.is_empty());
        let worker = Worker::new(WorkerParts {
            id: WorkerId::new("worker"),
            store: Arc::clone(&self.store),
            pipelines: bindings.claimable,
            // Waits after failures are nothing, so that a provider's own time shows.
            backoff: Backoff {
                first: Duration::ZERO,
                longest: Duration::ZERO,
            },
            timer: Arc::new(TokioTimer),
            wake: Arc::default(),
            stop: self.signal.clone(),
        });
        Case { name, worker }
    }

    /// Stores a report for a pipeline.
    pub(super) async fn ingest(&self, pipeline: &str, id: &str) -> ReportKey {
        let report = NewReport {
            identity: Identity {
                tenant: Tenant::new("acme").unwrap(),
                namespace: Namespace::new(pipeline).unwrap(),
                report_id: ReportId::new(id).unwrap(),
                version: Version::Event,
            },
            input: Some(NewInput {
                canonical: json!({ "diff": DIFF, "text": CANARY })
                    .to_string()
                    .into_bytes(),
                hash: InputHash::from_bytes([3; 32]),
            }),
            links: Vec::new(),
            source: "comments".into(),
            mapping_digest: MappingDigest::from_bytes([4; 32]),
            order: None,
            pipeline: pipeline.into(),
        };
        match self.store.ingest(report).await.unwrap() {
            Ingested::Accepted { key, .. } => key,
            other @ (Ingested::Duplicate { .. } | Ingested::MappingChanged { .. }) => {
                panic!("{other:?}")
            }
        }
    }

    pub(super) async fn view(&self, key: ReportKey) -> ReportView {
        self.store.report(key).await.unwrap().unwrap()
    }

    pub(super) async fn outcomes(&self, key: ReportKey) -> Vec<(Option<AttemptOutcome>, bool)> {
        let attempts = self.store.attempts(key).await.unwrap();
        let told = attempts.iter();
        told.map(|attempt| (attempt.outcome, attempt.charged))
            .collect()
    }

    /// What came of one step in which a server was asked once.
    async fn came(&self, row: &Row, name: &str) -> Option<Comes> {
        let behaviour = match &row.said {
            Said::ByAll(behaviour) => behaviour.clone(),
            Said::By(own) => own(self.who)?,
        };
        let server = ModelServer::start(in_turn([behaviour]));
        let pipeline = self.pipeline(name, row.asked, &server.base_url());
        let case = self.case(pipeline).await;
        let key = self.ingest(name, "1").await;
        let step = case.worker.step().await.unwrap();
        assert_eq!(server.calls().len(), 1, "{name} {:?}", self.who);
        let view = self.view(key).await;
        let attempts = self.store.attempts(key).await.unwrap();
        let [attempt] = attempts.as_slice() else {
            panic!("{attempts:?}")
        };
        assert!(
            !format!("{:?}", attempt.reason).contains("canary"),
            "{name}"
        );
        let paused = self.paused(&case).await;
        let came = comes(&step, view, attempt);
        Some(match (came, paused) {
            (Comes::Later(_, Charge::GiveBack, wait), Some(reason)) => Comes::Paused(reason, wait),
            (came, paused) => {
                assert_eq!(paused, None, "{name} {came:?}");
                came
            }
        })
    }

    async fn paused(&self, case: &Case) -> Option<PauseReason> {
        let pauses = self.store.pauses().await.unwrap();
        let subject = Subject::Credential(CredentialName::new(&*case.name));
        let of_it = pauses.into_iter().find(|pause| pause.subject == subject);
        of_it.map(|pause| pause.reason)
    }
}

impl Asked {
    /// The schema, what is made of it, and when a person has to look.
    fn of(self) -> (&'static str, Kind, Vec<Rule>) {
        let rule = |pointer, test| Rule {
            pointer: Pointer::new(pointer).unwrap(),
            test,
        };
        match self {
            Self::Moderation => (
                MODERATION,
                Kind::Classification,
                vec![
                    rule("/category", Test::Is(json!("self_harm"))),
                    rule("/needsHumanReview", Test::Is(Value::Bool(true))),
                    rule("/confidence", Test::Below(0.7)),
                ],
            ),
            Self::Findings => {
                let critical = rule("/severity", Test::Is(json!("high")));
                (
                    FINDINGS,
                    Kind::Findings(Box::new(findings_rules())),
                    vec![critical],
                )
            }
            Self::Free => (FREE, Kind::Classification, Vec::new()),
        }
    }
}

fn findings_rules() -> FindingsRules {
    let pointer = |text| Pointer::new(text).unwrap();
    FindingsRules {
        list: pointer("/findings"),
        rule: pointer("/rule"),
        severity: pointer("/severity"),
        severities: vec!["low".to_owned(), "high".to_owned()],
        location: Some(Location {
            path: pointer("/path"),
            line: pointer("/line"),
            end_line: None,
            revision: RevisionForm::Diff("diff".to_owned()),
        }),
        key: vec![
            KeyField::Rule,
            KeyField::Path,
            KeyField::SourceLine,
            KeyField::Occurrence,
        ],
    }
}

/// What a first attempt came to, by what its report and its row tell.
fn comes(step: &Step, view: ReportView, attempt: &AttemptView) -> Comes {
    let outcome = attempt.outcome.unwrap();
    let reason = attempt.reason.clone().unwrap_or_default();
    let value = view.result.map(|result| result.value);
    let counts = |comes: Comes| {
        assert!(attempt.charged, "{comes:?}");
        comes
    };
    match (view.summary.state, outcome, value, view.review) {
        (State::Terminal(Outcome::Committed), AttemptOutcome::Committed, Some(value), None) => {
            counts(match reason.as_str() {
                "" => Comes::Committed(value),
                Wrapping::FENCED => Comes::Unfenced(value),
                _ => panic!("{reason}"),
            })
        }
        (State::ReadyForReview, AttemptOutcome::Committed, Some(value), Some(review)) => {
            let note = review.note.unwrap_or_default();
            counts(Comes::Doubted(value, note))
        }
        (State::ReadyForReview, outcome, None, Some(review)) => {
            assert_eq!(reason, told(outcome));
            counts(Comes::Person(outcome, review.reason))
        }
        (State::ValidationRejected, outcome, None, None) => counts(Comes::Again(outcome, reason)),
        (State::Accepted, outcome, None, None) => {
            assert_eq!(reason, told(outcome));
            let Step::Rescheduled { due, charge, .. } = step else {
                panic!("{step:?}")
            };
            assert_eq!(attempt.charged, *charge == Charge::Keep);
            let wait = due.since(view.summary.updated);
            Comes::Later(outcome, *charge, (!wait.is_zero()).then_some(wait))
        }
        other => panic!("{other:?} {step:?}"),
    }
}

/// The reason of an attempt that brought nothing to judge: fixed words.
fn told(outcome: AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Refused => "the model declined to answer",
        AttemptOutcome::Truncated => "the answer was cut off at the output cap",
        AttemptOutcome::Transport => "the provider could not be reached, or not be understood",
        AttemptOutcome::RateLimited => "the provider limits the rate",
        AttemptOutcome::Overloaded => "the provider is overloaded",
        AttemptOutcome::Timeout => "no answer within the time for a call",
        AttemptOutcome::Auth => "the provider does not accept the credential",
        AttemptOutcome::Quota => "the credential's quota is used up",
        AttemptOutcome::InvalidRequest => "the provider does not accept the request",
        AttemptOutcome::ContextTooLong => "the input is longer than the model takes",
        AttemptOutcome::Committed
        | AttemptOutcome::LeaseLost
        | AttemptOutcome::Released
        | AttemptOutcome::SyntaxInvalid
        | AttemptOutcome::SchemaInvalid
        | AttemptOutcome::PolicyInvalid
        | AttemptOutcome::Database => panic!("{outcome:?} has a reason of its own"),
    }
}

/// Tries each row with everyone who can meet it, and tells of all that came otherwise.
pub(super) async fn hold(rows: &[Row]) {
    let of_one = ALL.into_iter().map(|who| async move {
        let bench = Bench::new(who).await;
        let mut otherwise = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let came = bench.came(row, &format!("row-{index}")).await;
            if came.as_ref().is_some_and(|came| *came != row.comes) {
                let expected = &row.comes;
                otherwise.push(format!(
                    "{who:?} {}: {came:?}, not {expected:?}",
                    row.origin
                ));
            }
        }
        otherwise
    });
    let all = futures::future::join_all(of_one).await.concat();
    assert!(all.is_empty(), "{}", all.join("\n"));
    let by_nobody = |row: &&Row| match &row.said {
        Said::ByAll(_) => false,
        Said::By(own) => ALL.into_iter().all(|who| own(who).is_none()),
    };
    assert_eq!(rows.iter().filter(by_nobody).count(), 0);
}
