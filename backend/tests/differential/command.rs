//! What a sequence is made of, and how it is drawn. There are few of everything, so that commands
//! meet.

mod list;

use std::{sync::Arc, time::Duration};

use fencepost::{
    report::{AttemptOutcome, Nonce, ReviewReason, StateWord, WorkerId},
    store::{
        AfterRejection, CallRecord, Charge, ClaimRequest, Commitment, CredentialName, Fetched,
        Filter, NewInput, NewReport, PipelineTerms, PipelineVersions, RawAnswer, Rejection,
        Release, ReviewNeed, Turns,
    },
};
use fencepost_identity::{
    identity::{Identity, Namespace, ReportId, Revision, Tenant, Version},
    key::{InputHash, MappingDigest, ReportKey},
};
use proptest::{prelude::*, sample::select};

pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);

/// How long leases are. All times are whole hours; what a command does is a minute later than the
/// command before, so that no two things fall due at once.
pub(crate) const LEASE: Duration = HOUR.saturating_mul(6);
pub(crate) const MAX_ELAPSED: Duration = HOUR.saturating_mul(100);

const PIPELINES: [&str; 2] = ["moderation", "triage"];

/// Something that is done to a store.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    Ingest(Delivery),
    Rebind { source: usize, mapping: u8 },
    Bind(PipelineVersions),
    Claim(Looking),
    Hold(Pick, Holding),
    AgeLeases(Duration),
    AgeWaits(Duration),
    Pass(Duration),
    UseTime(Name),
    AskAgain,
    AddJob(Name),
    Report(Name),
    Attempts(Name),
    List { filter: Filter, page: u32 },
    Stats,
    Bindings,
}

/// What is done with a lease.
#[derive(Clone, Debug)]
pub(crate) enum Holding {
    Heartbeat,
    KeepInput(Fetched),
    StoreRaw(RawAnswer),
    Commit(Commitment),
    Reject(Rejection),
    Release(Release),
    /// It is released, and its holder is not told.
    LoseReply,
    /// Its report becomes what it was before, as when an old backup is brought back.
    SetBack,
}

/// Which of the leases that were granted and not settled, counted round from the latest, which is
/// 0. It may be stale.
pub(crate) type Pick = usize;

/// Which report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    thing: u8,
    /// 0 for a thing that has no versions.
    revision: u8,
}

impl Name {
    fn identity(self) -> Identity {
        let revision = u64::from(self.revision);
        Identity {
            tenant: Tenant::new(["acme", "umbra", "Acme"][usize::from(self.thing)]).unwrap(),
            namespace: Namespace::new("issues").unwrap(),
            report_id: ReportId::new("7").unwrap(),
            version: match revision {
                0 => Version::Event,
                _ => Version::Revision(Revision::new(revision).unwrap()),
            },
        }
    }

    pub(crate) fn key(self) -> ReportKey {
        self.identity().report_key()
    }
}

/// A delivery of a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    name: Name,
    order: Option<u8>,
    /// None for a reference.
    content: Option<u8>,
    source: usize,
    mapping: u8,
}

impl Delivery {
    pub(crate) fn report(self) -> NewReport {
        NewReport {
            identity: self.name.identity(),
            input: self.content.map(input),
            links: vec![("page".to_owned(), format!("/{:?}", self.content))],
            source: source(self.source),
            mapping_digest: mapping(self.mapping),
            order: self.order.map(|order| order.to_string()),
            pipeline: PIPELINES[self.source].to_owned(),
        }
    }
}

pub(crate) fn source(number: usize) -> String {
    format!("source {number}")
}

pub(crate) fn mapping(number: u8) -> MappingDigest {
    MappingDigest::from_bytes([number; 32])
}

/// A worker that looks for something to do.
#[derive(Clone, Debug)]
pub(crate) struct Looking {
    worker: u8,
    pipelines: &'static [&'static str],
    classifier: u8,
    schema: u8,
    max_attempts: u32,
}

impl Looking {
    /// The request, as the `step`th command, after others that had their turns.
    pub(crate) fn request(&self, step: u8, turns: &Arc<Turns>) -> ClaimRequest {
        let terms = self.pipelines.iter().map(|pipeline| PipelineTerms {
            pipeline: (*pipeline).to_owned(),
            classifier_version: format!("{pipeline}-{}", self.classifier),
            schema_version: format!("{pipeline}-v{}", self.schema),
            credential: CredentialName::new("MODEL_KEY"),
            fetched_with: std::collections::BTreeMap::new(),
            lease: LEASE,
            max_attempts: self.max_attempts,
            max_elapsed: MAX_ELAPSED,
        });
        ClaimRequest {
            worker: WorkerId::new(format!("worker {}", self.worker)),
            nonce: Nonce::new([step; 16]),
            pipelines: terms.collect(),
            turns: Arc::clone(turns),
        }
    }
}

fn input(content: u8) -> NewInput {
    NewInput {
        canonical: format!(r#"{{"text":{content}}}"#).into_bytes(),
        hash: InputHash::from_bytes([content; 32]),
    }
}

fn fetched(content: u8) -> Fetched {
    Fetched {
        input: input(content),
        with: CredentialName::new("TOKEN"),
    }
}

/// A release that its holder never hears of.
pub(crate) fn unheard() -> Release {
    Release {
        outcome: AttemptOutcome::Released,
        reason: None,
        call: None,
        refused: None,
        after: HOUR,
        charge: Charge::Keep,
    }
}

/// A sequence.
pub(crate) fn commands() -> impl Strategy<Value = Vec<Command>> {
    // An hour has 60 minutes, and no two commands may share one.
    let parts = prop::collection::vec(part(), 1..30);
    parts.prop_map(|parts| parts.into_iter().flatten().take(50).collect())
}

/// A command, or a few that make leases stale, which chance alone seldom does.
fn part() -> impl Strategy<Value = Vec<Command>> {
    let set_back = Command::Hold(0, Holding::SetBack);
    let taken_over = select(vec![Command::AgeLeases(HOUR * 7), set_back]);
    let granted = || looking().prop_map(Command::Claim);
    let late = prop_oneof![1 => Just(0_usize), 3 => Just(1_usize)];
    let round = (granted(), held(Just(0)))
        .prop_map(|(claim, held)| vec![Command::AgeWaits(HOUR * 5), claim, held]);
    let again = (granted(), release(), 2..5_usize);
    let rounds = prop::collection::vec(round, 1..5);
    prop_oneof![
        24 => command().prop_map(|command| vec![command]),
        3 => rounds.prop_map(|rounds| rounds.concat()),
        1 => again.prop_map(|(claim, release, times)| {
            let release = Command::Hold(0, Holding::Release(release));
            vec![[Command::AgeWaits(HOUR * 5), claim, release]; times].concat()
        }),
        2 => prop::collection::vec(delivery().prop_map(Command::Ingest), 1..4),
        2 => (granted(), taken_over, granted(), held(late)).prop_map(
            |(first, taken_over, second, late)| vec![first, taken_over, second, late],
        ),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    use Command as C;
    prop_oneof![
        12 => delivery().prop_map(C::Ingest),
        24 => looking().prop_map(C::Claim),
        28 => held(pick()),
        16 => ageing(),
        4 => viewing(),
        1 => (0..2_usize, 1..=2_u8).prop_map(|(source, mapping)| C::Rebind { source, mapping }),
        1 => versions().prop_map(C::Bind),
    ]
}

fn held(pick: impl Strategy<Value = Pick>) -> impl Strategy<Value = Command> {
    use Holding as H;
    let holding = prop_oneof![
        2 => Just(H::Heartbeat),
        4 => (1..=3_u8).prop_map(|content| H::KeepInput(fetched(content))),
        4 => raw_answer().prop_map(H::StoreRaw),
        4 => commitment().prop_map(H::Commit),
        4 => rejection().prop_map(H::Reject),
        4 => release().prop_map(H::Release),
        2 => Just(H::LoseReply),
        1 => Just(H::SetBack),
    ];
    (pick, holding).prop_map(|(pick, holding)| Command::Hold(pick, holding))
}

fn ageing() -> impl Strategy<Value = Command> {
    use Command as C;
    prop_oneof![
        4 => select(vec![HOUR * 7, HOUR * 3]).prop_map(C::AgeLeases),
        4 => select(vec![HOUR * 5, HOUR]).prop_map(C::AgeWaits),
        1 => select(vec![HOUR * 2, HOUR * 12]).prop_map(C::Pass),
        1 => name().prop_map(C::UseTime),
        4 => Just(C::AskAgain),
        4 => name().prop_map(C::AddJob),
    ]
}

fn viewing() -> impl Strategy<Value = Command> {
    use Command as C;
    prop_oneof![
        name().prop_map(C::Report),
        name().prop_map(C::Attempts),
        (filter(), 1..4_u32).prop_map(|(filter, page)| C::List { filter, page }),
        Just(C::Stats),
        Just(C::Bindings),
    ]
}

fn name() -> impl Strategy<Value = Name> {
    (0..3_u8, 0..3_u8).prop_map(|(thing, revision)| Name { thing, revision })
}

fn pick() -> impl Strategy<Value = Pick> {
    prop_oneof![2 => Just(0), 1 => 1..4_usize]
}

prop_compose! {
    fn delivery()(
        name in name(),
        order in prop::option::of(1..=3_u8),
        content in prop_oneof![
            4 => Just(Some(1_u8)),
            2 => (1..=3_u8).prop_map(Some),
            2 => Just(None),
        ],
        source in prop_oneof![3 => Just(0_usize), 1 => 0..2_usize],
        mapping in prop_oneof![40 => Just(1_u8), 1 => Just(2_u8)],
    ) -> Delivery {
        Delivery { name, order, content, source, mapping }
    }
}

prop_compose! {
    fn looking()(
        worker in 1..=3_u8,
        pipelines in select(vec![
            &["moderation"][..],
            &["moderation", "triage"][..],
            &["moderation", "triage"][..],
            &["triage", "moderation"][..],
            &["triage", "moderation"][..],
            &["triage"][..],
        ]),
        classifier in prop_oneof![6 => Just(1_u8), 1 => 1..=2_u8],
        schema in 1..=2_u8,
        max_attempts in select(vec![3, 1, 2, 4_u32]),
    ) -> Looking {
        Looking { worker, pipelines, classifier, schema, max_attempts }
    }
}

fn call() -> impl Strategy<Value = CallRecord> {
    let request = prop::option::of(Just("request-1".to_owned()));
    let tokens = prop::option::of(Just(5_000_000_000_u64));
    (1..=2_u8, request, tokens).prop_map(|(model, request_id, tokens_in)| CallRecord {
        provider: format!("provider {model}"),
        model: format!("model {model}"),
        request_id,
        tokens_in,
        tokens_out: Some(u64::from(model)),
        latency_ms: tokens_in,
    })
}

fn raw_answer() -> impl Strategy<Value = RawAnswer> {
    (1..=2_u8, call()).prop_map(|(answer, call)| RawAnswer {
        raw: vec![answer, 0, b'"'],
        call,
    })
}

fn need() -> impl Strategy<Value = ReviewNeed> {
    let note = prop::option::of(Just("below 0.7".to_owned()));
    (select(ReviewReason::ALL), note).prop_map(|(reason, note)| ReviewNeed { reason, note })
}

fn reason() -> impl Strategy<Value = Option<String>> {
    prop::option::of(Just("/confidence is missing".to_owned()))
}

fn commitment() -> impl Strategy<Value = Commitment> {
    let review = prop::option::of(need());
    let list = prop::option::weighted(0.8, list::drawn());
    let parts = (1..=2_u8, list, review, reason(), prop::option::of(call()));
    parts.prop_map(|(value, findings, review, remark, call)| Commitment {
        value: format!(r#"{{"category":{value}}}"#),
        findings,
        review,
        remark,
        call,
    })
}

fn hours() -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0), 1 => 0..4_u32]
}

/// The outcomes that pause something are not drawn: the reference knows nothing of pauses, which
/// have cases of their own in the conformance suite.
fn rejection() -> impl Strategy<Value = Rejection> {
    use AttemptOutcome as A;
    let outcomes = vec![
        A::SyntaxInvalid,
        A::SchemaInvalid,
        A::PolicyInvalid,
        A::Refused,
        A::Truncated,
    ];
    let next = prop_oneof![
        3 => hours().prop_map(|hours| AfterRejection::Again(HOUR * hours)),
        1 => need().prop_map(AfterRejection::Review),
    ];
    let parts = (select(outcomes), reason(), prop::option::of(call()), next);
    parts.prop_map(|(outcome, reason, call, next)| Rejection {
        outcome,
        reason,
        call,
        next,
    })
}

fn release() -> impl Strategy<Value = Release> {
    use AttemptOutcome as A;
    let outcomes = vec![
        A::Released,
        A::Transport,
        A::RateLimited,
        A::Overloaded,
        A::Timeout,
        A::Database,
    ];
    let charge = prop_oneof![1 => Just(Charge::Keep), 2 => Just(Charge::GiveBack)];
    let call = prop::option::of(call());
    let parts = (select(outcomes), reason(), call, hours(), charge);
    parts.prop_map(|(outcome, reason, call, hours, charge)| Release {
        refused: None,
        outcome,
        reason,
        call,
        after: HOUR * hours,
        charge,
    })
}

fn filter() -> impl Strategy<Value = Filter> {
    let state = prop::option::of(select(StateWord::ALL));
    let tenant = prop::option::of(Just("acme".to_owned()));
    let pipeline = prop::option::of(Just(PIPELINES[1].to_owned()));
    (state, tenant, pipeline).prop_map(|(state, tenant, pipeline)| Filter {
        state,
        tenant,
        pipeline,
    })
}

fn versions() -> impl Strategy<Value = PipelineVersions> {
    let parts = (select(&PIPELINES[..]), 1..=2_u8, 1..=2_u8, 1..=2_u8);
    parts.prop_map(|(pipeline, version, classifier, schema)| PipelineVersions {
        pipeline: pipeline.to_owned(),
        classifier_version: format!("{pipeline}-{version}"),
        classifier_digest: [classifier; 32],
        schema_version: format!("{pipeline}-v{version}"),
        schema_digest: [schema; 32],
    })
}
