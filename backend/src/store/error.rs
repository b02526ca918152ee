//! What a database can answer instead of doing what was asked.

use std::fmt;

/// Why the database did not do what was asked. Nothing of what was asked is left behind, unless a
/// variant says otherwise. No text of a report is ever part of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the database for too long; the same request may succeed later.
    #[error("the database is busy")]
    Busy,
    /// There is no room, or the file can't be written: the disk is full or read-only.
    #[error("the database can't be written: the disk is full or read-only")]
    Full,
    /// It can't be reached, or reading or writing its file failed. Whether a commit that was under
    /// way took place is known only by looking.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// One row can't be understood; the others are fine.
    #[error("corrupt row: {0}")]
    Corrupt(Corruption),
    /// What was to be written contradicts rows that are there, which only a corrupt row explains.
    #[error("rows contradict each other: {0}")]
    Contradiction(String),
    /// The data itself is damaged, or the file is not a database.
    #[error("the database is damaged, or the file is not a database")]
    Damaged,
    /// The server does not let this program in.
    #[error("the database server refuses: {0}")]
    Refused(&'static str),
    /// A pooler gives each transaction another connection, which does not know what the one before
    /// prepared.
    #[error(
        "a pooler before the database does not keep prepared statements: end the database URL with \
         ?statement-cache-capacity=0"
    )]
    Pooler,
    /// A commit that the server answers can be lost all the same.
    #[error(
        "the database server has synchronous_commit off, so that a crash would take back what was \
         answered: set it to `on` for this database or role"
    )]
    Forgetful,
    /// This kind of database does not do it; what does is told.
    #[error("{0}")]
    NotHere(&'static str),
    /// A newer program has migrated the database; nothing was written to it.
    #[error("the database has schema {found}, this program knows {known}: use a newer program")]
    NewerSchema {
        /// The schema of the database.
        found: i64,
        /// The newest schema that this program knows.
        known: i64,
    },
    /// The database holds tables of something else; nothing was written to it.
    #[error("the database is that of another program")]
    Foreign,
    /// The URL names no database that can be opened.
    #[error("a database URL is sqlite://FILE or postgres://USER:PASSWORD@HOST/DATABASE")]
    Url,
    /// A statement failed in a way that only a fault of this program explains.
    #[error("a statement failed: {0}")]
    Fault(String),
}

/// Where a row can't be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
    /// The row's key: hexadecimal digits, or a number.
    pub key: String,
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} of {}", self.table, self.column, self.key)
    }
}

impl From<Corruption> for StoreError {
    fn from(corruption: Corruption) -> Self {
        Self::Corrupt(corruption)
    }
}
