//! Answers that have been kept long enough are emptied, each in a transaction of its own.

use async_trait::async_trait;
use fencepost_identity::key::{CallKey, ReportKey};

use super::{Operation, Reading, Tx, now};
use crate::{
    clock::UnixMillis,
    report::{AttemptNumber, AttemptOutcome},
    store::{
        Emptied, ExpiredAnswer, ExpiredAnswers, Keeping, KeptAnswer, KeptPlace, LastAnswer,
        PastVerdict, StoreError,
        row::Row,
        session::{AnyRow, Session, statement},
        sql,
    },
};

/// How many answers are looked up at a time.
const ANSWERS_MAX: usize = 100;

/// Answers that have been kept long enough, the oldest first.
pub(in crate::store) struct Expired {
    pub(in crate::store) keeping: Keeping,
    pub(in crate::store) after: Option<KeptPlace>,
}

#[async_trait]
impl Reading for Expired {
    type Found = ExpiredAnswers;

    async fn run(&self, session: &mut Session<'_>) -> Result<ExpiredAnswers, StoreError> {
        let beginning = KeptPlace {
            ended: UnixMillis::new(i64::MIN),
            report: Vec::new(),
            number: 0,
        };
        let after = self.after.as_ref().unwrap_or(&beginning);
        let until = now(session).await?.minus(self.keeping.kept_for);
        let expired = statement(sql::EXPIRED_ANSWERS)
            .bind(&self.keeping.pipeline)
            .bind(until.get())
            .bind(after.ended.get())
            .bind(&after.report)
            .bind(after.number)
            .bind(i64::try_from(ANSWERS_MAX).unwrap_or(i64::MAX));
        let rows = session.rows(expired).await?;
        let mut found = ExpiredAnswers {
            answers: Vec::new(),
            unreadable: Vec::new(),
            next: match rows.last().filter(|_| rows.len() >= ANSWERS_MAX) {
                Some(last) => Some(place(last)?),
                None => None,
            },
        };
        for row in &rows {
            match expired_answer(row) {
                Ok(answer) => found.answers.push(answer),
                Err(StoreError::Corrupt(corruption)) => found.unreadable.push(corruption),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

fn place(row: &AnyRow) -> Result<KeptPlace, StoreError> {
    let row = Row::keyed(row, "attempt.report_key");
    Ok(KeptPlace {
        ended: row.time("attempt.ended_ms")?,
        report: row.bytes("attempt.report_key")?,
        number: row.number("attempt.number")?,
    })
}

fn expired_answer(row: &AnyRow) -> Result<ExpiredAnswer, StoreError> {
    let row = Row::keyed(row, "attempt.report_key");
    Ok(ExpiredAnswer {
        report: row.digest("attempt.report_key", ReportKey::from_bytes)?,
        attempt: row.stored("attempt.number", AttemptNumber::from_stored)?,
    })
}

/// Empties an answer, should it still be there.
pub(in crate::store) struct EmptyAnswer(pub(in crate::store) ExpiredAnswer);

#[async_trait]
impl Operation for EmptyAnswer {
    type Done = Emptied;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Emptied, StoreError> {
        let ExpiredAnswer { report, attempt } = self.0;
        tx.lock(report).await?;
        let empty = statement(sql::EMPTY_ANSWER)
            .bind(report.as_bytes())
            .bind(i64::from(attempt.get()))
            .bind(&Vec::new())
            .bind(tx.now.get());
        let emptied = tx.session().execute(empty).await?;
        match emptied {
            0 => Ok(Emptied::Left),
            _ => Ok(Emptied::Done),
        }
    }
}

/// The last answer of a version's attempts.
pub(in crate::store) struct Last {
    pub(in crate::store) key: ReportKey,
    pub(in crate::store) classifier_version: String,
}

#[async_trait]
impl Reading for Last {
    type Found = Option<LastAnswer>;

    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Found, StoreError> {
        let last = statement(sql::LAST_ANSWER)
            .bind(self.key.as_bytes())
            .bind(&self.classifier_version);
        let Some(row) = session.row(last).await? else {
            return Ok(None);
        };
        let row = Row::new(&row, self.key);
        if let Some(at) = row.time_or_none("attempt.raw_emptied_ms")? {
            return Ok(Some(LastAnswer::Emptied { at }));
        }
        Ok(Some(LastAnswer::Kept(Box::new(KeptAnswer {
            attempt: row.stored("attempt.number", AttemptNumber::from_stored)?,
            raw: row.bytes("attempt.raw")?,
            call_key: row.digest("attempt.raw_call_key", CallKey::from_bytes)?,
            input: row.bytes("report.input")?,
            verdict: past_verdict(&row)?,
        }))))
    }
}

fn past_verdict(row: &Row<'_>) -> Result<Option<PastVerdict>, StoreError> {
    let outcome: Option<AttemptOutcome> = row.word_or_none("attempt.verdict")?;
    let Some(outcome) = outcome else {
        return Ok(None);
    };
    Ok(Some(PastVerdict {
        outcome,
        reason: row.text_or_none("attempt.reason")?,
        schema_version: row.text("attempt.schema_version")?,
    }))
}
