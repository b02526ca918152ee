//! Bytes to start from.

use fencepost_conformance::cases;

use crate::configurations::texts;

/// Bytes that a property is known to make something of: the bodies of the conformance cases as
/// documents, the presets as configurations; else bytes that choose the first of everything.
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
        _ => (0..=255).map(|byte| vec![byte; 48]).collect(),
    }
}
