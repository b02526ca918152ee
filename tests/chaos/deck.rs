//! What is done to the program in a round, and when: dealt by a seed before the round begins.

use fencepost_cluster::Ending;
use fencepost_tests::{DatabaseKind, Random};

/// How many processes only work. A file has one writer at a time, and who waits for it is not
/// served in turn: with more of them, one may wait for longer than a start may take.
pub(crate) const fn workers(kind: DatabaseKind) -> usize {
    match kind {
        DatabaseKind::Sqlite => 1,
        DatabaseKind::Postgres => 3,
    }
}

/// The most acknowledgements between a start and the next blow.
const ACKNOWLEDGED_MAX: u64 = 24;

/// One of the program's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    /// The one that takes reports in, and works as well.
    Ingest,
    /// One that only works.
    Worker(usize),
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blow {
    /// `kill -9`, and a new one.
    Kill(Victim),
    /// All at once, as when the machine goes down.
    KillAll,
    /// It stands still until others have taken its work over, then it goes on.
    Suspend(Victim),
    /// The database server ends like this, and comes back.
    Restart(Ending),
}

/// A blow, after so many acknowledgements since the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Card {
    pub(crate) after: u64,
    pub(crate) blow: Blow,
}

/// How often what is done in a round. What is done to a worker is dealt to one by the seed.
struct Counts {
    kills_of_ingest: usize,
    kills_of_workers: usize,
    kills_of_all: usize,
    suspensions_of_ingest: usize,
    suspensions_of_workers: usize,
    /// In each of the three ways.
    restarts: usize,
}

impl Counts {
    const fn of(kind: DatabaseKind) -> Self {
        match kind {
            DatabaseKind::Sqlite => Self {
                kills_of_ingest: 90,
                kills_of_workers: 90,
                kills_of_all: 20,
                suspensions_of_ingest: 5,
                suspensions_of_workers: 15,
                restarts: 0,
            },
            DatabaseKind::Postgres => Self {
                kills_of_ingest: 24,
                kills_of_workers: 24,
                kills_of_all: 6,
                suspensions_of_ingest: 3,
                suspensions_of_workers: 9,
                restarts: 2,
            },
        }
    }
}

/// The blows of a round in their order.
pub(crate) fn deal(kind: DatabaseKind, random: &mut Random) -> Vec<Card> {
    let counts = Counts::of(kind);
    let mut blows = Vec::new();
    let mut add = |times, blow| blows.extend(std::iter::repeat_n(blow, times));
    add(counts.kills_of_ingest, Blow::Kill(Victim::Ingest));
    add(counts.kills_of_all, Blow::KillAll);
    add(counts.suspensions_of_ingest, Blow::Suspend(Victim::Ingest));
    for ending in [Ending::Fast, Ending::Immediate, Ending::Killed] {
        add(counts.restarts, Blow::Restart(ending));
    }
    for _ in 0..counts.kills_of_workers {
        add(1, Blow::Kill(worker(kind, random)));
    }
    for _ in 0..counts.suspensions_of_workers {
        add(1, Blow::Suspend(worker(kind, random)));
    }
    for last in (1..blows.len()).rev() {
        blows.swap(last, index(random, last + 1));
    }
    let card = |blow| Card {
        // Zero: at once, in the midst of taking up what the one before it left.
        after: random.below(ACKNOWLEDGED_MAX + 1),
        blow,
    };
    blows.into_iter().map(card).collect()
}

fn worker(kind: DatabaseKind, random: &mut Random) -> Victim {
    Victim::Worker(index(random, workers(kind)))
}

fn index(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap()
}

#[test]
fn a_seed_deals_the_same_blows_again() {
    let dealt = |seed| format!("{:?}", deal(DatabaseKind::Postgres, &mut Random::new(seed)));
    assert_eq!(dealt(7), dealt(7));
    assert_ne!(dealt(7), dealt(8));
}
