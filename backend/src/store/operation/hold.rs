//! What a holder may do while its lease stands, and what it is told when it doesn't.

use std::time::Duration;

use super::{Operation, Settled, Tx, pause, record::stored};
use crate::{
    clock::UnixMillis,
    failpoint::durable,
    report::{FencingToken, State},
    store::{
        Fetched, Held, KeptInput, Lost, NewInput, RawAnswer, StoreError,
        lease::Hold,
        row::Row,
        session::{Statement, statement},
        sql,
    },
};
use async_trait::async_trait;

/// A statement that compares a lease: job, token and nonce are its first three parameters.
pub(super) fn fenced(text: &'static str, hold: &Hold) -> Statement {
    statement(text)
        .bind(hold.job)
        .bind(hold.token.stored())
        .bind(hold.nonce.as_bytes())
}

/// What counts while a lease stands.
pub(super) struct Standing {
    pub(super) until: UnixMillis,
    pub(super) charged: u32,
    pub(super) given_back: u32,
    /// How many budgets of attempts the job has had.
    pub(super) rounds: u32,
}

/// Looks whether a lease stands; why not, if it doesn't.
pub(super) async fn standing(
    tx: &mut Tx<'_>,
    hold: &Hold,
) -> Result<Result<Standing, Lost>, StoreError> {
    let held = fenced(sql::HELD_JOB, hold);
    let Some(row) = tx.session().row(held).await? else {
        return diagnose(tx, hold).await.map(Err);
    };
    let row = Row::new(&row, hold.job);
    Ok(Ok(Standing {
        until: row.time("job.lease_until_ms")?,
        charged: row.count("job.charged")?,
        given_back: row.count("job.given_back")?,
        rounds: row.count("job.rounds")?,
    }))
}

/// Says why a lease matched no row.
pub(super) async fn diagnose(tx: &mut Tx<'_>, hold: &Hold) -> Result<Lost, StoreError> {
    let look = statement(sql::DIAGNOSE)
        .bind(hold.job)
        .bind(hold.report.as_bytes());
    let Some(row) = tx.session().row(look).await? else {
        return Ok(Lost::Gone);
    };
    let row = Row::new(&row, hold.job);
    let fence = row.stored("report.fence", FencingToken::from_stored)?;
    if fence != hold.token {
        return Ok(Lost::Superseded { by: fence });
    }
    let token = row.number_or_none("job.token")?;
    let nonce = row.bytes_or_none("job.nonce")?;
    let same = token == Some(hold.token.stored())
        && nonce.as_deref() == Some(hold.nonce.as_bytes().as_slice());
    if !same {
        return Ok(Lost::GrantedTwice);
    }
    let state = row.state()?;
    if state == State::Running {
        return Err(StoreError::Fault(
            "a standing lease matched no row".to_owned(),
        ));
    }
    Ok(Lost::Settled { state })
}

/// Prolongs a lease.
pub(in crate::store) struct Heartbeat {
    pub(in crate::store) hold: Hold,
    pub(in crate::store) length: Duration,
}

#[async_trait]
impl Operation for Heartbeat {
    type Done = Held;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Held, StoreError> {
        tx.lock(self.hold.report).await?;
        let until = tx.now.plus(self.length);
        let prolong = fenced(sql::HEARTBEAT, &self.hold).bind(until.get());
        let prolonged = tx.session().execute(prolong).await?;
        match prolonged {
            0 => diagnose(tx, &self.hold).await.map(Held::Lost),
            _ => {
                durable!(tx, "heartbeat");
                Ok(Held::Yes { until })
            }
        }
    }
}

/// Keeps an input that was fetched, unless there is one.
pub(in crate::store) struct KeepInput {
    pub(in crate::store) hold: Hold,
    pub(in crate::store) fetched: Fetched,
}

#[async_trait]
impl Operation for KeepInput {
    type Done = Settled<KeptInput>;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Done, StoreError> {
        let (hold, report) = (&self.hold, self.hold.report);
        tx.lock(report).await?;
        if let Err(lost) = standing(tx, hold).await? {
            return Ok(Settled {
                answer: KeptInput::Lost(lost),
                changes: Vec::new(),
            });
        }
        let NewInput { canonical, hash } = &self.fetched.input;
        let keep = fenced(sql::KEEP_INPUT, hold)
            .bind(report.as_bytes())
            .bind(canonical)
            .bind(hash.as_bytes());
        tx.session().execute(keep).await?;
        durable!(tx, "input");
        let kept = statement(sql::INPUT).bind(report.as_bytes());
        let kept = tx.session().one(kept).await?;
        Ok(Settled {
            answer: KeptInput::Kept(Row::new(&kept, report).bytes("report.input")?),
            changes: pause::fetched(tx, hold, &self.fetched.with).await?,
        })
    }
}

/// Keeps an answer before it is judged.
pub(in crate::store) struct StoreRaw {
    pub(in crate::store) hold: Hold,
    pub(in crate::store) answer: RawAnswer,
}

#[async_trait]
impl Operation for StoreRaw {
    type Done = Held;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Held, StoreError> {
        tx.lock(self.hold.report).await?;
        let until = match standing(tx, &self.hold).await? {
            Ok(standing) => standing.until,
            Err(lost) => return Ok(Held::Lost(lost)),
        };
        let call = &self.answer.call;
        // Parameters 4 and on.
        let store = fenced(sql::STORE_RAW, &self.hold)
            .bind(self.hold.report.as_bytes())
            .bind(i64::from(self.hold.attempt.get()))
            .bind(&self.answer.raw)
            .bind(self.hold.call_key.as_bytes())
            .bind(&call.provider)
            .bind(&call.model)
            .bind(&call.request_id)
            .bind(stored(call.tokens_in))
            .bind(stored(call.tokens_out))
            .bind(stored(call.latency_ms));
        let stored = tx.session().execute(store).await?;
        match stored {
            0 => diagnose(tx, &self.hold).await.map(Held::Lost),
            _ => {
                durable!(tx, "raw");
                Ok(Held::Yes { until })
            }
        }
    }
}
