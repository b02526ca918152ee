//! What a result lists: each finding under a key of its own. A list is bound as one JSON text, so
//! that it is written by one statement however long it is; taking it apart is what each kind of
//! database says in its own way.

/// Writes the findings of a list. `$listed` reads them from the JSON text $1: keys in hexadecimal,
/// position, value, and how many were collapsed. Commit fence: the primary key `finding_key`, and
/// the job or decision whose result was written in this transaction; an older token never
/// overwrites what was written under a newer one.
macro_rules! put_findings {
    ($listed:literal) => {
        concat!(
            "WITH listed (finding_key, lineage_key, position, value, collapsed) AS (",
            $listed,
            ")
INSERT INTO finding (finding_key, result_key, report_key, lineage_key, position, value, collapsed,
                     status, token, attempt_number, created_ms, updated_ms)
SELECT l.finding_key, s.result_key, s.report_key, l.lineage_key, l.position, l.value, l.collapsed,
       'present', CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($5 AS BIGINT)
  FROM listed l CROSS JOIN result s
 WHERE s.result_key = $2
    ON CONFLICT (finding_key)
    DO UPDATE SET position = excluded.position, value = excluded.value,
                  collapsed = excluded.collapsed, status = 'present', token = excluded.token,
                  attempt_number = excluded.attempt_number, updated_ms = excluded.updated_ms,
                  withdrawn_ms = NULL
        WHERE finding.token <= excluded.token"
        )
    };
}
pub(in crate::store) use put_findings;

/// Withdraws findings of a result; nothing of them is lost. `$keys` reads their keys from the JSON
/// text $1. Commit fence: as for writing them.
macro_rules! withdraw_findings {
    ($keys:literal) => {
        concat!(
            "UPDATE finding SET status = 'withdrawn', token = $3, updated_ms = $4, withdrawn_ms = $4
 WHERE result_key = $2 AND status = 'present' AND token <= $3 AND finding_key IN (",
            $keys,
            ")"
        )
    };
}
pub(in crate::store) use withdraw_findings;

/// What a report is a version of. No fence: a look, while the report is locked.
pub(in crate::store) const IDENTITY: &str = r#"
SELECT tenant AS "report.tenant", namespace AS "report.namespace",
       report_id AS "report.report_id", version AS "report.version"
  FROM report WHERE report_key = $1"#;

/// Says of which thing a result is a list. Commit fence: the result was written in this
/// transaction; what a report is a version of never changes.
pub(in crate::store) const MARK_LIST: &str = "
UPDATE result SET thing_key = $2 WHERE result_key = $1 AND thing_key IS NULL";

/// What a result lists. No fence: a look, while the report is locked or for people.
pub(in crate::store) const PRESENT_FINDINGS: &str = r#"
SELECT finding_key AS "finding.finding_key", lineage_key AS "finding.lineage_key"
  FROM finding WHERE result_key = $1 AND status = 'present' ORDER BY position"#;

/// What a result lists, and after that what it listed once. No fence: a look.
pub(in crate::store) const FINDINGS: &str = r#"
SELECT finding_key AS "finding.finding_key", lineage_key AS "finding.lineage_key",
       value AS "finding.value", collapsed AS "finding.collapsed", status AS "finding.status",
       attempt_number AS "finding.attempt_number", created_ms AS "finding.created_ms",
       updated_ms AS "finding.updated_ms", withdrawn_ms AS "finding.withdrawn_ms"
  FROM finding WHERE result_key = $1 ORDER BY status, position, finding_key LIMIT $2"#;

/// The current list of the version that came before ($2, $3), where versions have no order. No
/// fence: a look.
pub(in crate::store) const LIST_BEFORE: &str = r#"
SELECT r.report_key AS "report.report_key", r.current_result AS "report.current_result"
  FROM result s JOIN report r ON r.report_key = s.report_key AND r.current_result = s.result_key
 WHERE s.thing_key = $1 AND r.order_value IS NULL AND (r.received_ms, r.report_key) < ($2, $3)
 ORDER BY r.received_ms DESC, r.report_key DESC LIMIT 1"#;

/// The current lists of all versions that have an order, the one that came last first: an order is
/// not one that a database knows. No fence: a look.
pub(in crate::store) const ORDERED_LISTS: &str = r#"
SELECT r.report_key AS "report.report_key", r.current_result AS "report.current_result",
       r.order_value AS "report.order_value", r.received_ms AS "report.received_ms"
  FROM result s JOIN report r ON r.report_key = s.report_key AND r.current_result = s.result_key
 WHERE s.thing_key = $1 AND r.order_value IS NOT NULL
 ORDER BY r.received_ms DESC, r.report_key DESC LIMIT $2"#;

/// Forgets what a report's results listed: a key is a hash of few words that can be guessed, and
/// of nothing secret. Fence: the lock on the report.
pub(in crate::store) const ERASE_FINDINGS: &str = "
DELETE FROM finding
 WHERE result_key IN (SELECT result_key FROM result WHERE report_key = $1)";

/// The statements above.
#[cfg(test)]
pub(super) const FINDING: &[&str] = &[
    IDENTITY,
    MARK_LIST,
    PRESENT_FINDINGS,
    FINDINGS,
    LIST_BEFORE,
    ORDERED_LISTS,
    ERASE_FINDINGS,
];
