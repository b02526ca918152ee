//! Pauses: what is not to be asked for a while, and whether it may be again.

/// What a pause is read as.
macro_rules! pause {
    () => {
        r#"
SELECT pause_id AS "pause.pause_id", subject AS "pause.subject", reason AS "pause.reason",
       since_ms AS "pause.since_ms", probe_ms AS "pause.probe_ms", probes AS "pause.probes"
  FROM pause"#
    };
}
pub(in crate::store) use pause;

/// All that is paused, in an order that is the same for everybody. No fence: a look.
pub(in crate::store) const OPEN_PAUSES: &str =
    concat!(pause!(), " WHERE ended_ms IS NULL ORDER BY subject");

/// What is paused of two subjects. No fence: a look.
pub(in crate::store) const PAUSES_OF: &str = concat!(
    pause!(),
    " WHERE ended_ms IS NULL AND subject IN ($1, $2) ORDER BY subject"
);

/// A pause, if it has not ended. No fence: a look.
pub(in crate::store) const OPEN_PAUSE: &str =
    concat!(pause!(), " WHERE ended_ms IS NULL AND pause_id = $1");

/// When something was paused, between $2 and $3. No fence: a look.
pub(in crate::store) const PAUSED_BETWEEN: &str = r#"
SELECT since_ms AS "pause.since_ms", ended_ms AS "pause.ended_ms"
  FROM pause
 WHERE subject = $1 AND since_ms < $3 AND (ended_ms IS NULL OR ended_ms > $2)"#;

/// How much there is that an answer would end: open pauses of $1 and $2, and strikes of $2. No
/// fence: a look.
pub(in crate::store) const ANYTHING_WRONG: &str = r#"
SELECT (SELECT count(*) FROM pause WHERE ended_ms IS NULL AND subject IN ($1, $2))
       + (SELECT count(*) FROM strike WHERE subject = $2) AS "pause.pause_id""#;

/// Whether an attempt was granted at $3 or later. No fence: a look.
pub(in crate::store) const GRANTED_SINCE: &str = "
SELECT 1 FROM attempt WHERE report_key = $1 AND number = $2 AND started_ms >= $3";

/// Pauses a subject. Fence: the index `pause_open`, one open pause per subject.
pub(in crate::store) const BEGIN_PAUSE: &str = "
INSERT INTO pause (subject, reason, since_ms, probe_ms) VALUES ($1, $2, $3, $4)
    ON CONFLICT (subject) WHERE ended_ms IS NULL DO NOTHING";

/// Says when the next probe is made and how many were let through. Fence: the row, which is locked.
pub(in crate::store) const SET_PROBE: &str = "
UPDATE pause SET probe_ms = $2, probes = $3 WHERE pause_id = $1 AND ended_ms IS NULL";

/// Says why a subject is paused, and when the next probe is made. Fence: the row, which is locked.
pub(in crate::store) const SET_REASON: &str = "
UPDATE pause SET reason = $2, probe_ms = $3 WHERE pause_id = $1 AND ended_ms IS NULL";

/// Ends a pause. Fence: that it has not ended.
pub(in crate::store) const END_PAUSE: &str = "
UPDATE pause SET ended_ms = $2, ended_by = $3 WHERE pause_id = $1 AND ended_ms IS NULL";

/// What failures in a row are read as.
macro_rules! strikes {
    () => {
        r#"
SELECT reason AS "strike.reason", count AS "strike.count", last_report AS "strike.last_report"
  FROM strike"#
    };
}
pub(in crate::store) use strikes;

/// How many reports of a subject failed in a row. No fence: a look.
pub(in crate::store) const STRIKES: &str = concat!(strikes!(), " WHERE subject = $1");

/// Counts a first report that failed. Fence: the primary key `subject`.
pub(in crate::store) const FIRST_STRIKE: &str = "
INSERT INTO strike (subject, reason, count, last_report) VALUES ($1, $2, 1, $3)
    ON CONFLICT (subject) DO NOTHING";

/// Counts another report that failed. Fence: the row, which is locked.
pub(in crate::store) const NEXT_STRIKE: &str = "
UPDATE strike SET reason = $2, count = $3, last_report = $4 WHERE subject = $1";

/// Forgets the reports that failed in a row. Fence: the row, which is locked.
pub(in crate::store) const FORGET_STRIKES: &str = "DELETE FROM strike WHERE subject = $1";

/// The statements above.
#[cfg(test)]
pub(super) const PAUSING: &[&str] = &[
    OPEN_PAUSES,
    PAUSES_OF,
    OPEN_PAUSE,
    PAUSED_BETWEEN,
    ANYTHING_WRONG,
    GRANTED_SINCE,
    BEGIN_PAUSE,
    SET_PROBE,
    SET_REASON,
    END_PAUSE,
    STRIKES,
    FIRST_STRIKE,
    NEXT_STRIKE,
    FORGET_STRIKES,
];
