//! What SQLite's result codes mean. The one place that looks at them; no message is ever read.

use sqlx::error::DatabaseError;

use crate::store::StoreError;

/// Says what an error means for the caller.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the driver may add errors at any time; all others are faults of this program"
)]
pub(super) fn classify(error: sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(error) => by_code(&*error),
        sqlx::Error::PoolTimedOut => StoreError::Busy,
        sqlx::Error::Io(error) => StoreError::Unavailable(error.kind().to_string()),
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            StoreError::Unavailable("the connection is gone".to_owned())
        }
        other => StoreError::Fault(other.to_string()),
    }
}

/// The primary result code is the low byte of the extended one.
fn by_code(error: &dyn DatabaseError) -> StoreError {
    let code = error
        .code()
        .and_then(|code| code.parse::<i32>().ok())
        .unwrap_or_default();
    match code & 0xff {
        BUSY | LOCKED => StoreError::Busy,
        READONLY | FULL => StoreError::Full,
        CORRUPT | NOTADB => StoreError::Damaged,
        CONSTRAINT => StoreError::Contradiction(error.message().to_owned()),
        PERM | NOMEM | INTERRUPT | IOERR | CANTOPEN => {
            StoreError::Unavailable(format!("SQLite answered {code}"))
        }
        _ => StoreError::Fault(format!("{} (SQLite answered {code})", error.message())),
    }
}

const PERM: i32 = 3;
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const NOMEM: i32 = 7;
const READONLY: i32 = 8;
const INTERRUPT: i32 = 9;
const IOERR: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANTOPEN: i32 = 14;
const CONSTRAINT: i32 = 19;
const NOTADB: i32 = 26;
