//! The keys of findings, reproduced from vectors that another program made by their definition.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use fencepost_identity::{
    identity::{Identity, Namespace, ReportId, Tenant},
    key::{FindingKey, LineageKey, ResultKey},
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    tenant: String,
    namespace: String,
    report_id: String,
    version: String,
    schema_version: String,
    fingerprint: Vec<String>,
    result_key: String,
    finding_key: String,
    lineage_key: String,
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("findings.json")).unwrap()
}

#[test]
fn keys_of_findings() {
    for vector in vectors() {
        let name = &vector.name;
        let identity = Identity {
            tenant: Tenant::new(vector.tenant).unwrap(),
            namespace: Namespace::new(vector.namespace).unwrap(),
            report_id: ReportId::new(vector.report_id).unwrap(),
            version: vector.version.parse().unwrap(),
        };
        let result = ResultKey::of(&identity.report_key(), &vector.schema_version);
        assert_eq!(result.to_string(), vector.result_key, "{name}");
        let finding = FindingKey::of(&result, &vector.fingerprint);
        assert_eq!(finding.to_string(), vector.finding_key, "{name}");
        let lineage = LineageKey::of(
            &identity.tenant,
            &identity.namespace,
            &identity.report_id,
            &vector.fingerprint,
        );
        assert_eq!(lineage.to_string(), vector.lineage_key, "{name}");
    }
}

#[test]
fn a_lineage_goes_on_in_the_next_version_and_a_finding_does_not() {
    let vectors = vectors();
    let of = |name: &str| vectors.iter().find(|vector| vector.name == name).unwrap();
    let (then, now) = (of("of code"), of("the next revision"));
    assert_eq!(then.lineage_key, now.lineage_key);
    assert_ne!(then.finding_key, now.finding_key);
    let finding_keys: BTreeSet<_> = vectors.iter().map(|vector| &vector.finding_key).collect();
    assert_eq!(finding_keys.len(), vectors.len());
}
