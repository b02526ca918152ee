//! What only SQLite says this way. No fences stand here: they are in `store::sql`.

use crate::store::sql::{put_findings, withdraw_findings};

/// Begins a transaction with the right to write. One that begins by reading and finds another
/// writer at its first write would fail at once, without waiting for it.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Ends a transaction; when it answers, the disk has it.
pub(super) const COMMIT: &str = "COMMIT";

/// Ends a transaction, and nothing of it is left.
pub(super) const ROLLBACK: &str = "ROLLBACK";

/// The database's clock, in milliseconds.
pub(in crate::store) const NOW: &str = r#"
SELECT CAST(round(unixepoch('subsec') * 1000.0) AS INTEGER) AS "clock.now""#;

/// Writes the findings of a list.
pub(in crate::store) const PUT_FINDINGS: &str = put_findings!(
    "
  SELECT unhex(entry.value ->> 0), unhex(entry.value ->> 1), entry.value ->> 2,
         entry.value ->> 3, entry.value ->> 4
    FROM json_each($1) AS entry"
);

/// Withdraws findings of a result.
pub(in crate::store) const WITHDRAW_FINDINGS: &str = withdraw_findings!(
    "
  SELECT unhex(entry.value) FROM json_each($1) AS entry"
);

/// Writes a consistent copy.
pub(super) const COPY: &str = "VACUUM INTO $1";

/// Turns the write-ahead log on, for the file as such.
pub(super) const USE_LOG: &str = "PRAGMA journal_mode = WAL";

/// Waits for others no longer than a process that is asked to end can.
pub(super) const WAIT_LITTLE: &str = "PRAGMA busy_timeout = 250";

/// Writes what stands in the write-ahead log to the file, and cuts the log off.
pub(super) const FOLD_LOG: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// How many tables there are, and whether one of them is the list of migrations.
pub(super) const TABLES: &str = "
SELECT count(*), count(*) FILTER (WHERE name = 'migration') FROM sqlite_master";

/// Makes the list of migrations.
pub(super) const MAKE_LEDGER: &str = "
CREATE TABLE IF NOT EXISTS migration (
  version INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  applied_ms INTEGER NOT NULL
) STRICT";

/// The schema of the database.
pub(super) const SCHEMA: &str = "SELECT coalesce(max(version), 0) FROM migration";

/// Rows that refer to one that is not there.
pub(super) const DANGLING: &str = "PRAGMA foreign_key_check";

/// Records a migration. Fence: the primary key `version`.
pub(super) const RECORD_STEP: &str = "
INSERT INTO migration (version, name, applied_ms) VALUES ($1, $2, $3)";

/// The statements above.
#[cfg(test)]
pub(super) const DIALECT: &[&str] = &[
    BEGIN,
    COMMIT,
    ROLLBACK,
    NOW,
    PUT_FINDINGS,
    WITHDRAW_FINDINGS,
    COPY,
    USE_LOG,
    WAIT_LITTLE,
    FOLD_LOG,
    TABLES,
    MAKE_LEDGER,
    SCHEMA,
    DANGLING,
    RECORD_STEP,
];
