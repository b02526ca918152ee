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
