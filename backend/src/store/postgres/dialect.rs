//! What only Postgres says this way, or needs to say at all because others write at the same time.

use crate::store::sql::{pause, put_findings, strikes, withdraw_findings};

/// Begins a transaction that waits for nobody for ever: not for a lock, and with nobody waiting for
/// it should this process fall silent in the middle. Its isolation is stated because a server may
/// have another default; the locks below are what keeps writers apart.
pub(super) const BEGIN: &str = "
BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL lock_timeout = '5s';
SET LOCAL statement_timeout = '30s';
SET LOCAL idle_in_transaction_session_timeout = '60s'";

/// Begins a transaction that only reads, and sees one moment.
pub(super) const BEGIN_READING: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Ends a transaction; when it answers, the disk has it.
pub(super) const COMMIT: &str = "COMMIT";

/// Ends a transaction, and nothing of it is left.
pub(super) const ROLLBACK: &str = "ROLLBACK";

/// The database's clock, in milliseconds: the moment of asking, not that of the transaction's
/// beginning.
pub(in crate::store) const NOW: &str = r#"
SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT) AS "clock.now""#;

/// Locks a report and with it all that hangs on it. Foreign keys to it may still be checked.
pub(in crate::store) const LOCK_REPORT: &str = r#"
SELECT is_current AS "report.is_current", current_job AS "report.current_job"
  FROM report WHERE report_key = $1 FOR NO KEY UPDATE"#;

/// Locks the report of the job that comes first among those whose report nobody has locked.
pub(in crate::store) const LOCK_CANDIDATE: &str = r#"
SELECT j.job_id AS "job.job_id"
  FROM job j JOIN report r ON r.report_key = j.report_key
 WHERE j.pipeline = $1
   AND j.state IN ('accepted', 'running', 'validation_rejected') AND j.set_aside IS NULL
   AND (j.classifier_version IS NULL OR j.classifier_version = $2)
 ORDER BY CASE j.state WHEN 'running' THEN j.lease_until_ms ELSE j.due_ms END NULLS FIRST, j.job_id
 LIMIT 1
   FOR NO KEY UPDATE OF r SKIP LOCKED"#;

/// The same among the jobs of one tenant.
pub(in crate::store) const LOCK_CANDIDATE_OF_TENANT: &str = r#"
SELECT j.job_id AS "job.job_id"
  FROM job j JOIN report r ON r.report_key = j.report_key
 WHERE j.pipeline = $1 AND j.tenant = $3
   AND j.state IN ('accepted', 'running', 'validation_rejected') AND j.set_aside IS NULL
   AND (j.classifier_version IS NULL OR j.classifier_version = $2)
 ORDER BY CASE j.state WHEN 'running' THEN j.lease_until_ms ELSE j.due_ms END NULLS FIRST, j.job_id
 LIMIT 1
   FOR NO KEY UPDATE OF r SKIP LOCKED"#;

/// Locks whatever a number stands for, until the transaction ends.
pub(in crate::store) const LOCK_NUMBER: &str = "SELECT pg_advisory_xact_lock($1)";

/// Locks what is bound: nobody else binds anything before the transaction ends.
pub(in crate::store) const LOCK_BINDINGS: &str = "
LOCK TABLE version_binding, source_binding IN SHARE ROW EXCLUSIVE MODE";

/// Locks what is paused: nobody else begins, probes or ends a pause before the transaction ends.
pub(in crate::store) const LOCK_PAUSES: &str = "LOCK TABLE pause, strike IN EXCLUSIVE MODE";

/// Locks a pause that has not ended, unless another has.
pub(in crate::store) const TAKE_PAUSE: &str = concat!(
    pause!(),
    " WHERE ended_ms IS NULL AND pause_id = $1 FOR UPDATE SKIP LOCKED"
);

/// Locks the failures that count against a subject, unless another has.
pub(in crate::store) const TAKE_STRIKES: &str =
    concat!(strikes!(), " WHERE subject = $1 FOR UPDATE SKIP LOCKED");

/// Writes the findings of a list.
pub(in crate::store) const PUT_FINDINGS: &str = put_findings!(
    "
  SELECT decode(entry ->> 0, 'hex'), decode(entry ->> 1, 'hex'), CAST(entry ->> 2 AS BIGINT),
         entry ->> 3, CAST(entry ->> 4 AS BIGINT)
    FROM json_array_elements(CAST(CAST($1 AS TEXT) AS JSON)) AS entries (entry)"
);

/// Withdraws findings of a result.
pub(in crate::store) const WITHDRAW_FINDINGS: &str = withdraw_findings!(
    "
  SELECT decode(entry, 'hex')
    FROM json_array_elements_text(CAST(CAST($1 AS TEXT) AS JSON)) AS entries (entry)"
);

/// One at a time migrates; the number stands for that alone. The lock ends with the transaction, so
/// that none is left behind by who was killed.
pub(super) const LOCK_MIGRATION: &str = "SELECT pg_advisory_xact_lock(7310868735424201330)";

/// How many tables there are in the schema that is used, and whether one is the list of migrations.
pub(super) const TABLES: &str = r#"
SELECT count(*) AS "tables.all", count(*) FILTER (WHERE tablename = 'migration') AS "tables.ours"
  FROM pg_tables WHERE schemaname = current_schema()"#;

/// Makes the list of migrations.
pub(super) const MAKE_LEDGER: &str = "
CREATE TABLE IF NOT EXISTS migration (
  version BIGINT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  applied_ms BIGINT NOT NULL
)";

/// The schema of the database.
pub(super) const SCHEMA: &str = r#"
SELECT coalesce(max(version), 0) AS "migration.version" FROM migration"#;

/// Records a migration. Fence: the primary key `version`.
pub(super) const RECORD_STEP: &str = "
INSERT INTO migration (version, name, applied_ms) VALUES ($1, $2, $3)";

/// Whether a commit that was answered can be lost.
pub(super) const DURABILITY: &str = r#"
SELECT current_setting('synchronous_commit') AS "setting.synchronous_commit",
       current_setting('fsync') AS "setting.fsync""#;

/// Which process of the server answers.
pub(super) const SERVER_PROCESS: &str = "SELECT pg_backend_pid()";

/// Whether the server takes writes: a stand-by does not.
pub(super) const CAN_WRITE: &str = "SELECT set_config('transaction_read_only', 'off', true)";

/// The statements above.
#[cfg(test)]
pub(super) const DIALECT: &[&str] = &[
    BEGIN_READING,
    COMMIT,
    ROLLBACK,
    NOW,
    LOCK_REPORT,
    LOCK_NUMBER,
    LOCK_CANDIDATE,
    LOCK_CANDIDATE_OF_TENANT,
    LOCK_BINDINGS,
    LOCK_PAUSES,
    TAKE_PAUSE,
    TAKE_STRIKES,
    PUT_FINDINGS,
    WITHDRAW_FINDINGS,
    LOCK_MIGRATION,
    TABLES,
    MAKE_LEDGER,
    SCHEMA,
    RECORD_STEP,
    DURABILITY,
    SERVER_PROCESS,
    CAN_WRITE,
];
