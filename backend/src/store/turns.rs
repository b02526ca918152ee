//! Whose turn it is: who has much to do must not keep the others waiting behind all of it.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Who had the last turns. Claims that share it go round: among the pipelines that have something
/// due, and within a pipeline among the tenants that have.
///
/// It is a hint and never a fence: whoever begins a new one begins a round anew.
#[derive(Debug, Default)]
pub struct Turns(Mutex<Rounds>);

#[derive(Debug, Default)]
struct Rounds {
    count: u64,
    pipelines: BTreeMap<String, Turn>,
}

/// A pipeline's last turn.
#[derive(Debug)]
struct Turn {
    number: u64,
    tenant: String,
}

impl Turns {
    /// The number of a pipeline's last turn: the lower, the longer ago.
    pub(super) fn last(&self, pipeline: &str) -> u64 {
        let rounds = self.rounds();
        rounds.pipelines.get(pipeline).map_or(0, |turn| turn.number)
    }

    /// The tenant that had a pipeline's last turn; an empty text, which comes before all tenants,
    /// if none had one.
    pub(super) fn tenant(&self, pipeline: &str) -> String {
        let rounds = self.rounds();
        let turn = rounds.pipelines.get(pipeline);
        turn.map_or_else(String::new, |turn| turn.tenant.clone())
    }

    /// A pipeline has a turn now, and goes on from one tenant to another; unless somebody else did
    /// so meanwhile, who must not be set back.
    pub(super) fn pass(&self, pipeline: &str, from: &str, to: String) {
        let mut rounds = self.rounds();
        rounds.count += 1;
        let number = rounds.count;
        let turn = rounds.pipelines.entry(pipeline.to_owned());
        let turn = turn.or_insert_with(|| Turn {
            number,
            tenant: String::new(),
        });
        turn.number = number;
        if turn.tenant == from {
            turn.tenant = to;
        }
    }

    fn rounds(&self) -> MutexGuard<'_, Rounds> {
        // Nothing is left half done where the lock is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_was_slow_sets_nobody_back() {
        let turns = Turns::default();
        turns.pass("p", "", "a".to_owned());
        turns.pass("p", "a", "b".to_owned());
        turns.pass("p", "b", "c".to_owned());
        turns.pass("p", "a", "b".to_owned());
        assert_eq!(turns.tenant("p"), "c");
    }

    #[test]
    fn the_pipeline_that_had_no_turn_for_longest_is_first() {
        let turns = Turns::default();
        for pipeline in ["a", "b", "a"] {
            turns.pass(pipeline, "", String::new());
        }
        let mut order = ["a", "b", "c"];
        order.sort_by_key(|pipeline| turns.last(pipeline));
        assert_eq!(order, ["c", "b", "a"]);
    }
}
