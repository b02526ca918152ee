//! What a finding is recognized by. Keys are made of it, so it never changes.

use std::fmt::Write as _;

use fencepost_identity::{canonical::to_canonical, refusal::Refusal};
use sha2::{Digest, Sha256};

use super::{KeyField, examine::Examined};
use crate::revision::trimmed;

/// The fields in the order of the pipeline.
pub(super) fn fingerprint(
    key: &[KeyField],
    finding: &Examined<'_>,
) -> Result<Vec<String>, Refusal> {
    key.iter().map(|field| text(field, finding)).collect()
}

fn text(field: &KeyField, finding: &Examined<'_>) -> Result<String, Refusal> {
    Ok(match field {
        KeyField::Rule => finding.rule.unwrap_or_default().to_owned(),
        KeyField::Path => finding.path.as_deref().unwrap_or_default().to_owned(),
        KeyField::SourceLine => finding
            .line
            .map(|(line, _)| hexadecimal(&Sha256::digest(trimmed(line))))
            .unwrap_or_default(),
        KeyField::Occurrence => finding
            .line
            .map(|(_, occurrence)| occurrence.to_string())
            .unwrap_or_default(),
        KeyField::Member(pointer) => match pointer.find(finding.item) {
            Some(value) => to_canonical(value)?,
            None => String::new(),
        },
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _never_fails = write!(text, "{byte:02x}");
        text
    })
}
