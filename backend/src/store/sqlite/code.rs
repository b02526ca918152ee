//! What SQLite's result codes mean. The one place that looks at them.

use sqlx::{error::DatabaseError as _, sqlite::SqliteError};

use crate::store::StoreError;

/// The primary result code is the low byte of the extended one.
pub(in crate::store) fn by_code(error: &SqliteError) -> StoreError {
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
