//! What is written besides a job's state, in the transaction that moves it.

use fencepost_identity::key::{EventKey, FindingKey, ReportKey, ResultKey};

use super::Tx;
use crate::{
    failpoint::durable,
    report::{AttemptOutcome, Event, State, Transition},
    store::{
        CallRecord, Charge, ReviewNeed, StoreError, lease::Hold, row::Row, session::statement, sql,
    },
};

/// What follows an event, or why this program should not have thought of it.
pub(super) fn follow(state: State, event: Event) -> Result<State, StoreError> {
    match state.after(event) {
        Transition::To(next) => Ok(next),
        Transition::Stays | Transition::Refused => Err(StoreError::Fault(format!(
            "{event:?} does not follow on {}",
            state.as_str()
        ))),
    }
}

/// How an attempt ends.
pub(super) struct Ending<'a> {
    pub(super) outcome: AttemptOutcome,
    pub(super) reason: Option<&'a str>,
    pub(super) call: Option<&'a CallRecord>,
    pub(super) charge: Charge,
}

/// Closes the attempt of a lease, and records its verdict if it judged an answer.
pub(super) async fn close_attempt(
    tx: &mut Tx<'_>,
    hold: &Hold,
    ending: Ending<'_>,
) -> Result<(), StoreError> {
    let key = hold.report.as_bytes();
    let number = i64::from(hold.attempt.get());
    let call = ending.call;
    let close = statement(sql::CLOSE_ATTEMPT)
        .bind(key)
        .bind(number)
        .bind(ending.outcome.as_str())
        .bind(ending.reason.map(str::to_owned))
        .bind(match ending.charge {
            Charge::Keep => 1_i64,
            Charge::GiveBack => 0,
        })
        .bind(tx.now.get())
        .bind(call.map(|call| call.provider.clone()))
        .bind(call.map(|call| call.model.clone()))
        .bind(call.and_then(|call| call.request_id.clone()))
        .bind(call.and_then(|call| stored(call.tokens_in)))
        .bind(call.and_then(|call| stored(call.tokens_out)))
        .bind(call.and_then(|call| stored(call.latency_ms)));
    tx.session().execute(close).await?;
    if ending.outcome.is_verdict() {
        let verdict = statement(sql::RECORD_VERDICT)
            .bind(key)
            .bind(number)
            .bind(ending.outcome.as_str())
            .bind(hold.call_key.as_bytes());
        tx.session().execute(verdict).await?;
    }
    Ok(())
}

/// A count, as far as a database can keep it.
pub(super) fn stored(count: Option<u64>) -> Option<i64> {
    count.map(|count| i64::try_from(count).unwrap_or(i64::MAX))
}

/// Opens the report's review item, again if need be, and announces it.
pub(super) async fn open_review(
    tx: &mut Tx<'_>,
    report: ReportKey,
    need: &ReviewNeed,
) -> Result<(), StoreError> {
    let open = statement(sql::OPEN_REVIEW)
        .bind(report.as_bytes())
        .bind(need.reason.as_str())
        .bind(&need.note)
        .bind(tx.now.get());
    let row = tx.session().one(open).await?;
    durable!(tx, "review");
    let revision = Row::new(&row, report).count("review.revision")?;
    announce(tx, report, Announcement::ReviewOpened { revision }).await
}

/// What others are told.
#[derive(Clone, Copy)]
pub(super) enum Announcement<'a> {
    /// A report was stored.
    Accepted,
    /// A person is asked.
    ReviewOpened { revision: u64 },
    /// A result is final; told once.
    ResultFinal { result: ResultKey },
    /// A newer answer no longer lists what an older one did.
    FindingsWithdrawn {
        result: ResultKey,
        findings: &'a [FindingKey],
    },
}

impl Announcement<'_> {
    const fn kind(self) -> &'static str {
        match self {
            Self::Accepted => "report.accepted",
            Self::ReviewOpened { .. } => "review.opened",
            Self::ResultFinal { .. } => "result.final",
            Self::FindingsWithdrawn { .. } => "finding.withdrawn",
        }
    }

    /// References only: who needs the contents asks for them.
    fn payload(self, report: ReportKey) -> serde_json::Value {
        match self {
            Self::Accepted => serde_json::json!({ "report_key": report }),
            Self::ReviewOpened { revision } => {
                serde_json::json!({ "report_key": report, "revision": revision })
            }
            Self::ResultFinal { result } => {
                serde_json::json!({ "report_key": report, "result_key": result })
            }
            Self::FindingsWithdrawn { result, findings } => serde_json::json!({
                "report_key": report,
                "result_key": result,
                "finding_keys": findings,
            }),
        }
    }
}

/// Writes an event to the outbox.
pub(super) async fn announce(
    tx: &mut Tx<'_>,
    report: ReportKey,
    announcement: Announcement<'_>,
) -> Result<(), StoreError> {
    let result = match announcement {
        Announcement::Accepted | Announcement::ReviewOpened { .. } => None,
        Announcement::ResultFinal { result } | Announcement::FindingsWithdrawn { result, .. } => {
            Some(result)
        }
    };
    if let Announcement::ResultFinal { result } = announcement {
        let told = statement(sql::FINAL_ANNOUNCED).bind(result.as_bytes());
        if tx.session().row(told).await?.is_some() {
            return Ok(());
        }
    }
    let key = report.as_bytes();
    let sequence = statement(sql::NEXT_SEQUENCE).bind(key);
    let row = tx.session().one(sequence).await?;
    let row = Row::new(&row, report);
    let sequence = row.number("report.next_sequence")?;
    let event = EventKey::of(
        &report,
        announcement.kind(),
        row.count("report.next_sequence")?,
    );
    let insert = statement(sql::INSERT_EVENT)
        .bind(event.as_bytes())
        .bind(key)
        .bind(sequence)
        .bind(announcement.kind())
        .bind(result.as_ref().map(ResultKey::as_bytes))
        .bind(announcement.payload(report).to_string())
        .bind(tx.now.get());
    tx.session().execute(insert).await?;
    Ok(())
}

/// Records what a person did to a report; `detail` never holds a text of it.
pub(super) async fn audit(
    tx: &mut Tx<'_>,
    who: &str,
    action: &'static str,
    report: ReportKey,
    detail: String,
) -> Result<(), StoreError> {
    let audit = statement(sql::AUDIT)
        .bind(tx.now.get())
        .bind(who.to_owned())
        .bind(action.to_owned())
        .bind(report.to_string())
        .bind(detail);
    tx.session().execute(audit).await?;
    Ok(())
}
