//! Which version is current: a newer one takes the place of an older one, whichever came first.

/// Which of the versions a report is, and which job speaks for it. No fence: a look, while the
/// report is locked.
pub(in crate::store) const VERSION_STATUS: &str = r#"
SELECT is_current AS "report.is_current", current_job AS "report.current_job"
  FROM report WHERE report_key = $1"#;

/// The current version of a thing. No fence: a look, while the thing is locked.
pub(in crate::store) const CURRENT_VERSION: &str = r#"
SELECT report_key AS "report.report_key", order_value AS "report.order_value"
  FROM report
 WHERE namespace = $1 AND tenant = $2 AND report_id = $3 AND is_current = 1"#;

/// Says which of the versions a report is. Fence: the index `report_current`, one per thing.
pub(in crate::store) const SET_VERSION_STATUS: &str = "
UPDATE report SET is_current = $2 WHERE report_key = $1";

/// The jobs of a report that nobody works on and that have not ended. No fence: a look, while the
/// report is locked.
pub(in crate::store) const RESTING_JOBS: &str = r#"
SELECT job_id AS "job.job_id", state AS "job.state", outcome AS "job.outcome"
  FROM job
 WHERE report_key = $1 AND state IN ('accepted', 'validation_rejected', 'ready_for_review')"#;

/// Ends a job because a newer version took its report's place. Fence: the state that was read,
/// while the report is locked.
pub(in crate::store) const SUPERSEDE_JOB: &str = "
UPDATE job SET state = 'terminal', outcome = 'superseded', lease_until_ms = NULL, updated_ms = $3
 WHERE job_id = $1 AND state = $2";

/// Closes the report's review item, if it is open: nobody is asked any more. Fence: the primary
/// key `report_key`, and the job that was moved in this transaction.
pub(in crate::store) const CLOSE_REVIEW: &str = "
UPDATE review SET status = 'closed', closed_ms = $2 WHERE report_key = $1 AND status = 'open'";

/// The statements above.
#[cfg(test)]
pub(super) const ORDERING: &[&str] = &[
    VERSION_STATUS,
    CURRENT_VERSION,
    SET_VERSION_STATUS,
    RESTING_JOBS,
    SUPERSEDE_JOB,
    CLOSE_REVIEW,
];
