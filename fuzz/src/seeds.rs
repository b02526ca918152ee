//! Bytes to start from.

use fencepost_conformance::cases;

use crate::configurations::texts;

/// Bytes that a property is known to make something of: the bodies of the conformance cases as
/// documents, the presets as configurations; else bytes of which each choice is another.
#[must_use]
pub fn seeds(property: &str) -> Vec<Vec<u8>> {
    match property {
        "documents" => {
            let mut bodies: Vec<_> = cases().into_iter().map(|case| case.body).collect();
            bodies.sort_unstable();
            bodies.dedup();
            bodies
        }
        // The first byte says that the rest is the text.
        "configurations" => texts()
            .map(|text| [b"\0", text.as_bytes()].concat())
            .collect(),
        _ => (0..=255).map(mixed).collect(),
    }
}

/// Two hundred bytes, half of them small, that depend on one.
fn mixed(seed: u8) -> Vec<u8> {
    let mut state = u32::from(seed);
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [high, low, ..] = state.to_be_bytes();
        if low < 128 { high } else { high % 8 }
    };
    (0..200).map(next).collect()
}
