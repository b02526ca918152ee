//! What an answer lists: of few rules, so that a newer answer finds some again and others not.

use std::collections::BTreeSet;

use fencepost::report::Finding;
use proptest::prelude::*;

fn finding() -> impl Strategy<Value = Finding> {
    (0..4_u8, 0..2_u8, 0..2_u32).prop_map(|(rule, words, collapsed)| Finding {
        fingerprint: vec![format!("rule {rule}")],
        value: format!(r#"{{"rule":{rule},"words":{words}}}"#),
        collapsed,
    })
}

/// Findings of different keys, in any order.
pub(super) fn drawn() -> impl Strategy<Value = Vec<Finding>> {
    prop::collection::vec(finding(), 0..5).prop_map(|mut findings| {
        let mut seen = BTreeSet::new();
        findings.retain(|finding| seen.insert(finding.fingerprint.clone()));
        findings
    })
}
