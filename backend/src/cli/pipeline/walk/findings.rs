//! What a list says, with the keys under which it would be stored.

use fencepost_identity::{
    identity::Identity,
    key::{FindingKey, LineageKey, ResultKey},
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::print::{row, text};
use crate::{
    judge::{Judge, Kind},
    report::Finding,
};

/// What the keys of findings are made of beside their fingerprints.
pub(in crate::cli::pipeline) struct Names<'n> {
    pub(in crate::cli::pipeline) identity: &'n Identity,
    pub(in crate::cli::pipeline) result: ResultKey,
    pub(in crate::cli::pipeline) judge: &'n Judge,
}

/// One finding.
#[derive(Serialize)]
pub(super) struct Found {
    finding_key: FindingKey,
    lineage_key: LineageKey,
    /// What it is recognized by, in the pipeline's order.
    fingerprint: Vec<Field>,
    /// How many equal ones it stands for beside itself.
    collapsed: u32,
    value: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Field {
    field: String,
    value: String,
}

impl Names<'_> {
    pub(super) fn of_all(&self, findings: Vec<Finding>) -> Vec<Found> {
        let fields: Vec<String> = match &self.judge.kind {
            Kind::Classification => Vec::new(),
            Kind::Findings(rules) => rules.key.iter().map(ToString::to_string).collect(),
        };
        let found = findings.into_iter();
        found.map(|finding| self.of(finding, &fields)).collect()
    }

    fn of(&self, finding: Finding, fields: &[String]) -> Found {
        let identity = self.identity;
        let fingerprint = &finding.fingerprint;
        Found {
            finding_key: FindingKey::of(&self.result, fingerprint),
            lineage_key: LineageKey::of(
                &identity.tenant,
                &identity.namespace,
                &identity.report_id,
                fingerprint,
            ),
            collapsed: finding.collapsed,
            value: RawValue::from_string(finding.value).ok(),
            fingerprint: fields
                .iter()
                .cloned()
                .zip(finding.fingerprint)
                .map(|(field, value)| Field { field, value })
                .collect(),
        }
    }
}

impl Found {
    pub(super) fn print(&self) {
        row("finding", &self.finding_key.to_string());
        row("lineage", &self.lineage_key.to_string());
        for Field { field, value } in &self.fingerprint {
            row("", &format!("{field}: {value}"));
        }
        match self.collapsed {
            0 => {}
            more => row("", &format!("it stands for {more} more of the same")),
        }
        if let Some(value) = &self.value {
            text("its value", value.get());
        }
    }
}
