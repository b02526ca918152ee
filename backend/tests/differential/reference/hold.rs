//! What a holder may do while its lease stands: token and nonce are compared everywhere.

use fencepost::{
    report::{InputOrigin, State},
    store::{Fetched, Held, KeptInput, Lost, RawAnswer},
};

use super::{Reference, claim::Hold};

impl Reference {
    /// Whether a lease stands. That it ran out does not matter, only that another was granted.
    pub(super) fn stands(&self, hold: &Hold) -> Result<(), Lost> {
        let fence = self.reports[&hold.report].fence;
        if fence != hold.token {
            return Err(Lost::Superseded { by: fence });
        }
        let job = &self.jobs[hold.job];
        if job.granted != Some((hold.token, hold.nonce)) {
            return Err(Lost::GrantedTwice);
        }
        match job.state {
            State::Running => Ok(()),
            state => Err(Lost::Settled { state }),
        }
    }

    pub(crate) fn heartbeat(&mut self, hold: &Hold) -> Held {
        if let Err(lost) = self.stands(hold) {
            return Held::Lost(lost);
        }
        let until = self.now.plus(hold.length);
        self.jobs[hold.job].lease_until = until;
        Held::Yes { until }
    }

    /// An input that was fetched is kept, unless there is one.
    pub(crate) fn keep_input(&mut self, hold: &Hold, fetched: Fetched) -> KeptInput {
        if let Err(lost) = self.stands(hold) {
            return KeptInput::Lost(lost);
        }
        let report = self.of(hold.report);
        if report.input.is_none() {
            report.input_from = InputOrigin::Fetched;
        }
        let kept = report.input.get_or_insert(fetched.input.canonical);
        KeptInput::Kept(kept.clone())
    }

    /// An answer is stored before it is judged.
    pub(crate) fn store_raw(&mut self, hold: &Hold, answer: RawAnswer) -> Held {
        if let Err(lost) = self.stands(hold) {
            return Held::Lost(lost);
        }
        let attempts = &mut self.of(hold.report).attempts;
        let mut all = attempts.iter_mut().map(|attempt| &mut attempt.view);
        let attempt = all.find(|view| view.number == hold.attempt).unwrap();
        attempt.raw = Some(answer.raw);
        attempt.call = Some(answer.call);
        attempt.call_key = Some(hold.call_key);
        let until = self.jobs[hold.job].lease_until;
        Held::Yes { until }
    }
}
