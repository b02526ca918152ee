//! What the drivers' errors mean. No message is ever read.

use sqlx::{postgres::PgDatabaseError, sqlite::SqliteError};

use super::{StoreError, postgres, sqlite};

/// Says what an error means for the caller.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the driver may add errors at any time; all others are faults of this program"
)]
pub(super) fn classify(error: sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::Database(error) => {
            if let Some(error) = error.try_downcast_ref::<SqliteError>() {
                sqlite::by_code(error)
            } else if let Some(error) = error.try_downcast_ref::<PgDatabaseError>() {
                postgres::by_code(error)
            } else {
                StoreError::Fault(error.to_string())
            }
        }
        sqlx::Error::PoolTimedOut => StoreError::Busy,
        sqlx::Error::Io(error) => StoreError::Unavailable(error.kind().to_string()),
        sqlx::Error::Tls(_) => {
            StoreError::Unavailable("an encrypted connection can't be had".to_owned())
        }
        sqlx::Error::Protocol(_) => StoreError::Unavailable("the connection broke".to_owned()),
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            StoreError::Unavailable("the connection is gone".to_owned())
        }
        other => StoreError::Fault(other.to_string()),
    }
}
