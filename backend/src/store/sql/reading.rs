//! What people are shown. No fences: these only look.

/// What a list and a single report have in common.
macro_rules! summary {
    () => {
        r#"
SELECT r.report_key AS "report.report_key", r.tenant AS "report.tenant",
       r.namespace AS "report.namespace", r.report_id AS "report.report_id",
       r.version AS "report.version", r.source AS "report.source",
       r.pipeline AS "report.pipeline", r.received_ms AS "report.received_ms",
       j.state AS "job.state", j.outcome AS "job.outcome", j.updated_ms AS "job.updated_ms",
       (SELECT count(*) FROM attempt a WHERE a.report_key = r.report_key) AS "attempt.number",
       (SELECT count(*) FROM attempt a WHERE a.report_key = r.report_key AND a.charged = 1)
         AS "attempt.charged""#
    };
}

/// A report with all that hangs on it.
pub(in crate::store) const REPORT: &str = concat!(
    summary!(),
    r#",
       r.links AS "report.links", r.order_value AS "report.order_value",
       r.is_current AS "report.is_current", r.input_from AS "report.input_from",
       r.fence AS "report.fence", j.classifier_version AS "job.classifier_version",
       s.result_key AS "result.result_key", s.schema_version AS "result.schema_version",
       s.value AS "result.value", s.candidate AS "result.candidate",
       s.attempt_number AS "result.attempt_number",
       s.created_ms AS "result.created_ms", s.thing_key AS "result.thing_key",
       v.revision AS "review.revision", v.status AS "review.status",
       v.reason AS "review.reason", v.note AS "review.note", v.opened_ms AS "review.opened_ms",
       v.closed_ms AS "review.closed_ms",
       (SELECT count(*) FROM content_conflict c WHERE c.report_key = r.report_key)
         AS "content_conflict.seen"
  FROM report r
  LEFT JOIN job j ON j.job_id = r.current_job
  LEFT JOIN result s ON s.result_key = r.current_result
  LEFT JOIN review v ON v.report_key = r.report_key
 WHERE r.report_key = $1"#
);

/// A page of reports, the newest first, after the place ($4, $5).
pub(in crate::store) const LIST: &str = concat!(
    summary!(),
    "
  FROM report r LEFT JOIN job j ON j.job_id = r.current_job
 WHERE (CAST($1 AS TEXT) IS NULL OR j.state = $1)
   AND (CAST($2 AS TEXT) IS NULL OR r.tenant = $2)
   AND (CAST($3 AS TEXT) IS NULL OR r.pipeline = $3)
   AND (r.received_ms, r.report_key) < ($4, $5)
 ORDER BY r.received_ms DESC, r.report_key DESC
 LIMIT $6"
);

/// The inputs of a page of a pipeline's reports, the newest first, after the place ($2, $3). Left
/// out are those that have none: erased ones, and those whose input was not there yet.
pub(in crate::store) const INPUTS: &str = r#"
SELECT report_key AS "report.report_key", received_ms AS "report.received_ms",
       input AS "report.input"
  FROM report
 WHERE pipeline = $1 AND length(input) > 0 AND (received_ms, report_key) < ($2, $3)
 ORDER BY received_ms DESC, report_key DESC
 LIMIT $4"#;

/// A page of the reports that wait for a person, the one that waits longest first, after the place
/// ($1, $2).
pub(in crate::store) const OPEN_REVIEWS: &str = concat!(
    summary!(),
    r#",
       v.revision AS "review.revision", v.status AS "review.status",
       v.reason AS "review.reason", v.note AS "review.note", v.opened_ms AS "review.opened_ms",
       v.closed_ms AS "review.closed_ms"
  FROM review v
  JOIN report r ON r.report_key = v.report_key
  LEFT JOIN job j ON j.job_id = r.current_job
 WHERE v.status = 'open' AND (v.opened_ms, v.report_key) > ($1, $2)
 ORDER BY v.opened_ms, v.report_key
 LIMIT $3"#
);

/// What a report is about: empty once it was erased, and until it was fetched. No fence: a look.
pub(in crate::store) const INPUT: &str = r#"
SELECT input AS "report.input" FROM report WHERE report_key = $1"#;

/// The attempts on a report, the first one first.
pub(in crate::store) const ATTEMPTS: &str = r#"
SELECT number AS "attempt.number", charged AS "attempt.charged", worker AS "attempt.worker",
       token AS "attempt.token", classifier_version AS "attempt.classifier_version",
       schema_version AS "attempt.schema_version", provider AS "attempt.provider",
       model AS "attempt.model", request_id AS "attempt.request_id",
       tokens_in AS "attempt.tokens_in", tokens_out AS "attempt.tokens_out",
       latency_ms AS "attempt.latency_ms",
       started_ms AS "attempt.started_ms", ended_ms AS "attempt.ended_ms",
       outcome AS "attempt.outcome", reason AS "attempt.reason", raw AS "attempt.raw",
       raw_call_key AS "attempt.raw_call_key", raw_emptied_ms AS "attempt.raw_emptied_ms",
       verdict AS "attempt.verdict"
  FROM attempt WHERE report_key = $1 ORDER BY number"#;

/// Reports by state.
pub(in crate::store) const STATES: &str = r#"
SELECT j.state AS "job.state", j.outcome AS "job.outcome", count(*) AS "report.report_key",
       min(j.updated_ms) AS "job.updated_ms"
  FROM report r JOIN job j ON j.job_id = r.current_job
 GROUP BY j.state, j.outcome ORDER BY j.state, j.outcome"#;

/// What else there is, counted.
pub(in crate::store) const COUNTS: &str = r#"
SELECT (SELECT count(*) FROM result) AS "result.result_key",
       (SELECT count(*) FROM finding WHERE status = 'present') AS "finding.finding_key",
       (SELECT count(*) FROM attempt) AS "attempt.number",
       (SELECT count(*) FROM attempt WHERE charged = 1) AS "attempt.charged",
       (SELECT count(*) FROM review WHERE status = 'open') AS "review.status",
       (SELECT count(*) FROM content_conflict) AS "content_conflict.seen",
       (SELECT count(*) FROM outbox WHERE delivered_ms IS NULL) AS "outbox.delivered_ms",
       (SELECT count(*) FROM pause WHERE ended_ms IS NULL) AS "pause.subject",
       (SELECT count(*) FROM job WHERE set_aside IS NOT NULL) AS "job.set_aside""#;

/// Unfinished jobs by version.
pub(in crate::store) const UNFINISHED: &str = r#"
SELECT pipeline AS "job.pipeline", classifier_version AS "job.classifier_version",
       count(*) AS "job.job_id"
  FROM job
 WHERE state IN ('accepted', 'running', 'validation_rejected') AND set_aside IS NULL
 GROUP BY pipeline, classifier_version ORDER BY pipeline, classifier_version"#;

/// The mapping of each source that came in.
pub(in crate::store) const SOURCE_BINDINGS: &str = r#"
SELECT source AS "source_binding.source", mapping_digest AS "source_binding.mapping_digest"
  FROM source_binding ORDER BY source"#;

/// What each version stands for.
pub(in crate::store) const VERSION_BINDINGS: &str = r#"
SELECT kind AS "version_binding.kind", pipeline AS "version_binding.pipeline",
       version AS "version_binding.version", digest AS "version_binding.digest"
  FROM version_binding ORDER BY kind, pipeline, version"#;

/// The statements above.
#[cfg(test)]
pub(super) const READING: &[&str] = &[
    REPORT,
    LIST,
    INPUTS,
    OPEN_REVIEWS,
    INPUT,
    ATTEMPTS,
    STATES,
    COUNTS,
    UNFINISHED,
    SOURCE_BINDINGS,
    VERSION_BINDINGS,
];
