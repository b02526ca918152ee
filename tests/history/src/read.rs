//! Reads a history from a database's own rows.
//!
//! Both kinds of database are asked the same statements, within one transaction that sees one
//! moment, so that a history can be read while the program works.

mod cells;
mod postgres;
mod sqlite;

use std::path::Path;

use cells::{Cells, key, key_or_none, word, word_or_none};

use crate::rows::{Attempt, Decision, Event, Finding, History, Job, Report, ResultRow, Review};

/// Where the rows are.
#[derive(Clone, Copy, Debug)]
pub enum Database<'a> {
    /// A SQLite file. It is only read.
    Sqlite(&'a Path),
    /// The URL of a Postgres database.
    Postgres(&'a str),
}

/// Why a history can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The database can't be asked.
    #[error("the database can't be read: {0}")]
    Database(#[from] sqlx::Error),
    /// A value is not what its column holds.
    #[error("{column} holds `{value}`")]
    Value {
        /// The table and the column.
        column: &'static str,
        /// What stands there.
        value: String,
    },
}

/// A database, one transaction long.
trait Rows {
    type Row: Cells;

    async fn rows(&mut self, statement: &'static str) -> Result<Vec<Self::Row>, ReadError>;
}

impl History {
    /// Reads everything but what clients and the model wrote down, see [`History::add`].
    ///
    /// # Errors
    /// The database can't be asked, or a row holds what none may.
    pub async fn read(database: Database<'_>) -> Result<Self, ReadError> {
        match database {
            Database::Sqlite(file) => sqlite::read(file).await,
            Database::Postgres(url) => postgres::read(url).await,
        }
    }

    async fn of(rows: &mut impl Rows) -> Result<Self, ReadError> {
        Ok(Self {
            acknowledgements: Vec::new(),
            model_calls: Vec::new(),
            model_answers: Vec::new(),
            reports: all(rows, REPORTS, report).await?,
            jobs: all(rows, JOBS, job).await?,
            attempts: all(rows, ATTEMPTS, attempt).await?,
            results: all(rows, RESULTS, result).await?,
            findings: all(rows, FINDINGS, finding).await?,
            reviews: all(rows, REVIEWS, review).await?,
            decisions: all(rows, DECISIONS, decision).await?,
            events: all(rows, EVENTS, event).await?,
        })
    }
}

async fn all<R: Rows, T>(
    rows: &mut R,
    statement: &'static str,
    read: impl Fn(&R::Row) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    rows.rows(statement).await?.iter().map(read).collect()
}

const REPORTS: &str = r#"
SELECT report_key AS "report.report_key", fence AS "report.fence",
       current_job AS "report.current_job", current_result AS "report.current_result",
       tenant AS "report.tenant", namespace AS "report.namespace",
       report_id AS "report.report_id", is_current AS "report.is_current",
       received_ms AS "report.received_ms"
  FROM report ORDER BY received_ms, report_key"#;

fn report(row: &impl Cells) -> Result<Report, ReadError> {
    Ok(Report {
        key: key(row, "report.report_key")?,
        fence: row.number("report.fence")?,
        current_job: row.number_or_none("report.current_job")?,
        current_result: key_or_none(row, "report.current_result")?,
        thing: [
            row.text("report.tenant")?,
            row.text("report.namespace")?,
            row.text("report.report_id")?,
        ],
        is_current: row.number_or_none("report.is_current")?.map(|it| it != 0),
        received_ms: row.number("report.received_ms")?,
    })
}

const JOBS: &str = r#"
SELECT job_id AS "job.job_id", report_key AS "job.report_key", state AS "job.state",
       outcome AS "job.outcome", token AS "job.token", grants AS "job.grants",
       charged AS "job.charged", given_back AS "job.given_back", rounds AS "job.rounds",
       set_aside AS "job.set_aside"
  FROM job ORDER BY job_id"#;

fn job(row: &impl Cells) -> Result<Job, ReadError> {
    Ok(Job {
        id: row.number("job.job_id")?,
        report: key(row, "job.report_key")?,
        state: word(row, "job.state")?,
        ending: word_or_none(row, "job.outcome")?,
        token: row.number_or_none("job.token")?,
        grants: row.number("job.grants")?,
        charged: row.number("job.charged")?,
        given_back: row.number("job.given_back")?,
        rounds: row.number("job.rounds")?,
        set_aside: row.text_or_none("job.set_aside")?,
    })
}

const ATTEMPTS: &str = r#"
SELECT report_key AS "attempt.report_key", number AS "attempt.number", job_id AS "attempt.job_id",
       charged AS "attempt.charged", token AS "attempt.token",
       classifier_version AS "attempt.classifier_version",
       schema_version AS "attempt.schema_version", started_ms AS "attempt.started_ms",
       ended_ms AS "attempt.ended_ms", outcome AS "attempt.outcome"
  FROM attempt ORDER BY report_key, number"#;

fn attempt(row: &impl Cells) -> Result<Attempt, ReadError> {
    Ok(Attempt {
        report: key(row, "attempt.report_key")?,
        number: row.number("attempt.number")?,
        job: row.number("attempt.job_id")?,
        charged: row.number("attempt.charged")? != 0,
        token: row.number("attempt.token")?,
        classifier_version: row.text("attempt.classifier_version")?,
        schema_version: row.text("attempt.schema_version")?,
        started_ms: row.number("attempt.started_ms")?,
        ended_ms: row.number_or_none("attempt.ended_ms")?,
        outcome: word_or_none(row, "attempt.outcome")?,
    })
}

const RESULTS: &str = r#"
SELECT result_key AS "result.result_key", report_key AS "result.report_key",
       schema_version AS "result.schema_version", value AS "result.value",
       thing_key AS "result.thing_key", token AS "result.token",
       attempt_number AS "result.attempt_number",
       candidate_attempt AS "result.candidate_attempt", status AS "result.status",
       updated_ms AS "result.updated_ms"
  FROM result ORDER BY report_key, schema_version"#;

fn result(row: &impl Cells) -> Result<ResultRow, ReadError> {
    Ok(ResultRow {
        key: key(row, "result.result_key")?,
        report: key(row, "result.report_key")?,
        schema_version: row.text("result.schema_version")?,
        value: row.text_or_none("result.value")?,
        is_list: key_or_none(row, "result.thing_key")?.is_some(),
        token: row.number("result.token")?,
        attempt: row.number_or_none("result.attempt_number")?,
        candidate_attempt: row.number_or_none("result.candidate_attempt")?,
        status: word(row, "result.status")?,
        updated_ms: row.number("result.updated_ms")?,
    })
}

const FINDINGS: &str = r#"
SELECT finding_key AS "finding.finding_key", report_key AS "finding.report_key",
       result_key AS "finding.result_key", position AS "finding.position",
       value AS "finding.value", collapsed AS "finding.collapsed", status AS "finding.status",
       attempt_number AS "finding.attempt_number"
  FROM finding ORDER BY report_key, finding_key"#;

fn finding(row: &impl Cells) -> Result<Finding, ReadError> {
    Ok(Finding {
        key: key(row, "finding.finding_key")?,
        report: key(row, "finding.report_key")?,
        result: key(row, "finding.result_key")?,
        position: row.number("finding.position")?,
        value: row.text("finding.value")?,
        collapsed: row.number("finding.collapsed")?,
        status: word(row, "finding.status")?,
        attempt: row.number_or_none("finding.attempt_number")?,
    })
}

const REVIEWS: &str = r#"
SELECT report_key AS "review.report_key", revision AS "review.revision",
       status AS "review.status", opened_ms AS "review.opened_ms",
       closed_ms AS "review.closed_ms"
  FROM review ORDER BY report_key"#;

fn review(row: &impl Cells) -> Result<Review, ReadError> {
    Ok(Review {
        report: key(row, "review.report_key")?,
        revision: row.number("review.revision")?,
        status: word(row, "review.status")?,
        opened_ms: row.number("review.opened_ms")?,
        closed_ms: row.number_or_none("review.closed_ms")?,
    })
}

const DECISIONS: &str = r#"
SELECT report_key AS "decision.report_key", number AS "decision.number",
       revision_seen AS "decision.revision_seen", kind AS "decision.kind",
       decided_ms AS "decision.decided_ms"
  FROM decision ORDER BY report_key, number"#;

fn decision(row: &impl Cells) -> Result<Decision, ReadError> {
    Ok(Decision {
        report: key(row, "decision.report_key")?,
        number: row.number("decision.number")?,
        revision_seen: row.number("decision.revision_seen")?,
        kind: word(row, "decision.kind")?,
        decided_ms: row.number("decision.decided_ms")?,
    })
}

const EVENTS: &str = r#"
SELECT report_key AS "outbox.report_key", sequence AS "outbox.sequence", kind AS "outbox.kind",
       result_key AS "outbox.result_key", created_ms AS "outbox.created_ms"
  FROM outbox ORDER BY report_key, sequence"#;

fn event(row: &impl Cells) -> Result<Event, ReadError> {
    Ok(Event {
        report: key(row, "outbox.report_key")?,
        sequence: row.number("outbox.sequence")?,
        kind: word(row, "outbox.kind")?,
        result: key_or_none(row, "outbox.result_key")?,
        created_ms: row.number("outbox.created_ms")?,
    })
}
