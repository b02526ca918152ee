//! Which of a report's jobs speaks for it, once it has several.

use fencepost::report::{Outcome, State};

use super::Reference;

impl Reference {
    /// At most one job of a report is live: one that is granted ends another that is, and older
    /// ones that wait for a worker. Where it ends the current one, it takes its place.
    pub(super) fn cut_off_others(&mut self, job: usize) {
        let key = self.jobs[job].report;
        for other in 0..self.jobs.len() {
            let ends = match self.jobs[other].state {
                State::Running => other != job,
                State::Accepted | State::ValidationRejected => other < job,
                State::ReadyForReview | State::Terminal(_) => false,
            };
            if ends && self.jobs[other].report == key {
                self.move_job(other, State::Terminal(Outcome::Superseded));
                let report = self.of(key);
                if report.job == other {
                    report.job = job;
                }
            }
        }
    }

    /// A job that has an answer, or waits for a person, speaks for its report. Older ones that
    /// wait, for whomever, end with that.
    pub(super) fn take_over(&mut self, job: usize) {
        let key = self.jobs[job].report;
        if self.reports[&key].job == job {
            return;
        }
        for older in 0..job {
            let waits = match self.jobs[older].state {
                State::Accepted | State::ValidationRejected | State::ReadyForReview => true,
                State::Running | State::Terminal(_) => false,
            };
            if waits && self.jobs[older].report == key {
                self.move_job(older, State::Terminal(Outcome::Superseded));
            }
        }
        self.close_review(key);
        self.of(key).job = job;
    }
}
