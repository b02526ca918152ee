//! Rule 7 for results that are lists: a finding is one row under its key, whatever is run twice;
//! one that a newer answer does not list is withdrawn. And how they are followed through versions.

use std::{cmp::Ordering, collections::BTreeMap};

use fencepost::{
    clock::UnixMillis,
    report::{AttemptNumber, Finding, OrderValue},
    store::{FindingStatus, FindingView, FindingsView, Since},
};
use fencepost_identity::key::{FindingKey, LineageKey, ReportKey, ResultKey};

use super::{Reference, Report, Told, claim::Hold};

/// What a result lists and has listed, by key.
pub(crate) type List = BTreeMap<FindingKey, Row>;

/// A finding that is or was listed.
pub(crate) struct Row {
    position: usize,
    finding: Finding,
    status: FindingStatus,
    attempt: AttemptNumber,
    created: UnixMillis,
    updated: UnixMillis,
}

impl Reference {
    /// Makes a result list these, and nothing else.
    pub(super) fn put_list(&mut self, hold: &Hold, result: ResultKey, findings: Vec<Finding>) {
        let now = self.now;
        let report = self.of(hold.report);
        let list = report.lists.entry(hold.schema_version.clone()).or_default();
        let key = |finding: &Finding| FindingKey::of(&result, &finding.fingerprint);
        let listed: Vec<_> = findings.iter().map(key).collect();
        let mut withdrawn = Vec::new();
        for key in in_order(list) {
            let row = list.get_mut(&key).unwrap();
            if row.status == FindingStatus::Present && !listed.contains(&key) {
                row.status = FindingStatus::Withdrawn;
                row.updated = now;
                withdrawn.push(key);
            }
        }
        for (place, finding) in findings.into_iter().enumerate() {
            let before = list.get(&listed[place]);
            let created = before.map_or(now, |row| row.created);
            let row = Row {
                position: place + 1,
                finding,
                status: FindingStatus::Present,
                attempt: hold.attempt,
                created,
                updated: now,
            };
            list.insert(listed[place], row);
        }
        if !withdrawn.is_empty() {
            let findings = withdrawn;
            report.events.push(Told::Withdrawn { result, findings });
        }
    }

    /// How many findings results of all schema versions list.
    pub(super) fn listed(&self) -> usize {
        let lists = self.reports.values().flat_map(|it| it.lists.values());
        lists.map(|list| present(list).count()).sum()
    }

    /// What the current result of a report lists, compared with the version before.
    pub(super) fn findings(&self, key: ReportKey, report: &Report) -> Option<FindingsView> {
        let list = current_list(report)?;
        let before = self.version_before(key, report);
        let known: Vec<LineageKey> = match before {
            Some((_, before)) => lineages(before),
            None => Vec::new(),
        };
        let here = lineages(report);
        let rows = in_order(list).into_iter().map(|key| (key, &list[&key]));
        let view = |(key, row): (FindingKey, &Row)| {
            let lineage = lineage(report, &row.finding);
            FindingView {
                key,
                lineage,
                status: row.status,
                since: match row.status {
                    FindingStatus::Withdrawn => None,
                    FindingStatus::Present if known.contains(&lineage) => Some(Since::Still),
                    FindingStatus::Present => Some(Since::New),
                },
                value: row.finding.value.clone(),
                collapsed: u64::from(row.finding.collapsed),
                attempt: Some(row.attempt),
                created: row.created,
                updated: row.updated,
            }
        };
        let gone = known.iter().filter(|lineage| !here.contains(lineage));
        Some(FindingsView {
            findings: rows.map(view).collect(),
            more: false,
            compared_with: before.map(|(key, _)| key),
            gone: gone.copied().collect(),
        })
    }

    /// The nearest of the versions before one that have a list. Versions with an order are compared
    /// with each other alone, as are those without.
    fn version_before(&self, key: ReportKey, report: &Report) -> Option<(ReportKey, &Report)> {
        let mut before: Option<(ReportKey, &Report)> = None;
        for (other_key, other) in &self.reports {
            let other = (*other_key, other);
            let is_version = is_same_thing(other.1, report)
                && other.1.new.order.is_some() == report.new.order.is_some()
                && current_list(other.1).is_some();
            if is_version
                && compare(other, (key, report)) == Ordering::Less
                && before.is_none_or(|best| compare(other, best) == Ordering::Greater)
            {
                before = Some(other);
            }
        }
        before
    }
}

fn is_same_thing(one: &Report, other: &Report) -> bool {
    let (one, other) = (&one.new.identity, &other.new.identity);
    one.tenant == other.tenant
        && one.namespace == other.namespace
        && one.report_id == other.report_id
}

fn compare(one: (ReportKey, &Report), other: (ReportKey, &Report)) -> Ordering {
    let place = |(key, report): (ReportKey, &Report)| {
        let order = report.new.order.as_deref().map(OrderValue::read);
        (order, report.received, key)
    };
    place(one).cmp(&place(other))
}

fn current_list(report: &Report) -> Option<&List> {
    report.lists.get(report.canonical.as_ref()?)
}

fn present(list: &List) -> impl Iterator<Item = &Row> {
    let rows = list.values();
    rows.filter(|row| row.status == FindingStatus::Present)
}

/// Keys of what is present in the order of the answer, then of what was withdrawn.
fn in_order(list: &List) -> Vec<FindingKey> {
    let mut keys: Vec<_> = list.keys().copied().collect();
    keys.sort_by_key(|key| {
        let row = &list[key];
        (row.status == FindingStatus::Withdrawn, row.position, *key)
    });
    keys
}

fn lineage(report: &Report, finding: &Finding) -> LineageKey {
    let it = &report.new.identity;
    LineageKey::of(
        &it.tenant,
        &it.namespace,
        &it.report_id,
        &finding.fingerprint,
    )
}

/// What a report's current result lists, as other versions know it, in the order of the answer.
fn lineages(report: &Report) -> Vec<LineageKey> {
    let list = current_list(report).into_iter();
    let mut rows: Vec<&Row> = list.flat_map(present).collect();
    rows.sort_by_key(|row| row.position);
    let lineages = rows.iter().map(|row| lineage(report, &row.finding));
    lineages.collect()
}
