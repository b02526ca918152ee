//! What Postgres' error codes mean. The one place that looks at them; a message could quote a
//! value, so none is passed on.

use sqlx::postgres::PgDatabaseError;

use crate::store::StoreError;

/// By the five characters of SQLSTATE, of which the first two are the class.
pub(in crate::store) fn by_code(error: &PgDatabaseError) -> StoreError {
    let code = error.code();
    match code {
        DISK_FULL | READ_ONLY_TRANSACTION => StoreError::Full,
        QUERY_CANCELED | LOCK_NOT_AVAILABLE => StoreError::Busy,
        NO_SUCH_STATEMENT | STATEMENT_EXISTS => StoreError::Pooler,
        NO_SUCH_DATABASE => StoreError::Refused("there is no such database"),
        INSUFFICIENT_PRIVILEGE => StoreError::Refused("the role lacks a privilege"),
        _ => by_class(error),
    }
}

fn by_class(error: &PgDatabaseError) -> StoreError {
    let code = error.code();
    match code.get(..2).unwrap_or_default() {
        // Connections, resources, operators, the system.
        "08" | "53" | "57" | "58" => StoreError::Unavailable(format!("Postgres answered {code}")),
        // Somebody else was first, or two waited for each other.
        "40" => StoreError::Busy,
        "23" => {
            let which = error.constraint().unwrap_or("a constraint");
            StoreError::Contradiction(format!("{which} ({code})"))
        }
        "28" => StoreError::Refused("it does not accept the role or its password"),
        "XX" => StoreError::Damaged,
        _ => StoreError::Fault(format!("Postgres answered {code}")),
    }
}

const READ_ONLY_TRANSACTION: &str = "25006";
const NO_SUCH_STATEMENT: &str = "26000";
const NO_SUCH_DATABASE: &str = "3D000";
const INSUFFICIENT_PRIVILEGE: &str = "42501";
const STATEMENT_EXISTS: &str = "42P05";
const DISK_FULL: &str = "53100";
const LOCK_NOT_AVAILABLE: &str = "55P03";
const QUERY_CANCELED: &str = "57014";
