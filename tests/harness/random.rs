//! Choices that a seed repeats.

use std::hash::{BuildHasher as _, RandomState};

/// SplitMix64: small, and the same in every version of everything.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream that a seed leads to.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From [`Random::seed_from_environment`].
    ///
    /// # Panics
    /// When the variable is no number.
    #[must_use]
    pub fn from_environment() -> Self {
        Self(Self::seed_from_environment())
    }

    /// The seed in `FENCEPOST_SEED`, else a new one. Prints it, so that a failure can be repeated.
    ///
    /// # Panics
    /// When the variable is no number.
    #[must_use]
    pub fn seed_from_environment() -> u64 {
        let seed = match std::env::var("FENCEPOST_SEED") {
            Ok(text) => text.parse().expect("FENCEPOST_SEED is a number"),
            Err(_) => RandomState::new().hash_one("seed"),
        };
        eprintln!("FENCEPOST_SEED={seed} repeats this run's choices");
        seed
    }

    /// A seed for another stream.
    pub fn seed(&mut self) -> u64 {
        self.next()
    }

    /// A stream of its own, for a task that must not depend on how others are scheduled.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    /// One of `0..bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
