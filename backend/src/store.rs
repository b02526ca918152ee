//! The database: the only place that writes SQL, and where the three fences stand.
//!
//! The clock decides who may try; the fence decides who may write. Every statement that changes a
//! state names the fence that it relies on (see `sql`).

mod batch;
mod classify;
mod database;
mod error;
mod intake;
mod kept;
mod lease;
mod operation;
mod pause;
mod people;
mod postgres;
mod reading;
mod row;
mod session;
mod sql;
mod sqlite;
mod turns;
mod view;
mod work;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use fencepost_identity::key::{MappingDigest, ReportKey};

pub use error::{Corruption, StoreError};
pub use intake::{
    Bindings, Bound, Content, Ingested, Looked, NewInput, NewReport, PipelineVersions, Rebound,
    VersionConflict, VersionKind,
};
pub use kept::{
    Emptied, ExpiredAnswer, ExpiredAnswers, Keeping, KeptAnswer, KeptPlace, LastAnswer, PastVerdict,
};
pub use lease::{Held, Lease, Lost, Unsettled};
pub use pause::{CredentialName, Pause, PauseReason, Paused, Resumed, Subject};
pub use people::{Correction, Decided, Decision, DecisionKind, Erasure, Replayed};
pub use postgres::{PostgresOptions, PostgresStore};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use turns::Turns;
pub use view::{
    AttemptView, Backup, Cursor, Filter, FindingStatus, FindingView, FindingsView, InputPage,
    NotACursor, OpenReview, Page, ReportSummary, ReportView, ResultView, ReviewPage, ReviewStatus,
    ReviewView, Since, StateCount, Stats, StoredInput, VersionCount,
};
pub use work::{
    AfterRejection, CallRecord, Charge, Claim, ClaimRequest, Commit, Commitment, Fetched, Grant,
    KeptInput, PipelineTerms, RawAnswer, Rejected, Rejection, Release, Released, ReviewNeed,
    StoredAnswer,
};

/// What the rest of the backend can ask of a database.
///
/// Each method is one transaction, or one reading. A caller that goes away in the middle leaves
/// all of it or nothing: the work is done by a task of the store's own. Errors are the same for
/// all: [`StoreError`] says which.
#[async_trait]
pub trait Store: Send + Sync {
    /// Stores a report, its job and its event, or finds that it is stored already.
    async fn ingest(&self, report: NewReport) -> Result<Ingested, StoreError>;

    /// Binds a pipeline's versions to what they stand for, on their first use. A pipeline that
    /// gets [`Bound::Conflict`] must not claim.
    async fn bind_versions(&self, versions: PipelineVersions) -> Result<Bound, StoreError>;

    /// All that is bound, for those who compare and bind nothing.
    async fn bindings(&self) -> Result<Bindings, StoreError>;

    /// Grants a job that is due, be it waiting or running under a lease that ran out: of the tenant
    /// whose turn it is, the one that is due longest. The attempt is charged.
    async fn claim(&self, request: ClaimRequest) -> Result<Claim, StoreError>;

    /// Prolongs a lease by its pipeline's length, from now on.
    async fn heartbeat(&self, lease: &Lease) -> Result<Held, StoreError>;

    /// Keeps the input that was fetched for a report, if none is there yet; from then on it is the
    /// report's, and never another.
    async fn keep_input(&self, lease: &Lease, fetched: Fetched) -> Result<KeptInput, StoreError>;

    /// Keeps an answer before it is judged, under the lease's call key.
    async fn store_raw(&self, lease: &Lease, answer: RawAnswer) -> Result<Held, StoreError>;

    /// Commits a valid value: result, attempt, state, review item and event in one transaction.
    async fn commit(&self, lease: Lease, value: Commitment) -> Result<Commit, Unsettled>;

    /// Records that an attempt failed for good, and what comes next.
    async fn reject(&self, lease: Lease, rejection: Rejection) -> Result<Rejected, Unsettled>;

    /// Gives a lease back, so that the job is claimed again later.
    async fn release(&self, lease: Lease, release: Release) -> Result<Released, Unsettled>;

    /// Decides about a report that waits for a person, by who saw its review item.
    async fn decide(&self, key: ReportKey, decision: Decision) -> Result<Decided, StoreError>;

    /// Has a report judged again under a version, once per version. The job that is made has
    /// attempts and time of its own.
    async fn replay(
        &self,
        key: ReportKey,
        classifier_version: String,
        who: String,
    ) -> Result<Replayed, StoreError>;

    /// The last answer of the attempts that a report had under a version, for judging it again;
    /// none where no answer was ever stored.
    async fn last_answer(
        &self,
        key: ReportKey,
        classifier_version: String,
    ) -> Result<Option<LastAnswer>, StoreError>;

    /// Judged answers that have been kept long enough, after a place among them.
    async fn expired_answers(
        &self,
        keeping: Keeping,
        after: Option<KeptPlace>,
    ) -> Result<ExpiredAnswers, StoreError>;

    /// Empties a judged answer; its attempt stays, and tells that there was one.
    async fn empty_answer(&self, answer: ExpiredAnswer) -> Result<Emptied, StoreError>;

    /// Empties a report of all that it says. Its key and its history stay, so that a redelivery is
    /// still a duplicate.
    async fn erase(&self, key: ReportKey, who: String) -> Result<Erasure, StoreError>;

    /// A page of the reports that wait for a person, the one that waits longest first; `limit` is
    /// cut to 1 ..= 500.
    async fn reviews(&self, after: Option<Cursor>, limit: u32) -> Result<ReviewPage, StoreError>;

    /// A report as people see it.
    async fn report(&self, key: ReportKey) -> Result<Option<ReportView>, StoreError>;

    /// What a report is about, as it was accepted: canonical JSON. Nothing of a report that is
    /// unknown or was erased.
    async fn input(&self, key: ReportKey) -> Result<Option<Vec<u8>>, StoreError>;

    /// All attempts on a report, the first one first. None for an unknown report.
    async fn attempts(&self, key: ReportKey) -> Result<Vec<AttemptView>, StoreError>;

    /// A page of reports, the newest first; `limit` is cut to 1 ..= 500.
    async fn list(
        &self,
        filter: Filter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Page, StoreError>;

    /// A page of what the reports of a pipeline have a model asked about, the newest first; those
    /// without an input are left out. `limit` is cut to 1 ..= 500.
    async fn inputs(
        &self,
        pipeline: String,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<InputPage, StoreError>;

    /// Counts and ages.
    async fn stats(&self) -> Result<Stats, StoreError>;

    /// Binds a source to another mapping: its reports are keyed anew from now on. `actor` is who
    /// meant it, for the audit.
    async fn rebind_source(
        &self,
        source: String,
        digest: MappingDigest,
        actor: String,
    ) -> Result<Rebound, StoreError>;

    /// Pauses something until a person resumes it. `actor` is who meant it, for the audit.
    async fn pause(&self, subject: Subject, actor: String) -> Result<Paused, StoreError>;

    /// Ends a pause, whoever began it. `actor` is who meant it, for the audit.
    async fn resume(&self, subject: Subject, actor: String) -> Result<Resumed, StoreError>;

    /// What is paused.
    async fn pauses(&self) -> Result<Vec<Pause>, StoreError>;

    /// Writes a consistent copy of the database to a file that is not there yet.
    async fn backup(&self, file: &Path) -> Result<Backup, StoreError>;

    /// Whether a report could be stored now.
    async fn ready(&self) -> Result<(), StoreError>;

    /// Ends the use of the database, once nothing is under way any more: what was committed then
    /// stands in its own file, as far as other processes that use it allow that. Nothing is lost
    /// where it does not, and there is nothing that the caller could do about it. What is asked
    /// afterwards may be answered with [`StoreError::Unavailable`].
    async fn close(&self);
}

/// What a migration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The schema that was found; 0 for an empty database.
    pub from: i64,
    /// The schema that it has now.
    pub to: i64,
}

/// Opens the database that `url` names, `sqlite://FILE` or `postgres://…`, migrated to this
/// program's schema.
///
/// # Errors
/// [`StoreError::Url`] for another kind of database; else what kept it from being opened.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    Ok(match place(url)? {
        Place::File(file) => Arc::new(SqliteStore::open(file, SqliteOptions::default()).await?),
        Place::Server => Arc::new(PostgresStore::open(url, PostgresOptions::default()).await?),
    })
}

/// Brings the database that `url` names to this program's schema.
///
/// # Errors
/// As [`open`].
pub async fn migrate(url: &str) -> Result<Migrated, StoreError> {
    match place(url)? {
        Place::File(file) => sqlite::migrate(file).await,
        Place::Server => postgres::migrate(url).await,
    }
}

/// Looks at what is bound in the database that `url` names, which has to be there. Nothing is
/// written: an older schema is told, not migrated.
///
/// # Errors
/// As [`open`].
pub async fn look(url: &str) -> Result<Looked, StoreError> {
    match place(url)? {
        Place::File(file) => sqlite::look(file).await,
        Place::Server => postgres::look(url).await,
    }
}

/// Where a URL points.
#[derive(Debug, PartialEq, Eq)]
enum Place<'u> {
    File(&'u Path),
    Server,
}

fn place(url: &str) -> Result<Place<'_>, StoreError> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Place::Server);
    }
    let file = url
        .strip_prefix("sqlite://")
        .or_else(|| url.strip_prefix("sqlite:"));
    match file {
        Some(file) if !file.is_empty() && file != ":memory:" => Ok(Place::File(Path::new(file))),
        Some(_) | None => Err(StoreError::Url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_file_or_a_server() {
        let file = |name: &'static str| Ok(Place::File(Path::new(name)));
        assert_eq!(place("sqlite://fencepost.db"), file("fencepost.db"));
        assert_eq!(
            place("sqlite:///var/lib/fencepost.db"),
            file("/var/lib/fencepost.db")
        );
        assert_eq!(place("postgres://u@h/d"), Ok(Place::Server));
        assert_eq!(place("postgresql://u@h/d"), Ok(Place::Server));
        for url in [
            "sqlite://:memory:",
            "sqlite::memory:",
            "sqlite://",
            "mysql://x",
            "a.db",
        ] {
            assert_eq!(place(url), Err(StoreError::Url), "{url}");
        }
    }
}
