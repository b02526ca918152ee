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

/// The statements above.
#[cfg(test)]
pub(super) const PEOPLE: &[&str] = &[
    CURRENT_STATE,
    SUPERSEDE_OTHER_JOBS,
    TAKE_CURRENT_JOB,
    SUPERSEDE_OLDER_JOBS,
    KEEP_CANDIDATE,
];
