//! What one extractor made of all that it was asked, counted.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

use crate::{
    config::Price,
    extractor::{Disposition, Usage},
    judge::Judgement,
    report::AttemptOutcome,
    worker::Trial,
};

/// What became of one input.
pub(super) enum Tried {
    /// It is more than its pipeline shows to any model, or nothing could be held to it.
    NotAsked(AttemptOutcome),
    /// It was asked about.
    Asked(Box<Trial>),
}

/// The counts of one extractor. Its numbers are of first attempts: nothing is asked again.
#[derive(Serialize)]
pub(super) struct Tally {
    pub(super) extractor: String,
    pub(super) asked: u64,
    pub(super) too_long: u64,
    pub(super) valid: u64,
    /// How often a person would look at what came of it, be it valid or not.
    pub(super) reviewed: u64,
    /// What was not valid, by what an attempt would be called.
    pub(super) failed: BTreeMap<AttemptOutcome, u64>,
    pub(super) tokens_in: u64,
    pub(super) tokens_out: u64,
    /// How many calls told of no tokens, or not of all of them.
    pub(super) uncounted: u64,
    /// Of all calls, whatever came of them.
    pub(super) latency_ms: Latency,
    /// Of the tokens that were counted.
    pub(super) cost: Option<Cost>,
    #[serde(skip)]
    price: Option<Price>,
}

/// How long calls took.
#[derive(Default, Serialize)]
pub(super) struct Latency {
    /// Of an even number of calls, the shorter of the two in the middle.
    pub(super) median: u64,
    pub(super) max: u64,
    #[serde(skip)]
    all: Vec<u64>,
}

/// Money.
#[derive(Serialize)]
pub(super) struct Cost {
    /// A decimal number.
    pub(super) amount: String,
    pub(super) currency: String,
}

impl Tally {
    pub(super) fn new(extractor: &str, price: Option<Price>) -> Self {
        let mut tally = Self {
            extractor: extractor.to_owned(),
            asked: 0,
            too_long: 0,
            valid: 0,
            reviewed: 0,
            failed: BTreeMap::new(),
            tokens_in: 0,
            tokens_out: 0,
            uncounted: 0,
            latency_ms: Latency::default(),
            cost: None,
            price,
        };
        tally.settle_up();
        tally
    }

    /// Counts what became of one input, and gives the judgement on the answer, if there was one.
    pub(super) fn count(&mut self, tried: Tried) -> Option<Judgement> {
        let trial = match tried {
            Tried::NotAsked(outcome) => {
                if outcome == AttemptOutcome::ContextTooLong {
                    self.too_long += 1;
                } else {
                    self.fail(outcome);
                }
                self.reviewed += 1;
                return None;
            }
            Tried::Asked(trial) => *trial,
        };
        self.asked += 1;
        match trial {
            Trial::Failed {
                error,
                outcome,
                took,
            } => {
                self.used(error.call.usage, took);
                self.fail(outcome);
                if matches!(error.disposition(), Disposition::Review) {
                    self.reviewed += 1;
                }
                None
            }
            Trial::Answered {
                draft,
                took,
                judgement,
            } => {
                self.used(draft.call.usage, took);
                match &judgement {
                    Judgement::Valid { doubt, .. } => {
                        self.valid += 1;
                        self.reviewed += u64::from(doubt.is_some());
                    }
                    Judgement::Invalid { outcome, .. } => self.fail(*outcome),
                }
                Some(judgement)
            }
        }
    }

    fn fail(&mut self, outcome: AttemptOutcome) {
        *self.failed.entry(outcome).or_default() += 1;
    }

    fn used(&mut self, usage: Usage, took: Duration) {
        let Usage {
            tokens_in,
            tokens_out,
        } = usage;
        self.tokens_in += tokens_in.unwrap_or_default();
        self.tokens_out += tokens_out.unwrap_or_default();
        self.uncounted += u64::from(tokens_in.is_none() || tokens_out.is_none());
        self.latency_ms.add(took);
        self.settle_up();
    }

    fn settle_up(&mut self) {
        self.cost = self.price.as_ref().map(|price| Cost {
            amount: format!("{:.6}", price.of(self.tokens_in, self.tokens_out)),
            currency: price.currency.clone(),
        });
    }
}

impl Latency {
    fn add(&mut self, took: Duration) {
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let at = self.all.partition_point(|earlier| *earlier < took);
        self.all.insert(at, took);
        let middle = (self.all.len() - 1) / 2;
        self.median = self.all.get(middle).copied().unwrap_or_default();
        self.max = self.all.last().copied().unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_all_calls_took_no_longer_than_the_median() {
        let mut latency = Latency::default();
        for (took, median, max) in [(7, 7, 7), (3, 3, 7), (5, 5, 7), (90, 5, 90), (0, 5, 90)] {
            latency.add(Duration::from_millis(took));
            assert_eq!((latency.median, latency.max), (median, max), "{took}");
        }
    }
}
