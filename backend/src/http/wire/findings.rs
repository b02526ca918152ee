//! What a result lists, as documents.

use fencepost_identity::key::{FindingKey, LineageKey, ReportKey};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    clock::UnixMillis,
    report::AttemptNumber,
    store::{FindingStatus, FindingView, FindingsView, Since},
};

/// What a result lists; all of it is empty where a result is no list.
#[derive(Debug, Default, Serialize)]
pub struct FindingsWire {
    /// What is present in the order of the answer, then what was withdrawn: at most 1,000.
    findings: Vec<FindingWire>,
    /// Whether there are more than those.
    more_findings: bool,
    /// The version before this one; null where none has a list.
    compared_with: Option<ReportKey>,
    /// Lineage keys of what that one lists and this one does not: at most 1,000.
    gone: Vec<LineageKey>,
}

impl From<FindingsView> for FindingsWire {
    fn from(list: FindingsView) -> Self {
        Self {
            findings: list.findings.into_iter().map(FindingWire::from).collect(),
            more_findings: list.more,
            compared_with: list.compared_with,
            gone: list.gone,
        }
    }
}

/// One of the things that a result lists.
#[derive(Debug, Serialize)]
pub struct FindingWire {
    finding_key: FindingKey,
    lineage_key: LineageKey,
    status: FindingStatus,
    /// `new` or `still`, compared with the version before; null for what was withdrawn.
    since: Option<Since>,
    /// How many more with the same key the answer held; this is the most severe of them.
    collapsed: String,
    /// As it was committed, digit for digit; null where it can't be read.
    value: Option<Box<RawValue>>,
    /// Null where a person wrote it.
    attempt: Option<AttemptNumber>,
    created_at: UnixMillis,
    updated_at: UnixMillis,
}

impl From<FindingView> for FindingWire {
    fn from(finding: FindingView) -> Self {
        Self {
            finding_key: finding.key,
            lineage_key: finding.lineage,
            status: finding.status,
            since: finding.since,
            collapsed: finding.collapsed.to_string(),
            value: RawValue::from_string(finding.value).ok(),
            attempt: finding.attempt,
            created_at: finding.created,
            updated_at: finding.updated,
        }
    }
}
