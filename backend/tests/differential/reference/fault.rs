//! What happens to a store from outside: time passes, a reply is lost, a backup is brought back.

use std::time::Duration;

use fencepost::{
    clock::UnixMillis,
    report::{FencingToken, State},
    store::{Release, Released},
};
use fencepost_identity::key::ReportKey;

use super::{Reference, claim::Hold};

impl Reference {
    pub(crate) fn pass(&mut self, time: Duration) {
        self.now = self.now.plus(time);
    }

    /// Brings the ends of all leases nearer.
    pub(crate) fn age_leases(&mut self, by: Duration) {
        let running = self.jobs.iter_mut();
        for job in running.filter(|job| job.state == State::Running) {
            job.lease_until = earlier(job.lease_until, by);
        }
    }

    /// Brings nearer what waiting jobs wait for.
    pub(crate) fn age_waits(&mut self, by: Duration) {
        let waiting = self.jobs.iter_mut();
        for job in waiting.filter(|job| job.state != State::Running) {
            job.due = earlier(job.due, by);
        }
    }

    /// Uses up time that a report's jobs have in all.
    pub(crate) fn use_time(&mut self, key: ReportKey, time: Duration) {
        let its = self.jobs.iter_mut();
        for job in its.filter(|job| job.report == key) {
            job.elapsed_from = earlier(job.elapsed_from, time);
        }
    }

    /// Brings a report back to what it was before its job was granted, as an old backup would.
    pub(crate) fn set_back(&mut self, key: ReportKey) {
        let mut its = self.jobs.iter_mut();
        let live = its.find(|job| job.report == key && job.state == State::Running);
        let Some(job) = live else { return };
        job.state = State::Accepted;
        let report = self.of(key);
        report.fence = FencingToken::from_stored(report.fence.stored() - 1).unwrap();
    }

    /// A report that waits for a person.
    pub(crate) fn waits_for_a_person(&self) -> Option<ReportKey> {
        let mut jobs = self.jobs.iter();
        let waiting = jobs.find(|job| job.state == State::ReadyForReview)?;
        Some(waiting.report)
    }

    /// Gives a job that waited for a person another round.
    pub(crate) fn ask_again(&mut self, key: ReportKey) {
        let now = self.now;
        let mut its = self.jobs.iter_mut().filter(|job| job.report == key);
        if let Some(job) = its.find(|job| job.state == State::ReadyForReview) {
            (job.state, job.due, job.updated) = (State::Accepted, now, now);
            job.rounds += 1;
            self.close_review(key);
        }
    }

    /// Adds a job for another version. None, where a job still waits for its first grant: it takes
    /// the version of whoever claims it.
    pub(crate) fn add_job(&mut self, key: ReportKey, classifier_version: &str) {
        let its = || self.jobs.iter().filter(|job| job.report == key);
        let versions = || its().map(|job| job.classifier_version.as_deref());
        let free =
            |version: Option<&str>| version.is_some_and(|version| version != classifier_version);
        if !self.reports.contains_key(&key) || !versions().all(free) || self.is_superseded(key) {
            return;
        }
        let pipeline = self.reports[&key].new.pipeline.clone();
        let version = Some(classifier_version.to_owned());
        self.push_job(key, pipeline, version);
    }

    /// Whether a release would put the job off, so that it can be played that its reply was lost.
    pub(crate) fn would_put_off(&self, hold: &Hold) -> bool {
        let job = &self.jobs[hold.job];
        let spent = job.charged - job.given_back >= job.budget(hold.max_attempts);
        self.stands(hold).is_ok() && !spent && !self.is_superseded(hold.report)
    }

    /// Puts a job off; its holder is not told.
    pub(crate) fn lose_reply(&mut self, hold: &Hold, release: Release) {
        let released = self.release(hold, release);
        assert!(
            matches!(released, Released::Rescheduled { .. }),
            "{released:?}"
        );
    }
}

fn earlier(time: UnixMillis, by: Duration) -> UnixMillis {
    UnixMillis::new(time.get() - i64::try_from(by.as_millis()).unwrap())
}
