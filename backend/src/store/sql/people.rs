//! What people do to a report, and which of its jobs speaks for it when it has several.

/// The report's state. No fence: a look, while the report is locked.
pub(in crate::store) const CURRENT_STATE: &str = r#"
SELECT j.state AS "job.state", j.outcome AS "job.outcome"
  FROM report r JOIN job j ON j.job_id = r.current_job
 WHERE r.report_key = $1"#;

/// Ends the other jobs of the report that a worker has or that are older and wait for one, because
/// granting one supersedes them. A newer one that waits is not touched: it is granted later, and
/// its answer replaces this one's. Claim fence: the token that was just raised.
pub(in crate::store) const SUPERSEDE_OTHER_JOBS: &str = "
UPDATE job SET state = 'terminal', outcome = 'superseded', lease_until_ms = NULL, updated_ms = $3
 WHERE report_key = $1 AND job_id <> $2
   AND (state = 'running' OR (state IN ('accepted', 'validation_rejected') AND job_id < $2))";

/// Makes a job the current one in place of one that it superseded. Claim fence: the token that was
/// just raised.
pub(in crate::store) const TAKE_CURRENT_JOB: &str = "
UPDATE report SET current_job = $2
 WHERE report_key = $1
   AND EXISTS (SELECT 1 FROM job
                WHERE job.job_id = report.current_job AND job.job_id <> $2
                  AND job.state = 'terminal' AND job.outcome = 'superseded')";

/// Ends the older jobs of the report that wait, because a newer one has an answer or waits for a
/// person. Claim fence: the newer job was settled in this transaction.
pub(in crate::store) const SUPERSEDE_OLDER_JOBS: &str = "
UPDATE job SET state = 'terminal', outcome = 'superseded', lease_until_ms = NULL, updated_ms = $3
 WHERE report_key = $1 AND job_id < $2
   AND state IN ('accepted', 'validation_rejected', 'ready_for_review')";

/// Keeps an answer that came after a person had decided: beside the result of its schema version,
/// if there is one, else as one that was never current. Commit fence: UNIQUE (report_key,
/// schema_version), and the job was settled in this transaction.
pub(in crate::store) const KEEP_CANDIDATE: &str = "
INSERT INTO result (result_key, report_key, schema_version, value, token, attempt_number, status,
                    created_ms, updated_ms)
VALUES ($1, $2, $3, $4, $5, $6, 'candidate', $7, $7)
    ON CONFLICT (report_key, schema_version)
    DO UPDATE SET
      candidate = CASE result.status WHEN 'candidate' THEN NULL ELSE excluded.value END,
      candidate_attempt = CASE result.status WHEN 'candidate' THEN NULL
                                             ELSE excluded.attempt_number END,
      value = CASE result.status WHEN 'candidate' THEN excluded.value ELSE result.value END,
      token = CASE result.status WHEN 'candidate' THEN excluded.token ELSE result.token END,
      attempt_number = CASE result.status WHEN 'candidate' THEN excluded.attempt_number
                                          ELSE result.attempt_number END,
      updated_ms = excluded.updated_ms";

/// What a reviewer is asked. No fence: a look, while the report is locked.
pub(in crate::store) const REVIEW_ITEM: &str = r#"
SELECT j.job_id AS "job.job_id", j.state AS "job.state", j.outcome AS "job.outcome",
       r.fence AS "report.fence", r.current_result AS "report.current_result",
       r.pipeline AS "report.pipeline",
       v.revision AS "review.revision", v.status AS "review.status"
  FROM report r
  JOIN job j ON j.job_id = r.current_job
  LEFT JOIN review v ON v.report_key = r.report_key
 WHERE r.report_key = $1"#;

/// Ends a job that a person was asked about. Fence: its state, and the revision of the review item
/// that was compared while the report is locked.
pub(in crate::store) const REST_REVIEWED_JOB: &str = "
UPDATE job SET state = $2, outcome = $3, updated_ms = $4
 WHERE job_id = $1 AND state = 'ready_for_review'";

/// Opens a job again that a person was asked about, with another budget and from now on. Fence: as
/// for ending it.
pub(in crate::store) const REOPEN_JOB: &str = "
UPDATE job SET state = $2, due_ms = $3, elapsed_from_ms = $3, rounds = rounds + 1, updated_ms = $3
 WHERE job_id = $1 AND state = 'ready_for_review'";

/// The newest job of the report that a worker has or will have. No fence: a look, while the report
/// is locked.
pub(in crate::store) const JOB_UNDER_WAY: &str = r#"
SELECT job_id AS "job.job_id", state AS "job.state", outcome AS "job.outcome"
  FROM job
 WHERE report_key = $1
   AND state IN ('accepted', 'running', 'validation_rejected') AND set_aside IS NULL
 ORDER BY job_id DESC LIMIT 1"#;

/// Writes the result that a person wrote. Where a machine had one, its attempt stays named. Commit
/// fence: UNIQUE (report_key, schema_version), and the decision's revision that was compared.
pub(in crate::store) const PUT_CORRECTION: &str = "
INSERT INTO result (result_key, report_key, schema_version, value, token, status, created_ms,
                    updated_ms)
VALUES ($1, $2, $3, $4, $5, 'current', $6, $6)
    ON CONFLICT (report_key, schema_version)
    DO UPDATE SET value = excluded.value, status = 'current', updated_ms = excluded.updated_ms";

/// Records a decision. Fence: the primary key (report, number); rows are only ever added.
pub(in crate::store) const INSERT_DECISION: &str = "
INSERT INTO decision (report_key, number, revision_seen, who, why, kind, value, decided_ms)
VALUES ($1, (SELECT coalesce(max(number), 0) + 1 FROM decision WHERE report_key = $1), $2, $3, $4,
        $5, $6, $7)";

/// What is to be replayed. No fence: a look, while the report is locked.
pub(in crate::store) const REPLAYED_REPORT: &str = r#"
SELECT r.pipeline AS "report.pipeline", j.state AS "job.state", j.outcome AS "job.outcome"
  FROM report r JOIN job j ON j.job_id = r.current_job
 WHERE r.report_key = $1"#;

/// The report's job of a version. No fence: a look; the insert below is held to one.
pub(in crate::store) const JOB_OF_VERSION: &str = r#"
SELECT state AS "job.state", outcome AS "job.outcome"
  FROM job WHERE report_key = $1 AND classifier_version = $2"#;

/// The job that gets its version at its first grant, if one waits. No fence: a look.
pub(in crate::store) const UNBOUND_JOB: &str = r#"
SELECT job_id AS "job.job_id" FROM job
 WHERE report_key = $1 AND classifier_version IS NULL AND set_aside IS NULL
   AND state IN ('accepted', 'running', 'validation_rejected')"#;

/// Makes a job of a version. Claim fence: UNIQUE (report_key, classifier_version).
pub(in crate::store) const INSERT_REPLAY: &str = "
INSERT INTO job (report_key, pipeline, tenant, kind, classifier_version, claim_key, state, due_ms,
                 elapsed_from_ms, created_ms, updated_ms)
VALUES ($1, $2, (SELECT tenant FROM report WHERE report_key = $1), 'extract', $3, $4, $5, $6, $6,
        $6, $6)";

/// Empties a report and raises its token: whoever held any of its jobs matches no row from here on.
/// Fence: the lock on the report.
pub(in crate::store) const ERASE_REPORT: &str = "
UPDATE report SET fence = fence + 1, tenant = '', report_id = '', version = '', input = $2,
                  input_hash = $3, links = '[]', order_value = NULL, is_current = NULL,
                  current_result = NULL
 WHERE report_key = $1";

/// Ends all jobs of a report, whatever their state. Claim fence: the token that was just raised.
pub(in crate::store) const ERASE_JOBS: &str = "
UPDATE job SET state = 'terminal', outcome = 'erased', tenant = '', lease_until_ms = NULL,
               set_aside = NULL, updated_ms = $2
 WHERE report_key = $1";

/// Empties attempts. Claim fence: as above.
pub(in crate::store) const ERASE_ATTEMPTS: &str = "
UPDATE attempt SET reason = NULL, raw = NULL, raw_call_key = NULL, raw_emptied_ms = NULL,
                   request_id = NULL
 WHERE report_key = $1";

/// Empties results. Fence: the lock on the report, which names none of them any more.
pub(in crate::store) const ERASE_RESULTS: &str = "
UPDATE result SET value = NULL, candidate = NULL, thing_key = NULL, status = 'history',
                  updated_ms = $2
 WHERE report_key = $1";

/// Closes the review item and empties it. Fence: the primary key `report_key`.
pub(in crate::store) const ERASE_REVIEW: &str = "
UPDATE review SET status = 'closed', closed_ms = coalesce(closed_ms, $2), note = NULL
 WHERE report_key = $1";

/// Empties decisions of what they say about the report. Fence: none is needed; who decided what
/// and when stays.
pub(in crate::store) const ERASE_DECISIONS: &str = "
UPDATE decision SET why = '', value = NULL WHERE report_key = $1";

/// Empties events that nobody has received, and those that name findings. Fence: the lock on the
/// report.
pub(in crate::store) const ERASE_EVENTS: &str = "
UPDATE outbox SET payload = '{}'
 WHERE report_key = $1 AND (delivered_ms IS NULL OR kind = 'finding.withdrawn')";

/// Forgets other contents of the report. Fence: the lock on the report.
pub(in crate::store) const ERASE_CONFLICTS: &str = "
DELETE FROM content_conflict WHERE report_key = $1";

/// The statements above.
#[cfg(test)]
pub(super) const PEOPLE: &[&str] = &[
    CURRENT_STATE,
    SUPERSEDE_OTHER_JOBS,
    TAKE_CURRENT_JOB,
    SUPERSEDE_OLDER_JOBS,
    KEEP_CANDIDATE,
    REVIEW_ITEM,
    REST_REVIEWED_JOB,
    REOPEN_JOB,
    JOB_UNDER_WAY,
    PUT_CORRECTION,
    INSERT_DECISION,
    REPLAYED_REPORT,
    JOB_OF_VERSION,
    UNBOUND_JOB,
    INSERT_REPLAY,
    ERASE_REPORT,
    ERASE_JOBS,
    ERASE_ATTEMPTS,
    ERASE_RESULTS,
    ERASE_REVIEW,
    ERASE_DECISIONS,
    ERASE_EVENTS,
    ERASE_CONFLICTS,
];
