//! What the backend knows of a report: its states, and the values that fence it.

mod attempt;
mod finding;
mod input;
mod order;
mod state;

use std::fmt;

pub use attempt::{AttemptNumber, AttemptOutcome, ReviewReason};
pub use finding::Finding;
pub use input::InputOrigin;
pub use order::{OrderValue, VersionStatus};
pub use state::{Event, Outcome, State, StateWord, Transition, transition};

/// A word that stands for nothing: neither a state, nor an outcome, nor a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an unknown word")]
pub struct UnknownWord;

/// An enum each of whose variants is one word in SQL, JSON and metrics.
macro_rules! words {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// All there are.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word, as databases and answers spell it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::report::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::report::UnknownWord),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

/// The fencing token of a report: raised at every grant of any of its jobs, never reset.
///
/// Databases keep it as a signed 64-bit number; in JSON it is a string, because it may pass 2^53.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FencingToken(i64); // never negative

impl FencingToken {
    /// Takes a token that a database kept; a negative one was never granted.
    #[must_use]
    pub fn from_stored(number: i64) -> Option<Self> {
        (number >= 0).then_some(Self(number))
    }

    /// The token of the next grant; none after 2^63-1.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.unsigned_abs()
    }

    /// The number, as a database keeps it.
    #[must_use]
    pub const fn stored(self) -> i64 {
        self.0
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl serde::Serialize for FencingToken {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// 128 random bits that go with a token, so that a database that was set back and grants the same
/// number twice still tells the two holders apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce([u8; 16]);

impl Nonce {
    /// Takes bytes that the caller drew at random, once per claim.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Nonce {
    /// Shows nothing of it: whoever knows it could pass for the holder.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(..)")
    }
}

/// Who works: unique per process start, so that two replicas of one name are two workers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId(String);

impl WorkerId {
    /// Takes a name; it is only ever shown, and nothing is decided by it.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for WorkerId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
