//! The store as the fences describe it, in plain maps and without a thought of tables: what a
//! database answers is compared with this.
//!
//! One function per command. Times are those of a clock that only the test moves.

pub(crate) mod claim;
pub(crate) mod current;
pub(crate) mod fault;
pub(crate) mod hold;
pub(crate) mod intake;
pub(crate) mod list;
pub(crate) mod settle;
pub(crate) mod view;

use std::collections::BTreeMap;

use fencepost::{
    clock::UnixMillis,
    report::{AttemptOutcome, FencingToken, InputOrigin, Nonce, State, VersionStatus},
    store::{
        AttemptView, NewReport, ResultView, ReviewNeed, ReviewStatus, ReviewView, VersionKind,
    },
};
use fencepost_identity::key::{FindingKey, InputHash, MappingDigest, ReportKey, ResultKey};
use list::List;

/// All that a store keeps.
pub(crate) struct Reference {
    /// What its clock shows.
    pub(crate) now: UnixMillis,
    sources: BTreeMap<String, MappingDigest>,
    versions: BTreeMap<(VersionKind, String, String), [u8; 32]>,
    reports: BTreeMap<ReportKey, Report>,
    /// In the order in which they were made; a job is its place in here.
    jobs: Vec<Job>,
    /// The last turn of each pipeline: its number, and the tenant that had it.
    turns: BTreeMap<String, (usize, String)>,
    /// What persons did.
    pub(crate) audited: Vec<&'static str>,
}

/// A report and what hangs on it.
struct Report {
    new: NewReport,
    input_from: InputOrigin,
    /// None while it is to be fetched.
    input: Option<Vec<u8>>,
    received: UnixMillis,
    version: Option<VersionStatus>,
    fence: FencingToken,
    /// The job whose state is the report's.
    job: usize,
    attempts: Vec<Attempt>,
    /// By schema version.
    results: BTreeMap<String, ResultView>,
    /// By schema version, those of results that are lists.
    lists: BTreeMap<String, List>,
    /// The schema version of the canonical one.
    canonical: Option<String>,
    review: Option<ReviewView>,
    conflicts: BTreeMap<InputHash, u64>,
    events: Vec<Told>,
}

/// A job.
struct Job {
    report: ReportKey,
    pipeline: String,
    classifier_version: Option<String>,
    state: State,
    updated: UnixMillis,
    due: UnixMillis,
    elapsed_from: UnixMillis,
    /// The last grant: its token, its nonce, and when its lease ends.
    granted: Option<(FencingToken, Nonce)>,
    lease_until: UnixMillis,
    charged: u32,
    given_back: u32,
    /// One, and one more each time that a person asks for another attempt.
    rounds: u32,
    verdicts: u32,
}

impl Job {
    /// How many charged attempts it may have: each round has as many.
    fn budget(&self, max_attempts: u32) -> u32 {
        max_attempts * self.rounds
    }
}

/// An attempt, and the job that it was for.
struct Attempt {
    job: usize,
    view: AttemptView,
}

/// An event that others are told of, in the order of its report.
#[derive(Clone)]
pub(crate) enum Told {
    Accepted,
    ReviewOpened {
        revision: u64,
    },
    Final {
        result: ResultKey,
    },
    Withdrawn {
        result: ResultKey,
        findings: Vec<FindingKey>,
    },
}

impl Reference {
    pub(crate) fn new(now: UnixMillis) -> Self {
        Self {
            now,
            sources: BTreeMap::new(),
            versions: BTreeMap::new(),
            reports: BTreeMap::new(),
            jobs: Vec::new(),
            turns: BTreeMap::new(),
            audited: Vec::new(),
        }
    }

    /// All reports.
    pub(crate) fn keys(&self) -> Vec<ReportKey> {
        self.reports.keys().copied().collect()
    }

    /// All that others are told, by report.
    pub(crate) fn told(&self) -> impl Iterator<Item = (ReportKey, &[Told])> {
        let each = self.reports.iter();
        each.map(|(key, report)| (*key, report.events.as_slice()))
    }

    fn of(&mut self, key: ReportKey) -> &mut Report {
        self.reports.get_mut(&key).unwrap()
    }

    fn is_superseded(&self, key: ReportKey) -> bool {
        self.reports[&key].version == Some(VersionStatus::Superseded)
    }

    /// Makes a job that waits.
    fn push_job(&mut self, report: ReportKey, pipeline: String, version: Option<String>) -> usize {
        let job = self.jobs.len();
        self.jobs.push(Job {
            report,
            pipeline,
            classifier_version: version,
            state: State::Accepted,
            updated: self.now,
            due: self.now,
            elapsed_from: self.now,
            granted: None,
            lease_until: self.now,
            charged: 0,
            given_back: 0,
            rounds: 1,
            verdicts: 0,
        });
        job
    }

    /// Moves a job, whose lease ends with that.
    fn move_job(&mut self, job: usize, state: State) {
        let now = self.now;
        let job = &mut self.jobs[job];
        job.state = state;
        job.updated = now;
    }

    /// A new need opens the one review item of the report, again if need be.
    fn open_review(&mut self, key: ReportKey, need: &ReviewNeed) {
        let now = self.now;
        let report = self.of(key);
        let seen = report.review.as_ref().map_or(0, |review| review.revision);
        let revision = seen + 1;
        report.review = Some(ReviewView {
            revision,
            status: ReviewStatus::Open,
            reason: need.reason,
            note: need.note.clone(),
            opened: now,
            closed: None,
        });
        report.events.push(Told::ReviewOpened { revision });
    }

    /// Nobody is asked any more.
    fn close_review(&mut self, key: ReportKey) {
        let now = self.now;
        let review = self.of(key).review.as_mut();
        if let Some(review) = review.filter(|review| review.status == ReviewStatus::Open) {
            review.status = ReviewStatus::Closed;
            review.closed = Some(now);
        }
    }

    /// Raises the token of a report: whoever held one of its jobs has lost it.
    fn raise(&mut self, key: ReportKey) {
        let now = self.now;
        let report = self.of(key);
        report.fence = report.fence.next().unwrap();
        let open = report.attempts.iter_mut();
        for attempt in open.filter(|attempt| attempt.view.outcome.is_none()) {
            attempt.view.outcome = Some(AttemptOutcome::LeaseLost);
            attempt.view.ended = Some(now);
        }
    }
}
