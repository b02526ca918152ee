//! Puts the versions of one thing in order: the newest is current, whichever came first.

use fencepost_identity::{identity::Identity, key::ReportKey};
use sha2::{Digest as _, Sha256};

use super::{Tx, record::follow};
use crate::{
    report::{Event, OrderValue, State, VersionStatus},
    store::{
        StoreError,
        row::Row,
        session::{AnyRow, statement},
        sql,
    },
};

/// Stands for the thing whose versions are put in order. It is kept nowhere and compared with
/// nothing but itself.
pub(super) fn thing(identity: &Identity) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [
        identity.namespace.as_str(),
        identity.tenant.as_str(),
        identity.report_id.as_str(),
    ] {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Finds a new report's place among the versions, which are locked; a version that it supersedes
/// is ended. Of two that say the same of their age, the one that came later counts as newer.
pub(super) async fn place(
    tx: &mut Tx<'_>,
    key: ReportKey,
    identity: &Identity,
    order: &str,
) -> Result<VersionStatus, StoreError> {
    let current = statement(sql::CURRENT_VERSION)
        .bind(identity.namespace.as_str())
        .bind(identity.tenant.as_str())
        .bind(identity.report_id.as_str());
    let Some(row) = tx.session().row(current).await? else {
        return set(tx, key, VersionStatus::Current).await;
    };
    let row = Row::keyed(&row, "report.report_key");
    let current = row.digest("report.report_key", ReportKey::from_bytes)?;
    let current_order = row.text("report.order_value")?;
    if OrderValue::read(order) < OrderValue::read(&current_order) {
        return set(tx, key, VersionStatus::Superseded).await;
    }
    // The report is there, so that others may be at work on it.
    tx.lock(current).await?;
    set(tx, current, VersionStatus::Superseded).await?;
    supersede(tx, current).await?;
    set(tx, key, VersionStatus::Current).await
}

async fn set(
    tx: &mut Tx<'_>,
    key: ReportKey,
    status: VersionStatus,
) -> Result<VersionStatus, StoreError> {
    let set = statement(sql::SET_VERSION_STATUS)
        .bind(key.as_bytes())
        .bind(status.stored());
    tx.session().execute(set).await?;
    Ok(status)
}

/// Ends what nobody works on: jobs that wait, and the review item. A job that runs goes on, since
/// its answer is paid for; what it leaves is decided when it is settled.
pub(super) async fn supersede(tx: &mut Tx<'_>, key: ReportKey) -> Result<(), StoreError> {
    let resting = statement(sql::RESTING_JOBS).bind(key.as_bytes());
    for row in &tx.session().rows(resting).await? {
        end(tx, key, row).await?;
    }
    close_review(tx, key).await
}

async fn end(tx: &mut Tx<'_>, key: ReportKey, row: &AnyRow) -> Result<State, StoreError> {
    let row = Row::new(row, key);
    let state = row.state()?;
    let next = follow(state, Event::Supersede)?;
    let end = statement(sql::SUPERSEDE_JOB)
        .bind(row.number("job.job_id")?)
        .bind(state.as_str())
        .bind(tx.now.get());
    tx.session().execute(end).await?;
    Ok(next)
}

/// Closes the report's review item, if it is open.
pub(super) async fn close_review(tx: &mut Tx<'_>, key: ReportKey) -> Result<(), StoreError> {
    let close = statement(sql::CLOSE_REVIEW)
        .bind(key.as_bytes())
        .bind(tx.now.get());
    tx.session().execute(close).await?;
    Ok(())
}
