//! The one encoding that everything here hashes: each field with its length before it.

use sha2::{Digest, Sha256};

/// A SHA-256 over length-prefixed fields, begun with the name of what is hashed.
///
/// No delimiters: `a:b` + `c` never meets `a` + `b:c`.
pub(crate) struct Preimage(Sha256);

impl Preimage {
    /// Starts with the name and version of the derivation, such as `fencepost/report/1`.
    pub(crate) fn of(derivation: &str) -> Self {
        Self(Sha256::new()).field(derivation.as_bytes())
    }

    /// Appends a field: its length as an unsigned 32-bit big-endian integer, then its bytes.
    pub(crate) fn field(mut self, bytes: &[u8]) -> Self {
        self.0.update(length(bytes));
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// The prefix of a field. Fields are parts of one request, whose size is bounded far below 2^32;
/// on the 32-bit target no slice can even reach it.
pub(crate) fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::length;

    /// Reads the fields back: that this works for every list of fields is what makes the encoding
    /// injective.
    fn decode(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut fields = Vec::new();
        while let Some((prefix, rest)) = bytes.split_first_chunk::<4>() {
            let (field, rest) =
                rest.split_at_checked(u32::from_be_bytes(*prefix).try_into().ok()?)?;
            fields.push(field.to_vec());
            bytes = rest;
        }
        bytes.is_empty().then_some(fields)
    }

    proptest! {
        #[test]
        fn the_encoding_is_injective(
            fields in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..9),
        ) {
            let parts = fields.iter().flat_map(|field| [&length(field), field.as_slice()].concat());
            let encoded: Vec<u8> = parts.collect();
            prop_assert_eq!(decode(&encoded), Some(fields));
        }
    }
}
