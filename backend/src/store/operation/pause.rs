//! Pauses: which claims they keep back, which one goes through to see whether they are over, and
//! what begins and ends them.
//!
//! Several reports may be settled in one transaction, so that who waited for the row of a pause
//! while it held a report could wait in a circle. Such a row is taken only if nobody has it, and
//! what is left undone otherwise is done by the next attempt.

mod gate;
mod learning;
mod people;

use std::time::Duration;

use fencepost_identity::key::ReportKey;

pub(super) use self::gate::{Gate, Opens};
pub(in crate::store) use self::{
    learning::{Learning, Settled, Settlement},
    people::{PauseSubject, ResumeSubject},
};
use super::Tx;
use crate::{
    clock::UnixMillis,
    report::AttemptOutcome,
    store::{
        CallRecord, CredentialName, Pause, PauseReason, PipelineTerms, StoreError, Subject,
        lease::Hold,
        pause::{stood_still, until_probe},
        postgres,
        row::Row,
        session::{AnyRow, statement},
        sql,
    },
};

/// How many reports in a row end with the same lasting error before their pipeline is paused.
const STRIKES_MAX: u32 = 3;

/// Who ended a pause, where no person did.
const BY_PROBE: &str = "probe";

/// A pause that has not ended, and its row.
#[derive(Clone)]
pub(super) struct Open {
    id: i64,
    pause: Pause,
}

/// Reads a pause.
pub(in crate::store) fn read(row: &AnyRow) -> Result<Pause, StoreError> {
    let id = Row::new(row, "").number("pause.pause_id")?;
    let row = Row::new(row, id);
    Ok(Pause {
        subject: row.word("pause.subject")?,
        reason: row.word("pause.reason")?,
        since: row.time("pause.since_ms")?,
        probe: row.time_or_none("pause.probe_ms")?,
        probes: row.count("pause.probes")?,
    })
}

fn open(row: &AnyRow) -> Result<Open, StoreError> {
    let id = Row::new(row, "").number("pause.pause_id")?;
    let pause = read(row)?;
    Ok(Open { id, pause })
}

/// Leaves out what can't be understood: it keeps nothing back, and what is counted tells of it.
pub(in crate::store) fn readable<T>(
    pauses: impl Iterator<Item = Result<T, StoreError>>,
) -> Result<Vec<T>, StoreError> {
    let corrupt = |pause: &Result<T, StoreError>| matches!(pause, Err(StoreError::Corrupt(_)));
    pauses.filter(|pause| !corrupt(pause)).collect()
}

/// All that is paused.
pub(super) async fn all(tx: &mut Tx<'_>) -> Result<Vec<Open>, StoreError> {
    let rows = tx.session().rows(statement(sql::OPEN_PAUSES)).await?;
    readable(rows.iter().map(open))
}

/// What is paused of two subjects.
async fn of(tx: &mut Tx<'_>, subjects: [&Subject; 2]) -> Result<Vec<Open>, StoreError> {
    let [one, other] = subjects;
    let paused = statement(sql::PAUSES_OF)
        .bind(one.to_string())
        .bind(other.to_string());
    let rows = tx.session().rows(paused).await?;
    rows.iter().map(open).collect()
}

/// Takes the row of a pause that has not ended, unless another has it.
async fn lock(tx: &mut Tx<'_>, id: i64) -> Result<Option<Open>, StoreError> {
    let take = tx.locking(sql::OPEN_PAUSE, postgres::TAKE_PAUSE);
    let row = tx.session().row(statement(take).bind(id)).await?;
    row.as_ref().map(open).transpose()
}

/// How long the clock of a job stood still, because something that it depends on was paused.
pub(super) async fn standstill(
    tx: &mut Tx<'_>,
    terms: &PipelineTerms,
    from: UnixMillis,
) -> Result<Duration, StoreError> {
    let mut pauses = Vec::new();
    for subject in terms.depends_on() {
        let between = statement(sql::PAUSED_BETWEEN)
            .bind(subject.to_string())
            .bind(from.get())
            .bind(tx.now.get());
        for row in &tx.session().rows(between).await? {
            let row = Row::new(row, "");
            let begun = row.time("pause.since_ms")?;
            pauses.push((begun, row.time_or_none("pause.ended_ms")?));
        }
    }
    pauses.sort_unstable();
    Ok(stood_still(from, tx.now, &pauses))
}

/// What the end of an attempt may change about pauses.
#[derive(Clone, Copy)]
pub(in crate::store) struct Lesson<'a> {
    pub(super) outcome: AttemptOutcome,
    /// The credential that was refused, where it is not the extractor's.
    pub(super) refused: Option<&'a CredentialName>,
    /// The call, where one was made in this attempt.
    pub(super) call: Option<&'a CallRecord>,
    /// How long the provider wants to be left alone, where it says so.
    pub(super) wait: Duration,
}

/// What changed about pauses, to be told once it is certain.
#[derive(Clone, Debug)]
pub(in crate::store) enum Change {
    /// Something is paused from now on.
    Began(Pause),
    /// A probe showed that it is over.
    Ended(Pause),
}

/// Draws the consequences of an attempt whose job was settled in this transaction.
pub(super) async fn learn(
    tx: &mut Tx<'_>,
    hold: &Hold,
    lesson: Lesson<'_>,
) -> Result<Vec<Change>, StoreError> {
    let [credential, pipeline] = &hold.subjects;
    if let Some(reason) = PauseReason::of_credential(lesson.outcome) {
        let refused = lesson.refused.cloned().map(Subject::Credential);
        let refused = refused.as_ref().unwrap_or(credential);
        return begin(tx, refused, reason, lesson.wait).await;
    }
    // Where nobody was asked there is nothing to learn: an answer that was stored before says
    // nothing about now, and long reports must not hold up the others.
    if lesson.call.is_none() {
        return Ok(Vec::new());
    }
    if let Some(reason) = PauseReason::of_pipeline(lesson.outcome) {
        return strike(tx, pipeline, reason, hold.report).await;
    }
    if lesson.outcome.is_verdict() {
        return answered(tx, hold).await;
    }
    Ok(Vec::new())
}

/// Pauses something, unless it is paused already.
async fn begin(
    tx: &mut Tx<'_>,
    subject: &Subject,
    reason: PauseReason,
    wait: Duration,
) -> Result<Vec<Change>, StoreError> {
    if let Some(open) = of(tx, [subject, subject]).await?.first() {
        go_on(tx, open, reason, wait).await?;
        return Ok(Vec::new());
    }
    let wait = if wait.is_zero() { until_probe(0) } else { wait };
    let pause = Pause {
        subject: subject.clone(),
        reason,
        since: tx.now,
        probe: Some(tx.now.plus(wait)),
        probes: 0,
    };
    Ok(match insert(tx, &pause).await? {
        0 => Vec::new(),
        _ => vec![Change::Began(pause)],
    })
}

async fn insert(tx: &mut Tx<'_>, pause: &Pause) -> Result<u64, StoreError> {
    let begin = statement(sql::BEGIN_PAUSE)
        .bind(pause.subject.to_string())
        .bind(pause.reason.as_str())
        .bind(pause.since.get())
        .bind(pause.probe.map(UnixMillis::get));
    tx.session().execute(begin).await
}

/// A pause goes on, maybe for another reason or for longer. A person's is left alone.
async fn go_on(
    tx: &mut Tx<'_>,
    open: &Open,
    reason: PauseReason,
    wait: Duration,
) -> Result<(), StoreError> {
    let until = tx.now.plus(wait);
    let Some(probe) = open.pause.probe else {
        return Ok(());
    };
    if probe >= until && open.pause.reason == reason {
        return Ok(());
    }
    let Some(Open { id, pause }) = lock(tx, open.id).await? else {
        return Ok(());
    };
    if let Some(probe) = pause.probe {
        set_reason(tx, id, reason, Some(probe.max(until))).await?;
    }
    Ok(())
}

async fn set_reason(
    tx: &mut Tx<'_>,
    id: i64,
    reason: PauseReason,
    probe: Option<UnixMillis>,
) -> Result<(), StoreError> {
    let set = statement(sql::SET_REASON)
        .bind(id)
        .bind(reason.as_str())
        .bind(probe.map(UnixMillis::get));
    tx.session().execute(set).await?;
    Ok(())
}

async fn end(tx: &mut Tx<'_>, id: i64, by: &str) -> Result<(), StoreError> {
    let end = statement(sql::END_PAUSE)
        .bind(id)
        .bind(tx.now.get())
        .bind(by);
    tx.session().execute(end).await?;
    Ok(())
}

/// Counts a report that ended with a lasting error, and pauses its pipeline if there were several
/// in a row.
async fn strike(
    tx: &mut Tx<'_>,
    pipeline: &Subject,
    reason: PauseReason,
    report: ReportKey,
) -> Result<Vec<Change>, StoreError> {
    if let Some(open) = of(tx, [pipeline, pipeline]).await?.first() {
        go_on(tx, open, reason, Duration::ZERO).await?;
        return Ok(Vec::new());
    }
    let subject = pipeline.to_string();
    let strikes = statement(sql::STRIKES).bind(&subject);
    if tx.session().row(strikes).await?.is_none() {
        let first = statement(sql::FIRST_STRIKE)
            .bind(&subject)
            .bind(reason.as_str())
            .bind(report.as_bytes());
        tx.session().execute(first).await?;
        return Ok(Vec::new());
    }
    let Some(row) = take_strikes(tx, &subject).await? else {
        return Ok(Vec::new());
    };
    let row = Row::new(&row, &subject);
    let last: ReportKey = row.digest("strike.last_report", ReportKey::from_bytes)?;
    let count = match row.word::<PauseReason>("strike.reason")? {
        same if same == reason && last == report => return Ok(Vec::new()),
        same if same == reason => row.count::<u32>("strike.count")?.saturating_add(1),
        _ => 1,
    };
    if count >= STRIKES_MAX {
        forget_strikes(tx, pipeline).await?;
        return begin(tx, pipeline, reason, Duration::ZERO).await;
    }
    let next = statement(sql::NEXT_STRIKE)
        .bind(&subject)
        .bind(reason.as_str())
        .bind(count)
        .bind(report.as_bytes());
    tx.session().execute(next).await?;
    Ok(Vec::new())
}

/// Takes the row of a subject's failures, if there is one, unless another has it.
async fn take_strikes(tx: &mut Tx<'_>, subject: &str) -> Result<Option<AnyRow>, StoreError> {
    let take = tx.locking(sql::STRIKES, postgres::TAKE_STRIKES);
    tx.session().row(statement(take).bind(subject)).await
}

async fn forget_strikes(tx: &mut Tx<'_>, subject: &Subject) -> Result<(), StoreError> {
    let forget = statement(sql::FORGET_STRIKES).bind(subject.to_string());
    tx.session().execute(forget).await?;
    Ok(())
}

/// A provider answered: what is paused works again, and no failure counts any more.
async fn answered(tx: &mut Tx<'_>, hold: &Hold) -> Result<Vec<Change>, StoreError> {
    let [credential, pipeline] = &hold.subjects;
    let look = statement(sql::ANYTHING_WRONG)
        .bind(credential.to_string())
        .bind(pipeline.to_string());
    let row = tx.session().one(look).await?;
    if Row::new(&row, "").number("pause.pause_id")? == 0 {
        return Ok(Vec::new());
    }
    let changes = over(tx, hold, [credential, pipeline]).await?;
    if take_strikes(tx, &pipeline.to_string()).await?.is_some() {
        forget_strikes(tx, pipeline).await?;
    }
    Ok(changes)
}

/// Content was fetched with a credential: where it was paused, it works again.
pub(super) async fn fetched(
    tx: &mut Tx<'_>,
    hold: &Hold,
    credential: &CredentialName,
) -> Result<Vec<Change>, StoreError> {
    let credential = Subject::Credential(credential.clone());
    over(tx, hold, [&credential, &credential]).await
}

/// Ends the pauses of subjects that an attempt showed to work.
async fn over(
    tx: &mut Tx<'_>,
    hold: &Hold,
    subjects: [&Subject; 2],
) -> Result<Vec<Change>, StoreError> {
    let mut changes = Vec::new();
    for Open { id, pause } in of(tx, subjects).await? {
        // Only a probe tells: a call that was under way when the pause began does not.
        if pause.reason == PauseReason::Operator || !began_after(tx, hold, pause.since).await? {
            continue;
        }
        if let Some(Open { pause, .. }) = lock(tx, id).await? {
            end(tx, id, BY_PROBE).await?;
            changes.push(Change::Ended(pause));
        }
    }
    Ok(changes)
}

async fn began_after(tx: &mut Tx<'_>, hold: &Hold, since: UnixMillis) -> Result<bool, StoreError> {
    let granted = statement(sql::GRANTED_SINCE)
        .bind(hold.report.as_bytes())
        .bind(i64::from(hold.attempt.get()))
        .bind(since.get());
    Ok(tx.session().row(granted).await?.is_some())
}
