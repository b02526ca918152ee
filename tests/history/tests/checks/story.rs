//! Makes sound histories: the rows that the program writes, without the program.

pub(crate) mod lists;

use std::collections::BTreeMap;

use fencepost_history::{
    Acknowledgement, Attempt, AttemptOutcome, Decision, DecisionKind, Ending, Event, EventKind,
    Finished, History, Job, JobState, ModelCall, Report, ResultRow, ResultStatus, Review,
    ReviewStatus, Terms,
};
use fencepost_identity::key::{CallKey, ClaimKey, ReportKey, ResultKey};

/// What every run here is allowed, wherever it ends.
pub(crate) const TERMS: Terms = Terms {
    max_attempts: 3,
    finished: Finished::NotYet,
};

/// What is asked with and what an answer has to fit.
#[derive(Clone, Copy)]
pub(crate) struct Versions {
    pub(crate) classifier: &'static str,
    pub(crate) schema: &'static str,
}

pub(crate) const FIRST: Versions = Versions {
    classifier: "prompt-1",
    schema: "schema-1",
};

/// Of a replay that asks otherwise.
pub(crate) const OTHER_CLASSIFIER: Versions = Versions {
    classifier: "prompt-2",
    schema: FIRST.schema,
};

/// Of a replay whose answer has to fit something else.
pub(crate) const OTHER_SCHEMA: Versions = Versions {
    classifier: "prompt-3",
    schema: "schema-2",
};

/// A history in the making. Every step takes some time, and leaves what a transaction would.
#[derive(Default)]
pub(crate) struct Story {
    pub(crate) history: History,
    now: i64,
    versions: BTreeMap<i64, Versions>,
}

/// A report's key.
pub(crate) fn key(number: u8) -> String {
    ReportKey::from_bytes([number; 32]).to_string()
}

/// The key of a report's `n`th question.
pub(crate) fn call_key(report: &str, classifier_version: &str, n: u32) -> String {
    let report = report.parse().unwrap();
    CallKey::of(&ClaimKey::of(&report, classifier_version), n).to_string()
}

/// The key of a report's result.
pub(crate) fn result_key(report: &str, schema_version: &str) -> String {
    ResultKey::of(&report.parse().unwrap(), schema_version).to_string()
}

pub(crate) fn report<'a>(history: &'a mut History, key: &str) -> &'a mut Report {
    let mut reports = history.reports.iter_mut();
    reports.find(|report| report.key == key).unwrap()
}

/// The report's current job.
pub(crate) fn job<'a>(history: &'a mut History, key: &str) -> &'a mut Job {
    let current = report(history, key).current_job;
    let mut jobs = history.jobs.iter_mut();
    jobs.find(|job| Some(job.id) == current).unwrap()
}

pub(crate) fn attempt<'a>(history: &'a mut History, key: &str, number: i64) -> &'a mut Attempt {
    let mut attempts = history.attempts.iter_mut();
    let is_it = |attempt: &&mut Attempt| attempt.report == key && attempt.number == number;
    attempts.find(is_it).unwrap()
}

impl Story {
    /// What the transactions of one step are stamped with.
    fn tick(&mut self) -> i64 {
        self.now += 10;
        self.now
    }

    /// A client is told that the report is stored.
    pub(crate) fn acknowledge(&mut self, key: &str) {
        let at_ms = self.tick();
        self.history.acknowledgements.push(Acknowledgement {
            key: key.to_owned(),
            status: 202,
            at_ms,
        });
    }

    fn announce(&mut self, key: &str, kind: EventKind, result: Option<String>) {
        let events = self.history.events.iter();
        let before = events.filter(|event| event.report == key).count();
        self.history.events.push(Event {
            report: key.to_owned(),
            sequence: i64::try_from(before).unwrap() + 1,
            kind,
            result,
            created_ms: self.now,
        });
    }

    fn announce_final(&mut self, key: &str, result: String) {
        let told = Some(&result);
        let is_it =
            |event: &Event| event.kind == EventKind::ResultFinal && event.result.as_ref() == told;
        if !self.history.events.iter().any(is_it) {
            self.announce(key, EventKind::ResultFinal, Some(result));
        }
    }

    fn make_job(&mut self, key: &str, versions: Versions) -> i64 {
        let id = i64::try_from(self.history.jobs.len()).unwrap() + 1;
        self.versions.insert(id, versions);
        self.history.jobs.push(Job {
            id,
            report: key.to_owned(),
            state: JobState::Accepted,
            ending: None,
            token: None,
            grants: 0,
            charged: 0,
            given_back: 0,
            rounds: 1,
            set_aside: None,
        });
        id
    }

    /// A report is stored and acknowledged.
    pub(crate) fn accept(&mut self, number: u8) -> String {
        let key = key(number);
        let received_ms = self.tick();
        let job = self.make_job(&key, FIRST);
        self.history.reports.push(Report {
            key: key.clone(),
            fence: 0,
            current_job: Some(job),
            current_result: None,
            thing: ["t".to_owned(), "n".to_owned(), number.to_string()],
            is_current: None,
            received_ms,
        });
        self.announce(&key, EventKind::ReportAccepted, None);
        self.acknowledge(&key);
        key
    }

    /// A raised token ends the attempt that is open. How many the report has.
    fn cut_off(&mut self, key: &str) -> i64 {
        let of_report = self.history.attempts.iter_mut();
        let mut attempts = 0;
        for attempt in of_report.filter(|attempt| attempt.report == key) {
            attempts += 1;
            if attempt.outcome.is_none() {
                attempt.outcome = Some(AttemptOutcome::LeaseLost);
                attempt.ended_ms = Some(self.now);
            }
        }
        attempts
    }

    /// The report's current job is granted, or taken over.
    pub(crate) fn grant(&mut self, key: &str) {
        let started_ms = self.tick();
        let number = self.cut_off(key) + 1;
        for job in self.history.jobs.iter_mut().filter(|job| job.report == key) {
            if job.state == JobState::Running {
                job.state = JobState::Terminal;
                job.ending = Some(Ending::Superseded);
            }
        }
        report(&mut self.history, key).fence += 1;
        let token = report(&mut self.history, key).fence;
        let job = job(&mut self.history, key);
        job.state = JobState::Running;
        job.ending = None;
        job.token = Some(token);
        job.grants += 1;
        job.charged += 1;
        let versions = self.versions[&job.id];
        let job = job.id;
        self.history.attempts.push(Attempt {
            report: key.to_owned(),
            number,
            job,
            charged: true,
            token,
            classifier_version: versions.classifier.to_owned(),
            schema_version: versions.schema.to_owned(),
            started_ms,
            ended_ms: None,
            outcome: None,
        });
    }

    /// The model is asked by the holder of the report's lease.
    pub(crate) fn call(&mut self, key: &str) {
        let at_ms = self.tick();
        let open = job(&mut self.history, key).id;
        let of_job = self.history.attempts.iter().filter(|it| it.job == open);
        let judged = of_job.filter(|it| it.outcome.is_some_and(AttemptOutcome::is_verdict));
        let n = u32::try_from(judged.count()).unwrap() + 1;
        let call_key = call_key(key, self.versions[&open].classifier, n);
        self.history.model_calls.push(ModelCall { call_key, at_ms });
    }

    /// A grant, and a call under it.
    pub(crate) fn ask(&mut self, key: &str) {
        self.grant(key);
        self.call(key);
    }

    fn end(&mut self, key: &str, outcome: AttemptOutcome, state: JobState) {
        let ended_ms = self.tick();
        let mut attempts = self.history.attempts.iter_mut();
        let is_open = |it: &&mut Attempt| it.report == key && it.outcome.is_none();
        let attempt = attempts.find(is_open).unwrap();
        attempt.outcome = Some(outcome);
        attempt.ended_ms = Some(ended_ms);
        job(&mut self.history, key).state = state;
    }

    /// The answer is not valid, and another attempt is due.
    pub(crate) fn reject(&mut self, key: &str, outcome: AttemptOutcome) {
        self.end(key, outcome, JobState::ValidationRejected);
    }

    /// The answer is not valid, and a person is asked.
    pub(crate) fn reject_for_review(&mut self, key: &str, outcome: AttemptOutcome) {
        self.end(key, outcome, JobState::ReadyForReview);
        self.open_review(key);
    }

    /// The lease is given back, and the attempt with it.
    pub(crate) fn give_back(&mut self, key: &str, outcome: AttemptOutcome) {
        let mut attempts = self.history.attempts.iter_mut();
        let is_open = |it: &&mut Attempt| it.report == key && it.outcome.is_none();
        attempts.find(is_open).unwrap().charged = false;
        self.end(key, outcome, JobState::Accepted);
        job(&mut self.history, key).given_back += 1;
    }

    /// A person's value may stand where no model was ever asked.
    fn put_result(&mut self, key: &str) -> String {
        let mut of_report = self.history.attempts.iter().filter(|it| it.report == key);
        let last = of_report.next_back();
        let attempt = last.map(|attempt| attempt.number);
        let token = last.map_or(0, |attempt| attempt.token);
        let schema_version = last.map_or(FIRST.schema, |attempt| &attempt.schema_version);
        let schema_version = schema_version.to_owned();
        let result = result_key(key, &schema_version);
        let results = &mut self.history.results;
        for other in results.iter_mut().filter(|it| it.report == key) {
            other.status = ResultStatus::History;
        }
        results.retain(|other| other.key != result);
        results.push(ResultRow {
            key: result.clone(),
            report: key.to_owned(),
            schema_version,
            value: Some("1".to_owned()),
            is_list: false,
            token,
            attempt,
            candidate_attempt: None,
            status: ResultStatus::Current,
            updated_ms: self.now,
        });
        report(&mut self.history, key).current_result = Some(result.clone());
        result
    }

    /// The answer is valid, and that is that.
    pub(crate) fn commit(&mut self, key: &str) {
        self.end(key, AttemptOutcome::Committed, JobState::Terminal);
        job(&mut self.history, key).ending = Some(Ending::Committed);
        let result = self.put_result(key);
        self.announce_final(key, result);
    }

    /// The answer is valid, and a person has to see it.
    pub(crate) fn commit_for_review(&mut self, key: &str) {
        self.end(key, AttemptOutcome::Committed, JobState::ReadyForReview);
        self.put_result(key);
        self.open_review(key);
    }

    /// A job whose attempts or whose time is spent goes to review, without a grant.
    pub(crate) fn exhaust(&mut self, key: &str) {
        self.tick();
        report(&mut self.history, key).fence += 1;
        let token = report(&mut self.history, key).fence;
        self.cut_off(key);
        let job = job(&mut self.history, key);
        job.state = JobState::ReadyForReview;
        job.token = Some(token);
        self.open_review(key);
    }

    fn open_review(&mut self, key: &str) {
        let opened_ms = self.now;
        let mut reviews = self.history.reviews.iter_mut();
        match reviews.find(|item| item.report == key) {
            Some(item) => {
                item.revision += 1;
                item.status = ReviewStatus::Open;
                item.opened_ms = opened_ms;
                item.closed_ms = None;
            }
            None => self.history.reviews.push(Review {
                report: key.to_owned(),
                revision: 1,
                status: ReviewStatus::Open,
                opened_ms,
                closed_ms: None,
            }),
        }
        self.announce(key, EventKind::ReviewOpened, None);
    }

    fn close_review(&mut self, key: &str) -> Option<i64> {
        let closed_ms = self.now;
        let mut reviews = self.history.reviews.iter_mut();
        let item = reviews.find(|item| item.report == key)?;
        item.status = ReviewStatus::Closed;
        item.closed_ms = item.closed_ms.or(Some(closed_ms));
        Some(item.revision)
    }

    /// A person decides.
    pub(crate) fn decide(&mut self, key: &str, kind: DecisionKind) {
        let decided_ms = self.tick();
        let revision_seen = self.close_review(key).unwrap();
        let decisions = self.history.decisions.iter();
        let before = decisions.filter(|decision| decision.report == key).count();
        self.history.decisions.push(Decision {
            report: key.to_owned(),
            number: i64::try_from(before).unwrap() + 1,
            revision_seen,
            kind,
            decided_ms,
        });
        let (state, ending) = match kind {
            DecisionKind::Accept | DecisionKind::Correct => {
                (JobState::Terminal, Some(Ending::Decided))
            }
            DecisionKind::Dismiss => (JobState::Terminal, Some(Ending::Dismissed)),
            DecisionKind::Retry => (JobState::Accepted, None),
        };
        let job = job(&mut self.history, key);
        job.state = state;
        job.ending = ending;
        job.rounds += i64::from(kind == DecisionKind::Retry);
        if ending == Some(Ending::Decided) {
            let result = match report(&mut self.history, key).current_result.clone() {
                Some(result) => result,
                None => self.put_result(key),
            };
            self.announce_final(key, result);
        }
    }

    /// The report is asked again, under other versions.
    pub(crate) fn replay(&mut self, key: &str, versions: Versions) {
        self.tick();
        let job = self.make_job(key, versions);
        report(&mut self.history, key).current_job = Some(job);
    }

    fn end_from_outside(&mut self, key: &str, ending: Ending) {
        self.tick();
        report(&mut self.history, key).fence += 1;
        self.close_review(key);
        self.cut_off(key);
        let job = job(&mut self.history, key);
        job.state = JobState::Terminal;
        job.ending = Some(ending);
    }

    /// A newer version takes the report's place.
    pub(crate) fn supersede(&mut self, key: &str) {
        self.end_from_outside(key, Ending::Superseded);
    }

    /// The report's contents are erased, and the events that nobody was told of yet.
    pub(crate) fn erase(&mut self, key: &str) {
        self.end_from_outside(key, Ending::Erased);
        self.history.findings.retain(|row| row.report != key);
        for result in self
            .history
            .results
            .iter_mut()
            .filter(|it| it.report == key)
        {
            (result.value, result.is_list) = (None, false);
        }
        let told = |event: &Event| event.report != key || event.kind == EventKind::ResultFinal;
        self.history.events.retain(told);
    }
}
