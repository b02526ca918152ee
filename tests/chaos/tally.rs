//! What happened, counted.

use std::fmt;

use fencepost_cluster::Ending;
use fencepost_history::Counts;

use crate::{
    deck::{Blow, Victim},
    load::Sent,
};

/// What happened in one round, or in several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    rounds: u64,
    reports: usize,
    deliveries: u64,
    duplicates: u64,
    refused: u64,
    kills_of_ingest: u64,
    kills_of_workers: u64,
    kills_of_all: u64,
    suspensions: u64,
    suspensions_locked: u64,
    restarts_fast: u64,
    restarts_immediate: u64,
    restarts_killed: u64,
    takeovers: usize,
    model_calls: usize,
    results: usize,
    reviews: usize,
}

impl Tally {
    pub(crate) fn round() -> Self {
        Self {
            rounds: 1,
            ..Self::default()
        }
    }

    pub(crate) fn count(&mut self, blow: Blow) {
        *match blow {
            Blow::Kill(Victim::Ingest) => &mut self.kills_of_ingest,
            Blow::Kill(Victim::Worker(_)) => &mut self.kills_of_workers,
            Blow::KillAll => &mut self.kills_of_all,
            Blow::Suspend(_) => &mut self.suspensions,
            Blow::Restart(Ending::Fast) => &mut self.restarts_fast,
            Blow::Restart(Ending::Immediate) => &mut self.restarts_immediate,
            Blow::Restart(Ending::Killed) => &mut self.restarts_killed,
        } += 1;
    }

    /// A process stood still in the midst of a transaction, and was let go on at once.
    pub(crate) fn count_locked(&mut self) {
        self.suspensions_locked += 1;
    }

    pub(crate) fn sent(&mut self, sent: &Sent) {
        self.deliveries += sent.deliveries;
        self.duplicates += sent.duplicates;
        self.refused += sent.refused;
    }

    pub(crate) fn judged(&mut self, counts: &Counts) {
        self.reports += counts.reports;
        self.takeovers += counts.lost;
        self.model_calls += counts.model_calls;
        self.results += counts.results;
        self.reviews += counts.reviews;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.reports += other.reports;
        self.deliveries += other.deliveries;
        self.duplicates += other.duplicates;
        self.refused += other.refused;
        self.kills_of_ingest += other.kills_of_ingest;
        self.kills_of_workers += other.kills_of_workers;
        self.kills_of_all += other.kills_of_all;
        self.suspensions += other.suspensions;
        self.suspensions_locked += other.suspensions_locked;
        self.restarts_fast += other.restarts_fast;
        self.restarts_immediate += other.restarts_immediate;
        self.restarts_killed += other.restarts_killed;
        self.takeovers += other.takeovers;
        self.model_calls += other.model_calls;
        self.results += other.results;
        self.reviews += other.reviews;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "rounds: {}\n\
             reports: {}; deliveries: {}, duplicates {}, refused {}\n\
             kills: {} of the process that takes reports in, {} of a worker, {} of all\n\
             suspensions: {}, and {} in the midst of a transaction\n\
             restarts of the database: {} fast, {} immediate, {} killed\n\
             takeovers: {}; model calls: {}; results: {}; review items: {}",
            self.rounds,
            self.reports,
            self.deliveries,
            self.duplicates,
            self.refused,
            self.kills_of_ingest,
            self.kills_of_workers,
            self.kills_of_all,
            self.suspensions,
            self.suspensions_locked,
            self.restarts_fast,
            self.restarts_immediate,
            self.restarts_killed,
            self.takeovers,
            self.model_calls,
            self.results,
            self.reviews,
        )
    }
}
