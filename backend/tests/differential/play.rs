//! Plays a sequence against a database and against the reference, and compares what they say.

mod fault;
mod hold;

use std::sync::Arc;

use fencepost::{
    clock::UnixMillis,
    store::{Claim, ClaimRequest, Filter, Grant, Lease, ReportSummary, Store, Turns},
};
use fencepost_identity::key::ReportKey;
use proptest::test_runner::TestCaseError;

use super::{
    command::{self, Command},
    engine::Engine,
    reference::{
        Reference, Told,
        claim::{Claimed, Granted, Hold},
    },
    tell::{Teller, plainly, told},
};

/// What was answered, and what should have been.
pub(crate) type Answers = (String, String);

/// A sequence that is being played.
pub(crate) struct Play<'d, D: Engine> {
    pub(crate) db: &'d D,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) reference: Reference,
    /// All that were granted and not used up, the latest last.
    pub(crate) leases: Vec<(Lease, Hold)>,
    /// Of all workers, as if they were of one process.
    turns: Arc<Turns>,
}

/// Plays a sequence on an empty database.
///
/// # Errors
/// The first difference.
pub(crate) async fn play<D: Engine>(db: &D, commands: &[Command]) -> Result<(), TestCaseError> {
    db.empty().await;
    let mut play = Play {
        db,
        store: db.store(),
        reference: Reference::new(UnixMillis::of_this_machine()),
        leases: Vec::new(),
        turns: Arc::default(),
    };
    for (step, command) in commands.iter().enumerate() {
        let step = u8::try_from(step).unwrap();
        let answers = play.carry_out(step, command.clone()).await;
        same(&format!("command {step}, {command:?}"), answers)?;
        play.pass(command::MINUTE).await;
    }
    play.compare_all().await
}

fn same(what: &str, (got, expected): Answers) -> Result<(), TestCaseError> {
    if got == expected {
        return Ok(());
    }
    Err(TestCaseError::fail(format!(
        "{what}\nthe store says:\n{got}\nthe reference says:\n{expected}\n"
    )))
}

impl<D: Engine> Play<'_, D> {
    async fn carry_out(&mut self, step: u8, command: Command) -> Answers {
        match command {
            Command::Ingest(delivery) => {
                let got = self.store.ingest(delivery.report()).await;
                let expected = self.reference.ingest(delivery.report());
                (told(got, plainly), plainly(expected))
            }
            Command::Rebind { source, mapping } => self.rebind(source, mapping).await,
            Command::Bind(versions) => {
                let got = self.store.bind_versions(versions.clone()).await;
                let expected = self.reference.bind_versions(&versions);
                (told(got, plainly), plainly(expected))
            }
            Command::Claim(looking) => self.claim(looking.request(step, &self.turns)).await,
            Command::Hold(pick, holding) => self.hold(pick, holding).await,
            Command::AgeLeases(by) => {
                self.age_leases(by).await;
                nothing()
            }
            Command::AgeWaits(by) => {
                self.age_waits(by).await;
                nothing()
            }
            Command::Pass(time) => {
                self.pass(time).await;
                nothing()
            }
            Command::UseTime(name) => {
                self.use_time(name.key()).await;
                nothing()
            }
            Command::AskAgain => {
                self.ask_again().await;
                nothing()
            }
            Command::AddJob(name) => {
                self.add_job(name.key()).await;
                nothing()
            }
            Command::Report(name) => self.report(name.key()).await,
            Command::Attempts(name) => self.attempts(name.key()).await,
            Command::List { filter, page } => self.list(filter, page).await,
            Command::Stats => self.stats().await,
            Command::Bindings => self.bindings().await,
        }
    }

    pub(crate) fn clocks(&self) -> (Teller, Teller) {
        let store = UnixMillis::of_this_machine();
        let reference = self.reference.now;
        (Teller { now: store }, Teller { now: reference })
    }

    async fn rebind(&mut self, source: usize, mapping: u8) -> Answers {
        let (source, digest) = (command::source(source), command::mapping(mapping));
        let expected = self.reference.rebind(&source, digest);
        let actor = "somebody".to_owned();
        let got = self.store.rebind_source(source, digest, actor).await;
        (told(got, plainly), plainly(expected))
    }

    async fn claim(&mut self, request: ClaimRequest) -> Answers {
        let (expected, hold) = self.reference.claim(&request);
        let got = match self.store.claim(request).await {
            Ok(Claim::Granted(grant)) => {
                let (granted, lease) = seen(*grant);
                if let Some(hold) = hold {
                    self.leases.push((lease, hold));
                }
                Claimed::Granted(Box::new(granted))
            }
            Ok(Claim::Idle { wait }) => Claimed::Idle { wait },
            Ok(Claim::Exhausted(key)) => Claimed::Exhausted(key),
            Ok(Claim::Elapsed(key)) => Claimed::Elapsed(key),
            Ok(Claim::Superseded(key)) => Claimed::Superseded(key),
            other => Claimed::Other(plainly(other)),
        };
        let (store, reference) = self.clocks();
        (store.claimed(&got), reference.claimed(&expected))
    }

    async fn report(&self, key: ReportKey) -> Answers {
        let got = self.store.report(key).await;
        let expected = self.reference.report(key);
        let (store, reference) = self.clocks();
        (
            told(got, |view| store.report(view.as_ref())),
            reference.report(expected.as_ref()),
        )
    }

    async fn attempts(&self, key: ReportKey) -> Answers {
        let got = self.store.attempts(key).await;
        let expected = self.reference.attempts(key);
        let (store, reference) = self.clocks();
        (
            told(got, |views| store.attempts(&views)),
            reference.attempts(&expected),
        )
    }

    /// All pages of a list, one after the other.
    async fn list(&self, filter: Filter, length: u32) -> Answers {
        let (mut got, mut after) = (Vec::new(), None);
        loop {
            let page = self.store.list(filter.clone(), after, length).await;
            let page = page.unwrap();
            assert!(page.reports.len() <= usize::try_from(length).unwrap());
            assert_eq!(page.unreadable, []);
            got.extend(page.reports);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let (store, reference) = self.clocks();
        let text = |lines: Vec<ReportSummary>, clock: Teller| -> String {
            lines.iter().map(|line| clock.summary(line)).collect()
        };
        let expected = self.reference.list(&filter);
        (text(got, store), text(expected, reference))
    }

    async fn stats(&self) -> Answers {
        let got = self.store.stats().await;
        let expected = self.reference.stats();
        let (store, reference) = self.clocks();
        (
            told(got, |stats| store.stats(stats)),
            reference.stats(expected),
        )
    }

    async fn bindings(&self) -> Answers {
        let got = self.store.bindings().await;
        (told(got, plainly), plainly(self.reference.bindings()))
    }

    /// Everything that can be seen.
    async fn compare_all(&self) -> Result<(), TestCaseError> {
        for key in self.reference.keys() {
            same("at the end, report", self.report(key).await)?;
            same("at the end, attempts", self.attempts(key).await)?;
        }
        let list = self.list(Filter::default(), 100).await;
        same("at the end, list", list)?;
        same("at the end, stats", self.stats().await)?;
        same("at the end, bindings", self.bindings().await)?;
        same("at the end, events", self.events().await)?;
        let audited = "SELECT action FROM audit ORDER BY audit_id";
        let audited = self.db.texts(audited).await.join("\n");
        let expected = self.reference.audited.join("\n");
        same("at the end, audit", (audited, expected))
    }

    /// The outbox, each report's events in their order.
    async fn events(&self) -> Answers {
        let outbox = "SELECT sequence || ' ' || kind || ' ' || payload FROM outbox
                      ORDER BY report_key, sequence";
        let got = self.db.texts(outbox).await.join("\n");
        let mut expected = Vec::new();
        for (key, events) in self.reference.told() {
            for (sequence, event) in (1..).zip(events) {
                expected.push(event_text(sequence, key, event));
            }
        }
        (got, expected.join("\n"))
    }
}

fn event_text(sequence: u64, report_key: ReportKey, event: &Told) -> String {
    let (kind, payload) = match event {
        Told::Accepted => {
            let payload = serde_json::json!({ "report_key": report_key });
            ("report.accepted", payload)
        }
        Told::ReviewOpened { revision } => {
            let payload = serde_json::json!({ "report_key": report_key, "revision": revision });
            ("review.opened", payload)
        }
        Told::Final { result } => {
            let payload = serde_json::json!({ "report_key": report_key, "result_key": result });
            ("result.final", payload)
        }
        Told::Withdrawn { result, findings } => {
            let payload = serde_json::json!({
                "report_key": report_key,
                "result_key": result,
                "finding_keys": findings,
            });
            ("finding.withdrawn", payload)
        }
    };
    format!("{sequence} {kind} {payload}")
}

fn nothing() -> Answers {
    (String::new(), String::new())
}

/// What a grant shows, and the lease itself.
fn seen(grant: Grant) -> (Granted, Lease) {
    let Grant {
        lease,
        identity,
        source,
        pipeline,
        input,
        unfetched,
        stored,
        last_verdict,
        failures,
    } = grant;
    let granted = Granted {
        report: lease.report(),
        token: lease.token(),
        attempt: lease.attempt(),
        call_key: lease.call_key(),
        classifier_version: lease.classifier_version().to_owned(),
        schema_version: lease.schema_version().to_owned(),
        until: lease.until(),
        length: lease.length(),
        identity,
        source,
        pipeline,
        // Only the links of what is to be fetched are told.
        input: unfetched.is_none().then_some(input),
        links: unfetched.unwrap_or_default(),
        stored,
        last_verdict,
        failures,
    };
    (granted, lease)
}
