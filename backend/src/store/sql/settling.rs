//! The commit fence, and the other ways in which a holder settles its job.

use super::working::held;

/// Settles a job, whatever comes next. Claim fence: token and nonce. It is the first statement of
/// its transaction; without a row, nothing else is written.
pub(in crate::store) const SETTLE: &str = concat!(
    "UPDATE job SET state = $4, outcome = $5, due_ms = $6, lease_until_ms = NULL,
                    given_back = given_back + $7, calls_judged = calls_judged + $8,
                    updated_ms = $9",
    held!()
);

/// Closes the attempt of a grant. A call is recorded whole: never one's model with another's usage.
/// Claim fence: its job was settled in this transaction.
pub(in crate::store) const CLOSE_ATTEMPT: &str = "
UPDATE attempt SET outcome = $3, reason = $4, charged = $5, ended_ms = $6,
                   provider = coalesce($7, provider),
                   model = CASE WHEN $7 IS NULL THEN model ELSE $8 END,
                   request_id = CASE WHEN $7 IS NULL THEN request_id ELSE $9 END,
                   tokens_in = CASE WHEN $7 IS NULL THEN tokens_in ELSE $10 END,
                   tokens_out = CASE WHEN $7 IS NULL THEN tokens_out ELSE $11 END,
                   latency_ms = CASE WHEN $7 IS NULL THEN latency_ms ELSE $12 END
 WHERE report_key = $1 AND number = $2 AND outcome IS NULL";

/// Records the verdict on an answer, where it is kept and with the attempt that judged it: it is
/// not judged again. Claim fence: the job was settled in this transaction.
pub(in crate::store) const RECORD_VERDICT: &str = "
UPDATE attempt SET verdict = $3
 WHERE report_key = $1 AND verdict IS NULL AND (number = $2 OR raw_call_key = $4)";

/// Makes the current result of another schema version history. Commit fence: the job was settled
/// in this transaction.
pub(in crate::store) const RETIRE_RESULT: &str = "
UPDATE result SET status = 'history', updated_ms = $3
 WHERE report_key = $1 AND schema_version <> $2 AND status = 'current'";

/// Writes a result. Commit fence: UNIQUE (report_key, schema_version); an older token never
/// overwrites a newer one's value.
pub(in crate::store) const PUT_RESULT: &str = "
INSERT INTO result (result_key, report_key, schema_version, value, token, attempt_number, status,
                    created_ms, updated_ms)
VALUES ($1, $2, $3, $4, $5, $6, 'current', $7, $7)
    ON CONFLICT (report_key, schema_version)
    DO UPDATE SET value = excluded.value, token = excluded.token,
                  attempt_number = excluded.attempt_number, status = 'current',
                  updated_ms = excluded.updated_ms
        WHERE result.token <= excluded.token";

/// Names the one canonical result. Commit fence: the report's token.
pub(in crate::store) const SET_CURRENT_RESULT: &str = "
UPDATE report SET current_result = $2 WHERE report_key = $1 AND fence = $3";

/// Opens the review item, or opens it again under a new revision. Fence: the primary key
/// `report_key`, and the token that the job was moved under in this transaction.
pub(in crate::store) const OPEN_REVIEW: &str = r#"
INSERT INTO review (report_key, revision, status, reason, note, opened_ms)
VALUES ($1, 1, 'open', $2, $3, $4)
    ON CONFLICT (report_key)
    DO UPDATE SET revision = review.revision + 1, status = 'open', reason = excluded.reason,
                  note = excluded.note, opened_ms = excluded.opened_ms, closed_ms = NULL
RETURNING revision AS "review.revision""#;

/// Whether a result was announced. No fence: a look; the index `outbox_final` holds it to once.
pub(in crate::store) const FINAL_ANNOUNCED: &str = "
SELECT 1 FROM outbox WHERE result_key = $1 AND kind = 'result.final'";

/// Takes the number of the report's next event. Fence: the row that the transaction holds.
pub(in crate::store) const NEXT_SEQUENCE: &str = r#"
UPDATE report SET next_sequence = next_sequence + 1 WHERE report_key = $1
RETURNING next_sequence - 1 AS "report.next_sequence""#;

/// Writes an event. Fence: the primary key `event_key` and UNIQUE (report_key, sequence).
pub(in crate::store) const INSERT_EVENT: &str = "
INSERT INTO outbox (event_key, report_key, sequence, kind, result_key, payload, created_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7)";

/// The statements above.
#[cfg(test)]
pub(super) const SETTLING: &[&str] = &[
    SETTLE,
    CLOSE_ATTEMPT,
    RECORD_VERDICT,
    RETIRE_RESULT,
    PUT_RESULT,
    SET_CURRENT_RESULT,
    OPEN_REVIEW,
    FINAL_ANNOUNCED,
    NEXT_SEQUENCE,
    INSERT_EVENT,
];
