//! A connection to either kind of database, and statements on it: the one seam between them.

use sqlx::{
    PgConnection, Postgres, Sqlite, SqliteConnection,
    postgres::{PgArguments, PgRow},
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};

use super::{StoreError, classify::classify};

/// A statement with its parameters.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    text: &'static str,
    values: Vec<Value>,
}

/// A statement without parameters yet.
pub(super) fn statement(text: &'static str) -> Statement {
    Statement {
        text,
        values: Vec::new(),
    }
}

impl Statement {
    /// The next parameter.
    pub(super) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    fn for_sqlite(self) -> Query<'static, Sqlite, SqliteArguments> {
        let query = sqlx::query(self.text);
        self.values
            .into_iter()
            .fold(query, |query, value| match value {
                Value::Number(number) => query.bind(number),
                Value::Text(text) => query.bind(text),
                Value::Bytes(bytes) => query.bind(bytes),
            })
    }

    fn for_postgres(self, statements: Prepared) -> Query<'static, Postgres, PgArguments> {
        let query = sqlx::query(self.text).persistent(statements == Prepared::Kept);
        self.values
            .into_iter()
            .fold(query, |query, value| match value {
                Value::Number(number) => query.bind(number),
                Value::Text(text) => query.bind(text),
                Value::Bytes(bytes) => query.bind(bytes),
            })
    }
}

/// All that a parameter can be. An absent one has a type all the same: Postgres wants to know.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

/// What is bound is copied: a statement is handed to the driver whole.
macro_rules! values {
    ($($from:ty => $variant:ident($value:ident: $to:expr);)+) => { $(
        impl From<$from> for Value {
            fn from($value: $from) -> Self {
                Self::$variant($to)
            }
        }
    )+ };
}

values! {
    i64 => Number(number: Some(number));
    u32 => Number(number: Some(i64::from(number)));
    Option<i64> => Number(number: number);
    &str => Text(text: Some(storable(text)));
    &String => Text(text: Some(storable(text)));
    String => Text(text: Some(storable(&text)));
    Option<&str> => Text(text: text.map(storable));
    &Option<String> => Text(text: text.as_deref().map(storable));
    Option<String> => Text(text: text.as_deref().map(storable));
    &[u8] => Bytes(bytes: Some(bytes.to_vec()));
    &[u8; 16] => Bytes(bytes: Some(bytes.to_vec()));
    &[u8; 32] => Bytes(bytes: Some(bytes.to_vec()));
    Option<&[u8; 32]> => Bytes(bytes: bytes.map(|bytes| bytes.to_vec()));
    &Vec<u8> => Bytes(bytes: Some(bytes.clone()));
}

/// A text that every kind of database can hold: Postgres knows no U+0000. What must keep it, such
/// as a report's input, is stored as bytes.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Whether a connection keeps what it prepared: behind a pooler it may be another's at the next
/// transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prepared {
    /// Under a name, for the next time.
    Kept,
    /// For the one time.
    Once,
}

/// A connection that is in use.
pub(super) enum Session<'c> {
    /// To a file.
    Sqlite(&'c mut SqliteConnection),
    /// To a server.
    Postgres(&'c mut PgConnection, Prepared),
}

/// A row of either.
#[derive(Debug)]
pub(super) enum AnyRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Session<'_> {
    /// The same connection, lent on.
    pub(super) fn lend(&mut self) -> Session<'_> {
        match self {
            Self::Sqlite(connection) => Session::Sqlite(connection),
            Self::Postgres(connection, prepared) => Session::Postgres(connection, *prepared),
        }
    }

    /// Runs a statement; how many rows it changed.
    pub(super) async fn execute(&mut self, statement: Statement) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(connection) => {
                let done = statement.for_sqlite().execute(&mut **connection).await;
                done.map(|done| done.rows_affected())
            }
            Self::Postgres(connection, prepared) => {
                let query = statement.for_postgres(*prepared);
                let done = query.execute(&mut **connection).await;
                done.map(|done| done.rows_affected())
            }
        }
        .map_err(classify)
    }

    /// The row that a statement answers with, if it does.
    pub(super) async fn row(&mut self, statement: Statement) -> Result<Option<AnyRow>, StoreError> {
        match self {
            Self::Sqlite(connection) => {
                let query = statement.for_sqlite();
                let row = query.fetch_optional(&mut **connection).await;
                row.map(|row| row.map(AnyRow::Sqlite))
            }
            Self::Postgres(connection, prepared) => {
                let query = statement.for_postgres(*prepared);
                let row = query.fetch_optional(&mut **connection).await;
                row.map(|row| row.map(AnyRow::Postgres))
            }
        }
        .map_err(classify)
    }

    /// The row that a statement always answers with.
    pub(super) async fn one(&mut self, statement: Statement) -> Result<AnyRow, StoreError> {
        let text = statement.text;
        match self.row(statement).await? {
            Some(row) => Ok(row),
            None => Err(StoreError::Fault(format!("no row came of: {text}"))),
        }
    }

    /// All rows that a statement answers with.
    pub(super) async fn rows(&mut self, statement: Statement) -> Result<Vec<AnyRow>, StoreError> {
        match self {
            Self::Sqlite(connection) => {
                let rows = statement.for_sqlite().fetch_all(&mut **connection).await;
                rows.map(|rows| rows.into_iter().map(AnyRow::Sqlite).collect())
            }
            Self::Postgres(connection, prepared) => {
                let query = statement.for_postgres(*prepared);
                let rows = query.fetch_all(&mut **connection).await;
                rows.map(|rows| rows.into_iter().map(AnyRow::Postgres).collect())
            }
        }
        .map_err(classify)
    }

    /// Runs text that has no parameters, maybe several statements, as it is.
    pub(super) async fn run(&mut self, text: &'static str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(connection) => {
                let ran = sqlx::raw_sql(text).execute(&mut **connection).await;
                ran.map(|_| ())
            }
            Self::Postgres(connection, _) => {
                let ran = sqlx::raw_sql(text).execute(&mut **connection).await;
                ran.map(|_| ())
            }
        }
        .map_err(classify)
    }
}
