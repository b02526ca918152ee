//! Answers as they came: what has been kept long enough, and what is judged again.

/// Answers of the pipeline $1 whose attempts ended at $2 or before, after the place ($3, $4, $5).
/// No fence: the statement below compares again.
pub(in crate::store) const EXPIRED_ANSWERS: &str = r#"
SELECT report_key AS "attempt.report_key", number AS "attempt.number",
       ended_ms AS "attempt.ended_ms"
  FROM attempt
 WHERE pipeline = $1 AND ended_ms <= $2 AND (ended_ms, report_key, number) > ($3, $4, $5)
   AND raw IS NOT NULL AND raw_emptied_ms IS NULL AND verdict IS NOT NULL
 ORDER BY ended_ms, report_key, number
 LIMIT $6"#;

/// Empties an answer. Fence: its verdict; one that nobody has judged may still be used. When it was
/// emptied is recorded once, and nothing else of the attempt changes.
pub(in crate::store) const EMPTY_ANSWER: &str = "
UPDATE attempt SET raw = $3, raw_emptied_ms = $4
 WHERE report_key = $1 AND number = $2
   AND raw IS NOT NULL AND raw_emptied_ms IS NULL AND verdict IS NOT NULL";

/// The last answer of a version's attempts, and the attempt that judged it: its own, or a later one
/// that found it stored. No fence: a look.
pub(in crate::store) const LAST_ANSWER: &str = r#"
SELECT a.number AS "attempt.number", a.raw AS "attempt.raw",
       a.raw_call_key AS "attempt.raw_call_key", a.raw_emptied_ms AS "attempt.raw_emptied_ms",
       a.verdict AS "attempt.verdict", j.reason AS "attempt.reason",
       coalesce(j.schema_version, a.schema_version) AS "attempt.schema_version",
       r.input AS "report.input"
  FROM attempt a
  JOIN report r ON r.report_key = a.report_key
  LEFT JOIN attempt j ON j.report_key = a.report_key
   AND j.number = (SELECT min(n.number) FROM attempt n
                    WHERE n.report_key = a.report_key AND n.job_id = a.job_id
                      AND n.number >= a.number AND n.outcome = a.verdict)
 WHERE a.report_key = $1 AND a.classifier_version = $2 AND a.raw IS NOT NULL
 ORDER BY a.number DESC LIMIT 1"#;

/// The statements above.
#[cfg(test)]
pub(super) const KEEPING: &[&str] = &[EXPIRED_ANSWERS, EMPTY_ANSWER, LAST_ANSWER];
