//! Values that no log, message or answer may show.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The fewest bytes of a secret: what is shorter can be guessed.
pub const SECRET_BYTES_MIN: usize = 16;

/// A secret. Its `Debug` shows nothing, it has no `Display` and no `==`.
#[derive(Clone)]
pub struct Secret(Box<[u8]>);

impl Secret {
    /// Keeps the bytes as they are.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into().into_boxed_slice())
    }

    /// The bytes, for the one computation that needs them.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Whether the presented bytes are this secret, in a time that tells nothing of either: equal
    /// digests are compared, so that not even the length shows.
    #[must_use]
    pub fn matches(&self, presented: &[u8]) -> bool {
        let own = Sha256::digest(&self.0);
        let other = Sha256::digest(presented);
        own.as_slice().ct_eq(other.as_slice()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing() {
        let secret = Secret::new("correct horse battery");
        assert_eq!(
            format!("{secret:?} {:?}", Some(&secret))
                .matches("horse")
                .count(),
            0
        );
        assert_eq!(format!("{secret:?}"), "Secret(redacted)");
    }

    #[test]
    fn only_the_same_bytes_match() {
        let secret = Secret::new("correct horse battery");
        assert!(secret.matches(b"correct horse battery"));
        for other in [
            "",
            "correct horse batter",
            "correct horse battery ",
            "Correct horse battery",
        ] {
            assert!(!secret.matches(other.as_bytes()), "{other:?}");
        }
    }
}
