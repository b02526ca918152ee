//! What a result lists, written in the transaction that writes the result: what the answer says is
//! there, what it no longer says is withdrawn, and nothing is lost.

use std::collections::BTreeSet;

use fencepost_identity::{
    identity::Identity,
    key::{FindingKey, LineageKey, ReportKey, ResultKey},
};

use super::{
    Tx,
    candidate::identity,
    record::{Announcement, announce},
};
use crate::{
    report::{AttemptNumber, FencingToken, Finding},
    store::{StoreError, postgres, row::Row, session::statement, sql, sqlite},
};

/// Whose list it is.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) report: ReportKey,
    pub(super) result: ResultKey,
    /// The report's token.
    pub(super) token: FencingToken,
    /// The attempt whose answer it is; none where a person wrote it.
    pub(super) attempt: Option<AttemptNumber>,
}

/// Makes a result list these, and nothing else.
pub(super) async fn put(
    tx: &mut Tx<'_>,
    list: List,
    findings: &[Finding],
) -> Result<(), StoreError> {
    let of = statement(sql::IDENTITY).bind(list.report.as_bytes());
    let row = tx.session().one(of).await?;
    let identity = identity(&Row::new(&row, list.report))?;
    let mark = statement(sql::MARK_LIST)
        .bind(list.result.as_bytes())
        .bind(thing(&identity).as_bytes());
    tx.session().execute(mark).await?;
    let listed: BTreeSet<FindingKey> = findings.iter().map(|it| key(list, it)).collect();
    if listed.len() < findings.len() {
        return Err(StoreError::Fault(
            "two findings of a list have one key".to_owned(),
        ));
    }
    let mut withdrawn = present(tx, list).await?;
    withdrawn.retain(|key| !listed.contains(key));
    if !findings.is_empty() {
        write(tx, list, &identity, findings).await?;
    }
    if !withdrawn.is_empty() {
        withdraw(tx, list, &withdrawn).await?;
    }
    Ok(())
}

fn key(list: List, finding: &Finding) -> FindingKey {
    FindingKey::of(&list.result, &finding.fingerprint)
}

/// What all versions of a thing have in common.
fn thing(identity: &Identity) -> LineageKey {
    lineage(identity, &[])
}

fn lineage(identity: &Identity, fingerprint: &[String]) -> LineageKey {
    LineageKey::of(
        &identity.tenant,
        &identity.namespace,
        &identity.report_id,
        fingerprint,
    )
}

/// What the result lists so far.
async fn present(tx: &mut Tx<'_>, list: List) -> Result<Vec<FindingKey>, StoreError> {
    let present = statement(sql::PRESENT_FINDINGS).bind(list.result.as_bytes());
    let rows = tx.session().rows(present).await?;
    let keys = rows.iter().map(|row| {
        let row = Row::new(row, list.report);
        row.digest("finding.finding_key", FindingKey::from_bytes)
    });
    keys.collect()
}

async fn write(
    tx: &mut Tx<'_>,
    list: List,
    identity: &Identity,
    findings: &[Finding],
) -> Result<(), StoreError> {
    let listed = (1_u32..).zip(findings).map(|(position, finding)| {
        serde_json::json!([
            key(list, finding),
            lineage(identity, &finding.fingerprint),
            position,
            finding.value,
            finding.collapsed,
        ])
    });
    let listed: serde_json::Value = listed.collect();
    let put = tx.in_dialect(sqlite::PUT_FINDINGS, postgres::PUT_FINDINGS);
    let put = statement(put)
        .bind(listed.to_string())
        .bind(list.result.as_bytes())
        .bind(list.token.stored())
        .bind(list.attempt.map(|attempt| i64::from(attempt.get())))
        .bind(tx.now.get());
    tx.session().execute(put).await?;
    Ok(())
}

async fn withdraw(tx: &mut Tx<'_>, list: List, findings: &[FindingKey]) -> Result<(), StoreError> {
    let keys = serde_json::json!(findings);
    let withdraw = tx.in_dialect(sqlite::WITHDRAW_FINDINGS, postgres::WITHDRAW_FINDINGS);
    let withdraw = statement(withdraw)
        .bind(keys.to_string())
        .bind(list.result.as_bytes())
        .bind(list.token.stored())
        .bind(tx.now.get());
    tx.session().execute(withdraw).await?;
    let result = list.result;
    let told = Announcement::FindingsWithdrawn { result, findings };
    announce(tx, list.report, told).await
}
