//! Rules 2, 3 and 5: one model call at a time, and when no more is granted.

use std::time::Duration;

use fencepost::{
    clock::UnixMillis,
    report::{AttemptNumber, AttemptOutcome, FencingToken, Nonce, Outcome, ReviewReason, State},
    store::{AttemptView, ClaimRequest, PipelineTerms, RawAnswer, StoredAnswer},
};
use fencepost_identity::{
    identity::Identity,
    key::{CallKey, ClaimKey, ReportKey},
};

use super::{Attempt, Reference};

/// What is answered to a claim.
#[derive(Debug)]
pub(crate) enum Claimed {
    Granted(Box<Granted>),
    Idle { wait: Option<Duration> },
    Exhausted(ReportKey),
    Elapsed(ReportKey),
    Superseded(ReportKey),
    Other(String),
}

/// What a grant shows to its worker.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) report: ReportKey,
    pub(crate) token: FencingToken,
    pub(crate) attempt: AttemptNumber,
    pub(crate) call_key: CallKey,
    pub(crate) classifier_version: String,
    pub(crate) schema_version: String,
    pub(crate) until: UnixMillis,
    pub(crate) length: Duration,
    pub(crate) identity: Identity,
    pub(crate) source: String,
    pub(crate) pipeline: String,
    /// None while it is to be fetched, by these links.
    pub(crate) input: Option<Vec<u8>>,
    pub(crate) links: Vec<(String, String)>,
    pub(crate) stored: Option<StoredAnswer>,
    pub(crate) last_verdict: Option<AttemptOutcome>,
    pub(crate) failures: u32,
}

/// A lease, as the reference knows it.
#[derive(Clone)]
pub(crate) struct Hold {
    pub(super) job: usize,
    pub(super) report: ReportKey,
    pub(super) token: FencingToken,
    pub(super) nonce: Nonce,
    pub(super) attempt: AttemptNumber,
    pub(super) call_key: CallKey,
    pub(super) schema_version: String,
    pub(super) max_attempts: u32,
    pub(super) length: Duration,
}

impl Reference {
    /// Grants a job that is due, be it waiting or under a lease that ran out: of the pipeline whose
    /// last turn was longest ago, and there of the tenant after the one that had it, the job that
    /// is due longest.
    pub(crate) fn claim(&mut self, request: &ClaimRequest) -> (Claimed, Option<Hold>) {
        let this = &*self;
        let places = request.pipelines.iter().flat_map(|terms| {
            let jobs = 0..this.jobs.len();
            jobs.filter_map(move |job| Some((this.falls_due(job, terms)?, job, terms)))
        });
        let (due, later): (Vec<_>, Vec<_>) = places.partition(|(due, ..)| *due <= this.now);
        let turn = due.into_iter().min_by_key(|(due, job, terms)| {
            let (number, last) = this.last_turn(&terms.pipeline);
            let tenant = this.tenant(*job);
            let before_it = this.falls_due_first(terms);
            (number, before_it, tenant <= last, tenant, *due, *job)
        });
        let Some((_, job, terms)) = turn else {
            let wait = later.iter().map(|(due, ..)| due.since(this.now)).min();
            return (Claimed::Idle { wait }, None);
        };
        self.has_turn(&terms.pipeline, self.tenant(job).to_owned());
        let key = self.jobs[job].report;
        self.raise(key);
        self.cut_off_others(job);
        if let Some(ended) = self.end_instead(job, terms) {
            return (ended, None);
        }
        let (granted, hold) = self.grant(job, request, terms);
        (Claimed::Granted(Box::new(granted)), Some(hold))
    }

    fn tenant(&self, job: usize) -> &str {
        let report = &self.reports[&self.jobs[job].report];
        report.new.identity.tenant.as_str()
    }

    /// The number of a pipeline's last turn, and the tenant that had it.
    fn last_turn(&self, pipeline: &str) -> (usize, &str) {
        let turn = self.turns.get(pipeline);
        turn.map_or((0, ""), |(number, tenant)| (*number, tenant))
    }

    fn has_turn(&mut self, pipeline: &str, tenant: String) {
        let numbers = self.turns.values().map(|(number, _)| number);
        let number = 1 + numbers.max().copied().unwrap_or(0);
        self.turns.insert(pipeline.to_owned(), (number, tenant));
    }

    /// When the first job of a pipeline falls due.
    fn falls_due_first(&self, terms: &PipelineTerms) -> Option<UnixMillis> {
        let jobs = 0..self.jobs.len();
        jobs.filter_map(|job| self.falls_due(job, terms)).min()
    }

    /// When a job may be taken, if ever by a worker on these terms.
    fn falls_due(&self, job: usize, terms: &PipelineTerms) -> Option<UnixMillis> {
        let job = &self.jobs[job];
        let bound = job.classifier_version.as_ref();
        if job.pipeline != terms.pipeline || bound.is_some_and(|b| *b != terms.classifier_version) {
            return None;
        }
        match job.state {
            State::Accepted | State::ValidationRejected => Some(job.due),
            State::Running => Some(job.lease_until),
            State::ReadyForReview | State::Terminal(_) => None,
        }
    }

    /// Ends a job for which nothing may be called any more.
    fn end_instead(&mut self, place: usize, terms: &PipelineTerms) -> Option<Claimed> {
        let job = &self.jobs[place];
        let key = job.report;
        let (reason, claimed) = if self.is_superseded(key) {
            self.leave(place, State::Terminal(Outcome::Superseded));
            return Some(Claimed::Superseded(key));
        } else if job.charged - job.given_back >= job.budget(terms.max_attempts) {
            (ReviewReason::AttemptsSpent, Claimed::Exhausted(key))
        } else if self.now.since(job.elapsed_from) >= terms.max_elapsed {
            (ReviewReason::Elapsed, Claimed::Elapsed(key))
        } else {
            return None;
        };
        self.leave(place, State::ReadyForReview);
        self.take_over(place);
        self.open_review(key, &reason.into());
        Some(claimed)
    }

    /// Nobody holds the job any more.
    fn leave(&mut self, job: usize, state: State) {
        self.move_job(job, state);
        self.jobs[job].granted = None;
    }

    fn grant(
        &mut self,
        place: usize,
        request: &ClaimRequest,
        terms: &PipelineTerms,
    ) -> (Granted, Hold) {
        let key = self.jobs[place].report;
        let (token, until) = (self.reports[&key].fence, self.now.plus(terms.lease));
        let past = self.past(place);
        self.move_job(place, State::Running);
        let job = &mut self.jobs[place];
        job.granted = Some((token, request.nonce));
        job.lease_until = until;
        job.classifier_version = Some(terms.classifier_version.clone());
        job.charged += 1;
        let claim_key = ClaimKey::of(&key, &terms.classifier_version);
        let call_key = CallKey::of(&claim_key, job.verdicts + 1);
        let stored = self.unjudged(key, call_key);
        let attempt = self.open_attempt(place, request, terms);
        let new = &self.reports[&key].new;
        let granted = Granted {
            report: key,
            token,
            attempt,
            call_key,
            classifier_version: terms.classifier_version.clone(),
            schema_version: terms.schema_version.clone(),
            until,
            length: terms.lease,
            identity: new.identity.clone(),
            source: new.source.clone(),
            pipeline: terms.pipeline.clone(),
            input: self.reports[&key].input.clone(),
            links: match self.reports[&key].input {
                Some(_) => Vec::new(),
                None => new.links.clone(),
            },
            stored,
            last_verdict: past.0,
            failures: past.1,
        };
        let hold = Hold {
            job: place,
            report: key,
            token,
            nonce: request.nonce,
            attempt,
            call_key,
            schema_version: terms.schema_version.clone(),
            max_attempts: terms.max_attempts,
            length: terms.lease,
        };
        (granted, hold)
    }

    /// Attempts are numbered by grants, and charged when they are granted.
    fn open_attempt(
        &mut self,
        job: usize,
        request: &ClaimRequest,
        terms: &PipelineTerms,
    ) -> AttemptNumber {
        let (key, now) = (self.jobs[job].report, self.now);
        let report = self.of(key);
        let number = i64::try_from(report.attempts.len()).unwrap() + 1;
        let number = AttemptNumber::from_stored(number).unwrap();
        let view = AttemptView {
            number,
            charged: true,
            worker: request.worker.clone(),
            token: report.fence,
            classifier_version: terms.classifier_version.clone(),
            schema_version: terms.schema_version.clone(),
            call: None,
            call_key: None,
            started: now,
            ended: None,
            outcome: None,
            reason: None,
            raw: None,
            raw_emptied: None,
            verdict: None,
        };
        report.attempts.push(Attempt { job, view });
        number
    }

    /// The last verdict on an answer of a job, and how often the provider failed since.
    fn past(&self, job: usize) -> (Option<AttemptOutcome>, u32) {
        let attempts = &self.reports[&self.jobs[job].report].attempts;
        let latest = attempts.iter().rev().filter(|attempt| attempt.job == job);
        let mut failures = 0;
        for attempt in latest {
            if attempt.view.verdict.is_some() {
                return (attempt.view.verdict, failures);
            }
            let outcome = attempt.view.outcome;
            failures += u32::from(outcome.is_some_and(AttemptOutcome::is_transient));
        }
        (None, failures)
    }

    /// A stored answer to this very question that has no verdict.
    fn unjudged(&self, key: ReportKey, call_key: CallKey) -> Option<StoredAnswer> {
        let mut latest = self.reports[&key].attempts.iter().rev();
        let found = latest.find(|attempt| {
            attempt.view.call_key == Some(call_key) && attempt.view.verdict.is_none()
        });
        let view = &found?.view;
        let raw = view.raw.clone()?;
        let call = view.call.clone().unwrap();
        Some(StoredAnswer {
            answer: RawAnswer { raw, call },
            attempt: view.number,
        })
    }
}
