//! The job that a worker might get, read as a whole before anything is written: what can't be
//! understood is found out while nothing has changed yet.

use fencepost_identity::{
    identity::{Identity, Namespace, ReportId, Tenant},
    key::{CallKey, ClaimKey, ReportKey},
};

use super::Tx;
use crate::{
    clock::UnixMillis,
    report::{AttemptNumber, AttemptOutcome, FencingToken, InputOrigin, State, VersionStatus},
    store::{
        CallRecord, PipelineTerms, RawAnswer, StoreError, StoredAnswer, postgres,
        row::Row,
        session::{AnyRow, Statement, statement},
        sql,
    },
};

/// The place of a job in the order of what is due.
pub(super) struct Place {
    pub(super) job: i64,
    pub(super) tenant: String,
    /// None only in a corrupt row, which is due at once so that it is found.
    pub(super) due: Option<UnixMillis>,
}

impl Place {
    pub(super) fn is_due(&self, now: UnixMillis) -> bool {
        self.due.is_none_or(|due| due <= now)
    }
}

/// The first job in a pipeline's order, due or not.
pub(super) async fn first(
    tx: &mut Tx<'_>,
    terms: &PipelineTerms,
) -> Result<Option<Place>, StoreError> {
    let first = statement(sql::CANDIDATE)
        .bind(terms.pipeline.clone())
        .bind(terms.classifier_version.clone());
    let row = tx.session().row(first).await?;
    row.map(|row| place(&row)).transpose()
}

/// The first job in a pipeline's order, due or not, of the first tenant after another that has one.
pub(super) async fn of_next_tenant(
    tx: &mut Tx<'_>,
    terms: &PipelineTerms,
    after: &str,
) -> Result<Option<Place>, StoreError> {
    let of_next = statement(sql::CANDIDATE_OF_NEXT_TENANT)
        .bind(&terms.pipeline)
        .bind(&terms.classifier_version)
        .bind(after);
    let row = tx.session().row(of_next).await?;
    row.map(|row| place(&row)).transpose()
}

fn place(row: &AnyRow) -> Result<Place, StoreError> {
    let row = Row::new(row, "");
    Ok(Place {
        job: row.number("job.job_id")?,
        tenant: row.text("job.tenant")?,
        due: row.time_or_none("job.due_ms")?,
    })
}

/// Locks the report of the job that comes first among those of its tenant that nobody else is at
/// work on, or where all are taken, among those of the pipeline. None when nothing of that is due.
pub(super) async fn lock(
    tx: &mut Tx<'_>,
    place: &Place,
    terms: &PipelineTerms,
) -> Result<Option<i64>, StoreError> {
    if tx.is_alone() {
        return Ok(Some(place.job));
    }
    let of_tenant = statement(postgres::LOCK_CANDIDATE_OF_TENANT)
        .bind(&terms.pipeline)
        .bind(&terms.classifier_version)
        .bind(&place.tenant);
    if let Some(job) = lock_first(tx, of_tenant, terms).await? {
        return Ok(Some(job));
    }
    let of_pipeline = statement(postgres::LOCK_CANDIDATE)
        .bind(&terms.pipeline)
        .bind(&terms.classifier_version);
    lock_first(tx, of_pipeline, terms).await
}

/// Carries out a statement that locks a report, and looks whether its job is due still.
async fn lock_first(
    tx: &mut Tx<'_>,
    lock: Statement,
    terms: &PipelineTerms,
) -> Result<Option<i64>, StoreError> {
    let Some(row) = tx.session().row(lock).await? else {
        return Ok(None);
    };
    let job = Row::new(&row, "").number("job.job_id")?;
    // Between the look and the lock it may have been granted, settled or put off.
    let again = statement(sql::STILL_CLAIMABLE)
        .bind(job)
        .bind(&terms.classifier_version);
    let Some(row) = tx.session().row(again).await? else {
        return Ok(None);
    };
    let due = Row::new(&row, "").time_or_none("job.due_ms")?;
    let now = tx.now;
    Ok(due.is_none_or(|due| due <= now).then_some(job))
}

/// A job and its report.
pub(super) struct Candidate {
    pub(super) job: i64,
    pub(super) report: ReportKey,
    pub(super) identity: Identity,
    pub(super) source: String,
    pub(super) input: Vec<u8>,
    /// By which links the input is to be fetched, where it is not there yet.
    pub(super) unfetched: Option<Vec<(String, String)>>,
    pub(super) state: State,
    pub(super) charged: u32,
    pub(super) given_back: u32,
    /// How many budgets of attempts it has had.
    pub(super) rounds: u32,
    pub(super) elapsed_from: UnixMillis,
    /// The token that was granted last.
    pub(super) fence: FencingToken,
    /// The one that is granted next.
    pub(super) token: FencingToken,
    /// Which of the versions the report is.
    pub(super) version: Option<VersionStatus>,
    pub(super) attempt: AttemptNumber,
    pub(super) claim_key: ClaimKey,
    pub(super) call_key: CallKey,
    pub(super) history: History,
    pub(super) stored: Option<StoredAnswer>,
}

/// Reads a job and what belongs to it.
pub(super) async fn load(
    tx: &mut Tx<'_>,
    job: i64,
    terms: &PipelineTerms,
) -> Result<Candidate, StoreError> {
    let load = statement(sql::LOAD_JOB)
        .bind(job)
        .bind(terms.classifier_version.clone());
    let row = tx.session().one(load).await?;
    let row = Row::new(&row, format!("job {job}"));
    let report = row.digest("job.report_key", ReportKey::from_bytes)?;
    let state = row.state()?;
    if state == State::Running {
        row.time("job.lease_until_ms")?;
    }
    let others: u32 = row.count("job.classifier_version")?;
    if others > 0 {
        return Err(row.corrupt("job.classifier_version"));
    }
    let fence = row.stored("report.fence", FencingToken::from_stored)?;
    let claim_key = ClaimKey::of(&report, &terms.classifier_version);
    let judged: u32 = row.count("job.calls_judged")?;
    let call_key = CallKey::of(&claim_key, judged.saturating_add(1));
    Ok(Candidate {
        job,
        report,
        identity: identity(&row)?,
        source: row.text("report.source")?,
        input: row.bytes("report.input")?,
        unfetched: unfetched(&row)?,
        state,
        charged: row.count("job.charged")?,
        given_back: row.count("job.given_back")?,
        rounds: row.count("job.rounds")?,
        elapsed_from: row.time("job.elapsed_from_ms")?,
        fence,
        token: fence.next().ok_or_else(|| row.corrupt("report.fence"))?,
        version: version_status(&row)?,
        attempt: row.stored("report.next_attempt", AttemptNumber::from_stored)?,
        claim_key,
        call_key,
        history: history(tx, report, job).await?,
        stored: unjudged(tx, report, call_key).await?,
    })
}

/// Reads by which links an input is to be fetched, where it is not there yet.
fn unfetched(row: &Row<'_>) -> Result<Option<Vec<(String, String)>>, StoreError> {
    match row.word("report.input_from")? {
        InputOrigin::Reference => links(row).map(Some),
        InputOrigin::Forwarded | InputOrigin::Fetched => Ok(None),
    }
}

/// Reads a report's links.
pub(in crate::store) fn links(row: &Row<'_>) -> Result<Vec<(String, String)>, StoreError> {
    row.checked("report.links", |text| serde_json::from_str(&text))
}

/// Reads which of the versions a report is; none where they have no order.
pub(in crate::store) fn version_status(row: &Row<'_>) -> Result<Option<VersionStatus>, StoreError> {
    let Some(number) = row.number_or_none("report.is_current")? else {
        return Ok(None);
    };
    let status = VersionStatus::from_stored(number);
    status
        .map(Some)
        .ok_or_else(|| row.corrupt("report.is_current"))
}

/// Reads what a report is.
pub(in crate::store) fn identity(row: &Row<'_>) -> Result<Identity, StoreError> {
    Ok(Identity {
        tenant: row.checked("report.tenant", Tenant::new)?,
        namespace: row.checked("report.namespace", Namespace::new)?,
        report_id: row.checked("report.report_id", ReportId::new)?,
        version: row.word("report.version")?,
    })
}

/// What a job's past attempts say about the next one.
#[derive(Clone, Copy, Default)]
pub(super) struct History {
    /// The last verdict on an answer.
    pub(super) last_verdict: Option<AttemptOutcome>,
    /// How often the provider failed since.
    pub(super) failures: u32,
}

async fn history(tx: &mut Tx<'_>, report: ReportKey, job: i64) -> Result<History, StoreError> {
    let past = statement(sql::PAST_ATTEMPTS)
        .bind(report.as_bytes())
        .bind(job);
    let mut history = History::default();
    for row in tx.session().rows(past).await? {
        let row = Row::new(&row, report);
        history.last_verdict = row.word_or_none("attempt.verdict")?;
        if history.last_verdict.is_some() {
            break;
        }
        let outcome: Option<AttemptOutcome> = row.word_or_none("attempt.outcome")?;
        history.failures += u32::from(outcome.is_some_and(AttemptOutcome::is_transient));
    }
    Ok(history)
}

async fn unjudged(
    tx: &mut Tx<'_>,
    report: ReportKey,
    call_key: CallKey,
) -> Result<Option<StoredAnswer>, StoreError> {
    let unjudged = statement(sql::UNJUDGED_ANSWER)
        .bind(report.as_bytes())
        .bind(call_key.as_bytes());
    let Some(row) = tx.session().row(unjudged).await? else {
        return Ok(None);
    };
    let row = Row::new(&row, report);
    let raw = row.bytes("attempt.raw")?;
    let call = call_record(&row)?.unwrap_or_default();
    let attempt = row.stored("attempt.number", AttemptNumber::from_stored)?;
    Ok(Some(StoredAnswer {
        answer: RawAnswer { raw, call },
        attempt,
    }))
}

/// What an attempt's row tells of its call, where one is known of.
pub(in crate::store) fn call_record(row: &Row<'_>) -> Result<Option<CallRecord>, StoreError> {
    let Some(provider) = row.text_or_none("attempt.provider")? else {
        return Ok(None);
    };
    Ok(Some(CallRecord {
        provider,
        model: row.text_or_none("attempt.model")?.unwrap_or_default(),
        request_id: row.text_or_none("attempt.request_id")?,
        tokens_in: row.count_or_none("attempt.tokens_in")?,
        tokens_out: row.count_or_none("attempt.tokens_out")?,
        latency_ms: row.count_or_none("attempt.latency_ms")?,
    }))
}
