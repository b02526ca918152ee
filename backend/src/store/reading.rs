//! What people are shown, read; and what is bound.

mod findings;
mod input;

use async_trait::async_trait;
use fencepost_identity::key::{CallKey, LineageKey, MappingDigest, ReportKey, ResultKey};

pub(super) use self::input::{Input, Inputs};
use super::{
    AttemptView, Bindings, Corruption, Cursor, Filter, OpenReview, Page, Pause, ReportSummary,
    ReportView, ResultView, ReviewPage, ReviewView, StateCount, Stats, StoreError, VersionCount,
    operation::{
        Reading, Sight, call_record, identity, links, now, read_pause, readable, version_status,
    },
    row::Row,
    session::{AnyRow, Session, statement},
    sql,
};
use crate::{
    clock::UnixMillis,
    report::{AttemptNumber, FencingToken, Outcome, State, WorkerId},
};

/// The most lines of a page.
const PAGE_LENGTH_MAX: u32 = 500;

/// The place before the newest report.
const NEWEST: Cursor = Cursor {
    at: UnixMillis::new(i64::MAX),
    key: ReportKey::from_bytes([0xff; 32]),
};

/// A report, with what hangs on it.
pub(super) struct Report(pub(super) ReportKey);

#[async_trait]
impl Reading for Report {
    type Found = Option<ReportView>;
    // A result and what it lists are changed together.
    const SIGHT: Sight = Sight::Moment;

    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Found, StoreError> {
        let row = session
            .row(statement(sql::REPORT).bind(self.0.as_bytes()))
            .await?;
        let Some(row) = row else { return Ok(None) };
        let row = Row::new(&row, self.0);
        let mut view = view(&row)?;
        if let Some(list) = list(&row, &view)? {
            view.findings = Some(list.read(session).await?);
        }
        Ok(Some(view))
    }
}

fn view(row: &Row<'_>) -> Result<ReportView, StoreError> {
    Ok(ReportView {
        summary: summary(row)?,
        input_from: row.word("report.input_from")?,
        links: links(row)?,
        order: row.text_or_none("report.order_value")?,
        version_status: version_status(row)?,
        classifier_version: row.text_or_none("job.classifier_version")?,
        token: row.stored("report.fence", FencingToken::from_stored)?,
        result: result(row)?,
        findings: None,
        review: review(row)?,
        conflicts: row.count("content_conflict.seen")?,
    })
}

fn summary(row: &Row<'_>) -> Result<ReportSummary, StoreError> {
    let state = row.state()?;
    let identity = if state == State::Terminal(Outcome::Erased) {
        None
    } else {
        Some(identity(row)?)
    };
    Ok(ReportSummary {
        key: row.digest("report.report_key", ReportKey::from_bytes)?,
        identity,
        state,
        source: row.text("report.source")?,
        pipeline: row.text("report.pipeline")?,
        received: row.time("report.received_ms")?,
        updated: row.time("job.updated_ms")?,
        attempts: row.count("attempt.number")?,
        charged: row.count("attempt.charged")?,
    })
}

fn result(row: &Row<'_>) -> Result<Option<ResultView>, StoreError> {
    let key = row.digest_or_none("result.result_key", ResultKey::from_bytes)?;
    let Some(key) = key else { return Ok(None) };
    Ok(Some(ResultView {
        key,
        schema_version: row.text("result.schema_version")?,
        value: row.text("result.value")?,
        attempt: attempt_number(row)?,
        candidate: row.text_or_none("result.candidate")?,
        created: row.time("result.created_ms")?,
    }))
}

/// The report's result, if it is a list.
fn list(row: &Row<'_>, view: &ReportView) -> Result<Option<findings::List>, StoreError> {
    let thing = row.digest_or_none("result.thing_key", LineageKey::from_bytes)?;
    let (Some(thing), Some(result)) = (thing, &view.result) else {
        return Ok(None);
    };
    Ok(Some(findings::List {
        report: view.summary.key,
        result: result.key,
        thing,
        order: view.order.clone(),
        received: view.summary.received,
    }))
}

fn attempt_number(row: &Row<'_>) -> Result<Option<AttemptNumber>, StoreError> {
    match row.number_or_none("result.attempt_number")? {
        Some(_) => row
            .stored("result.attempt_number", AttemptNumber::from_stored)
            .map(Some),
        None => Ok(None),
    }
}

fn review(row: &Row<'_>) -> Result<Option<ReviewView>, StoreError> {
    let Some(revision) = row.count_or_none("review.revision")? else {
        return Ok(None);
    };
    Ok(Some(ReviewView {
        revision,
        status: row.word("review.status")?,
        reason: row.word("review.reason")?,
        note: row.text_or_none("review.note")?,
        opened: row.time("review.opened_ms")?,
        closed: row.time_or_none("review.closed_ms")?,
    }))
}

/// The attempts on a report.
pub(super) struct Attempts(pub(super) ReportKey);

#[async_trait]
impl Reading for Attempts {
    type Found = Vec<AttemptView>;

    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Found, StoreError> {
        let attempts = statement(sql::ATTEMPTS).bind(self.0.as_bytes());
        let rows = session.rows(attempts).await?;
        rows.iter()
            .map(|row| attempt(&Row::new(row, self.0)))
            .collect()
    }
}

fn attempt(row: &Row<'_>) -> Result<AttemptView, StoreError> {
    let raw_emptied = row.time_or_none("attempt.raw_emptied_ms")?;
    let raw = row.bytes_or_none("attempt.raw")?;
    Ok(AttemptView {
        number: row.stored("attempt.number", AttemptNumber::from_stored)?,
        charged: row.number("attempt.charged")? == 1,
        worker: row.text("attempt.worker").map(WorkerId::new)?,
        token: row.stored("attempt.token", FencingToken::from_stored)?,
        classifier_version: row.text("attempt.classifier_version")?,
        schema_version: row.text("attempt.schema_version")?,
        call: call_record(row)?,
        call_key: row.digest_or_none("attempt.raw_call_key", CallKey::from_bytes)?,
        started: row.time("attempt.started_ms")?,
        ended: row.time_or_none("attempt.ended_ms")?,
        outcome: row.word_or_none("attempt.outcome")?,
        reason: row.text_or_none("attempt.reason")?,
        raw: raw.filter(|_| raw_emptied.is_none()),
        raw_emptied,
        verdict: row.word_or_none("attempt.verdict")?,
    })
}

/// A page of reports. One row that can't be understood does not hide the others.
pub(super) struct List {
    pub(super) filter: Filter,
    pub(super) after: Option<Cursor>,
    pub(super) limit: u32,
}

#[async_trait]
impl Reading for List {
    type Found = Page;

    async fn run(&self, session: &mut Session<'_>) -> Result<Page, StoreError> {
        let limit = self.limit.clamp(1, PAGE_LENGTH_MAX);
        let after = self.after.unwrap_or(NEWEST);
        let list = statement(sql::LIST)
            .bind(self.filter.state.map(|state| state.as_str()))
            .bind(&self.filter.tenant)
            .bind(&self.filter.pipeline)
            .bind(after.at.get())
            .bind(after.key.as_bytes())
            .bind(i64::from(limit) + 1);
        let rows = session.rows(list).await?;
        let page = page(rows, limit, "report.received_ms", summary)?;
        Ok(Page {
            reports: page.read,
            unreadable: page.unreadable,
            next: page.next,
        })
    }
}

/// Rows of a list, read one by one.
struct Lines<T> {
    read: Vec<T>,
    unreadable: Vec<Corruption>,
    next: Option<Cursor>,
}

/// Reads rows of a list, one more of which were asked for than a page has.
fn page<T>(
    mut rows: Vec<AnyRow>,
    limit: u32,
    sorted_by: &'static str,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Lines<T>, StoreError> {
    let length = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > length;
    rows.truncate(length);
    let mut page = Lines {
        read: Vec::new(),
        unreadable: Vec::new(),
        next: match rows.last().filter(|_| more) {
            Some(last) => Some(place(last, sorted_by)?),
            None => None,
        },
    };
    for row in &rows {
        match read(&Row::keyed(row, "report.report_key")) {
            Ok(line) => page.read.push(line),
            Err(StoreError::Corrupt(corruption)) => page.unreadable.push(corruption),
            Err(error) => return Err(error),
        }
    }
    Ok(page)
}

fn place(row: &AnyRow, sorted_by: &'static str) -> Result<Cursor, StoreError> {
    let row = Row::keyed(row, "report.report_key");
    Ok(Cursor {
        at: row.time(sorted_by)?,
        key: row.digest("report.report_key", ReportKey::from_bytes)?,
    })
}

/// A page of the reports that wait for a person.
pub(super) struct OpenReviews {
    pub(super) after: Option<Cursor>,
    pub(super) limit: u32,
}

#[async_trait]
impl Reading for OpenReviews {
    type Found = ReviewPage;

    async fn run(&self, session: &mut Session<'_>) -> Result<ReviewPage, StoreError> {
        let limit = self.limit.clamp(1, PAGE_LENGTH_MAX);
        let beginning = Cursor {
            at: UnixMillis::new(i64::MIN),
            key: ReportKey::from_bytes([0; 32]),
        };
        let after = self.after.unwrap_or(beginning);
        let list = statement(sql::OPEN_REVIEWS)
            .bind(after.at.get())
            .bind(after.key.as_bytes())
            .bind(i64::from(limit) + 1);
        let rows = session.rows(list).await?;
        let page = page(rows, limit, "review.opened_ms", open_review)?;
        Ok(ReviewPage {
            reviews: page.read,
            unreadable: page.unreadable,
            next: page.next,
        })
    }
}

fn open_review(row: &Row<'_>) -> Result<OpenReview, StoreError> {
    Ok(OpenReview {
        summary: summary(row)?,
        review: review(row)?.ok_or_else(|| row.corrupt("review.revision"))?,
    })
}

/// Counts and ages. A state that can't be understood is counted with what is set aside.
pub(super) struct AllStats;

#[async_trait]
impl Reading for AllStats {
    type Found = Stats;

    async fn run(&self, session: &mut Session<'_>) -> Result<Stats, StoreError> {
        stats(session).await
    }
}

async fn stats(session: &mut Session<'_>) -> Result<Stats, StoreError> {
    let now = now(session).await?;
    let counts = session.one(statement(sql::COUNTS)).await?;
    let counts = Row::new(&counts, "");
    let mut stats = Stats {
        states: Vec::new(),
        results: counts.count("result.result_key")?,
        findings: counts.count("finding.finding_key")?,
        attempts: counts.count("attempt.number")?,
        charged: counts.count("attempt.charged")?,
        reviews_open: counts.count("review.status")?,
        conflicts: counts.count("content_conflict.seen")?,
        undelivered: counts.count("outbox.delivered_ms")?,
        paused: counts.count("pause.subject")?,
        pauses: pauses(session).await?,
        set_aside: counts.count("job.set_aside")?,
        unfinished: Vec::new(),
    };
    for row in &session.rows(statement(sql::STATES)).await? {
        let row = Row::new(row, "");
        let count = row.count("report.report_key")?;
        let age = now.since(row.time("job.updated_ms")?);
        let oldest_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        match row.state() {
            Ok(state) => stats.states.push(StateCount {
                state,
                count,
                oldest_ms,
            }),
            Err(_) => stats.set_aside = stats.set_aside.saturating_add(count),
        }
    }
    for row in &session.rows(statement(sql::UNFINISHED)).await? {
        let row = Row::new(row, "");
        stats.unfinished.push(VersionCount {
            pipeline: row.text("job.pipeline")?,
            classifier_version: row.text_or_none("job.classifier_version")?,
            count: row.count("job.job_id")?,
        });
    }
    Ok(stats)
}

/// What is paused.
pub(super) struct Pauses;

#[async_trait]
impl Reading for Pauses {
    type Found = Vec<Pause>;

    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Found, StoreError> {
        pauses(session).await
    }
}

async fn pauses(session: &mut Session<'_>) -> Result<Vec<Pause>, StoreError> {
    let rows = session.rows(statement(sql::OPEN_PAUSES)).await?;
    readable(rows.iter().map(read_pause))
}

/// All that is bound.
pub(super) struct AllBindings;

#[async_trait]
impl Reading for AllBindings {
    type Found = Bindings;

    async fn run(&self, session: &mut Session<'_>) -> Result<Bindings, StoreError> {
        let mut bindings = Bindings::default();
        for row in &session.rows(statement(sql::SOURCE_BINDINGS)).await? {
            let source = Row::new(row, "").text("source_binding.source")?;
            let digest = Row::new(row, &source)
                .digest("source_binding.mapping_digest", MappingDigest::from_bytes)?;
            bindings.sources.insert(source, digest);
        }
        for row in &session.rows(statement(sql::VERSION_BINDINGS)).await? {
            let version = Row::new(row, "").text("version_binding.version")?;
            let row = Row::new(row, &version);
            let key = (
                row.word("version_binding.kind")?,
                row.text("version_binding.pipeline")?,
                version,
            );
            let digest = row.digest("version_binding.digest", |bytes| bytes)?;
            bindings.versions.insert(key, digest);
        }
        Ok(bindings)
    }
}
