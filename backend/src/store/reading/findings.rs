//! What a result lists, read together with what the version before listed.

use std::collections::HashSet;

use fencepost_identity::key::{FindingKey, LineageKey, ReportKey, ResultKey};

use crate::{
    clock::UnixMillis,
    report::{AttemptNumber, OrderValue},
    store::{
        FindingStatus, FindingView, FindingsView, Since, StoreError,
        row::Row,
        session::{AnyRow, Session, statement},
        sql,
    },
};

/// The most findings that are shown of one result, and the most that are told to be gone.
const SHOWN_MAX: usize = 1_000;

/// Among how many versions that have an order the one before is looked for: those that came last.
const VERSIONS_MAX: i64 = 1_000;

/// A result that is a list.
pub(super) struct List {
    pub(super) report: ReportKey,
    pub(super) result: ResultKey,
    /// What its report is a version of.
    pub(super) thing: LineageKey,
    pub(super) order: Option<String>,
    pub(super) received: UnixMillis,
}

/// Another version's list.
struct Version {
    report: ReportKey,
    result: ResultKey,
}

impl List {
    pub(super) async fn read(&self, session: &mut Session<'_>) -> Result<FindingsView, StoreError> {
        let most = i64::try_from(SHOWN_MAX).unwrap_or(i64::MAX);
        let findings = statement(sql::FINDINGS)
            .bind(self.result.as_bytes())
            .bind(most.saturating_add(1));
        let mut rows = session.rows(findings).await?;
        let more = rows.len() > SHOWN_MAX;
        rows.truncate(SHOWN_MAX);
        let before = self.version_before(session).await?;
        let mut gone = match &before {
            Some(before) => lineages(session, before.report, before.result).await?,
            None => Vec::new(),
        };
        let known: HashSet<LineageKey> = gone.iter().copied().collect();
        if !gone.is_empty() {
            let here = lineages(session, self.report, self.result).await?;
            let here: HashSet<LineageKey> = here.into_iter().collect();
            gone.retain(|lineage| !here.contains(lineage));
            gone.truncate(SHOWN_MAX);
        }
        let findings = rows.iter().map(|row| self.finding(row, &known));
        Ok(FindingsView {
            findings: findings.collect::<Result<_, _>>()?,
            more,
            compared_with: before.map(|before| before.report),
            gone,
        })
    }

    /// The version before this one whose result is a list.
    async fn version_before(
        &self,
        session: &mut Session<'_>,
    ) -> Result<Option<Version>, StoreError> {
        let Some(order) = &self.order else {
            let before = statement(sql::LIST_BEFORE)
                .bind(self.thing.as_bytes())
                .bind(self.received.get())
                .bind(self.report.as_bytes());
            return session.row(before).await?.as_ref().map(version).transpose();
        };
        let ordered = statement(sql::ORDERED_LISTS)
            .bind(self.thing.as_bytes())
            .bind(VERSIONS_MAX);
        let this = (OrderValue::read(order), self.received, self.report);
        let mut before = None;
        for row in &session.rows(ordered).await? {
            let version = version(row)?;
            let row = Row::new(row, version.report);
            let order = OrderValue::read(&row.text("report.order_value")?);
            let place = (order, row.time("report.received_ms")?, version.report);
            let is_nearer = before.as_ref().is_none_or(|(best, _)| place > *best);
            if place < this && is_nearer {
                before = Some((place, version));
            }
        }
        Ok(before.map(|(_, version)| version))
    }

    fn finding(
        &self,
        row: &AnyRow,
        known: &HashSet<LineageKey>,
    ) -> Result<FindingView, StoreError> {
        let row = Row::new(row, self.report);
        let lineage = row.digest("finding.lineage_key", LineageKey::from_bytes)?;
        let status = row.word("finding.status")?;
        let number = row.number_or_none("finding.attempt_number")?;
        let attempt = |number| {
            AttemptNumber::from_stored(number).ok_or_else(|| row.corrupt("finding.attempt_number"))
        };
        Ok(FindingView {
            key: row.digest("finding.finding_key", FindingKey::from_bytes)?,
            lineage,
            status,
            since: match status {
                FindingStatus::Present if known.contains(&lineage) => Some(Since::Still),
                FindingStatus::Present => Some(Since::New),
                FindingStatus::Withdrawn => None,
            },
            value: row.text("finding.value")?,
            collapsed: row.count("finding.collapsed")?,
            attempt: number.map(attempt).transpose()?,
            created: row.time("finding.created_ms")?,
            updated: row.time("finding.updated_ms")?,
        })
    }
}

fn version(row: &AnyRow) -> Result<Version, StoreError> {
    let row = Row::keyed(row, "report.report_key");
    Ok(Version {
        report: row.digest("report.report_key", ReportKey::from_bytes)?,
        result: row.digest("report.current_result", ResultKey::from_bytes)?,
    })
}

/// What a result lists, as other versions know it.
async fn lineages(
    session: &mut Session<'_>,
    report: ReportKey,
    result: ResultKey,
) -> Result<Vec<LineageKey>, StoreError> {
    let present = statement(sql::PRESENT_FINDINGS).bind(result.as_bytes());
    let rows = session.rows(present).await?;
    let lineages = rows.iter().map(|row| {
        let row = Row::new(row, report);
        row.digest("finding.lineage_key", LineageKey::from_bytes)
    });
    lineages.collect()
}
