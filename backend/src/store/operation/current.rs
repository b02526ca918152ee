//! Which of a report's jobs speaks for it: its state is the report's. A report has more than one
//! once it is replayed under another version.

use fencepost_identity::key::ReportKey;

use super::{Locked, Tx, record::open_review, version::close_review};
use crate::{
    report::{Outcome, State},
    store::{ReviewNeed, StoreError, row::Row, session::statement, sql},
};

/// What a job that ends may say for its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// It is the current job, or takes that one's place.
    Speaks,
    /// A person has decided: what a machine finds after that replaces nothing, and asks nobody.
    Decided,
}

/// The report's state, which is that of its current job.
pub(super) async fn state(tx: &mut Tx<'_>, report: ReportKey) -> Result<Option<State>, StoreError> {
    let look = statement(sql::CURRENT_STATE).bind(report.as_bytes());
    let row = tx.session().row(look).await?;
    row.map(|row| Row::new(&row, report).state()).transpose()
}

/// Finds out whether a job may speak, before it is moved. Mostly the lock has told already.
pub(super) async fn voice(
    tx: &mut Tx<'_>,
    report: ReportKey,
    locked: &Locked,
    job: i64,
) -> Result<Voice, StoreError> {
    if locked.current_job == Some(job) {
        return Ok(Voice::Speaks);
    }
    Ok(match state(tx, report).await? {
        Some(State::Terminal(Outcome::Decided | Outcome::Dismissed)) => Voice::Decided,
        Some(
            State::Accepted
            | State::Running
            | State::ValidationRejected
            | State::ReadyForReview
            | State::Terminal(Outcome::Committed | Outcome::Superseded | Outcome::Erased),
        )
        | None => Voice::Speaks,
    })
}

/// Makes a job that was settled the current one. Older jobs that still wait, for a worker or for a
/// person, are superseded with that, and nobody is asked about them any more.
pub(super) async fn take_over(
    tx: &mut Tx<'_>,
    report: ReportKey,
    locked: &Locked,
    job: i64,
) -> Result<(), StoreError> {
    if locked.current_job == Some(job) {
        return Ok(());
    }
    let supersede = statement(sql::SUPERSEDE_OLDER_JOBS)
        .bind(report.as_bytes())
        .bind(job)
        .bind(tx.now.get());
    tx.session().execute(supersede).await?;
    close_review(tx, report).await?;
    let point = statement(sql::SET_CURRENT_JOB)
        .bind(report.as_bytes())
        .bind(job);
    tx.session().execute(point).await?;
    Ok(())
}

/// The same, for a job that waits for a person now.
pub(super) async fn take_over_and_ask(
    tx: &mut Tx<'_>,
    report: ReportKey,
    locked: &Locked,
    job: i64,
    need: &ReviewNeed,
) -> Result<(), StoreError> {
    take_over(tx, report, locked, job).await?;
    open_review(tx, report, need).await
}

/// Ends the jobs whose place another takes, because it is granted or would have been: a live one,
/// and older ones that wait for a worker. What waits for a person goes on waiting until there is
/// another answer. If one of those ended was the current job, the other is from now on.
pub(super) async fn cut_off_others(
    tx: &mut Tx<'_>,
    report: ReportKey,
    job: i64,
) -> Result<(), StoreError> {
    let supersede = statement(sql::SUPERSEDE_OTHER_JOBS)
        .bind(report.as_bytes())
        .bind(job)
        .bind(tx.now.get());
    if tx.session().execute(supersede).await? == 0 {
        return Ok(());
    }
    let point = statement(sql::TAKE_CURRENT_JOB)
        .bind(report.as_bytes())
        .bind(job);
    tx.session().execute(point).await?;
    Ok(())
}
