//! The values of a row, named by table and column.

use std::str::FromStr;

use fencepost_identity::key::ReportKey;
use sqlx::{Row as _, postgres::PgRow, sqlite::SqliteRow};

use super::ReadError;
use crate::words::UnknownWord;

/// A row of either kind of database.
pub(super) trait Cells {
    fn number_or_none(&self, column: &'static str) -> Result<Option<i64>, ReadError>;
    fn text_or_none(&self, column: &'static str) -> Result<Option<String>, ReadError>;
    fn bytes_or_none(&self, column: &'static str) -> Result<Option<Vec<u8>>, ReadError>;

    fn number(&self, column: &'static str) -> Result<i64, ReadError> {
        self.number_or_none(column)?.ok_or_else(|| nothing(column))
    }

    fn text(&self, column: &'static str) -> Result<String, ReadError> {
        self.text_or_none(column)?.ok_or_else(|| nothing(column))
    }
}

macro_rules! cells {
    ($row:ty) => {
        impl Cells for $row {
            fn number_or_none(&self, column: &'static str) -> Result<Option<i64>, ReadError> {
                Ok(self.try_get(column)?)
            }

            fn text_or_none(&self, column: &'static str) -> Result<Option<String>, ReadError> {
                Ok(self.try_get(column)?)
            }

            fn bytes_or_none(&self, column: &'static str) -> Result<Option<Vec<u8>>, ReadError> {
                Ok(self.try_get(column)?)
            }
        }
    };
}
cells!(SqliteRow);
cells!(PgRow);

fn nothing(column: &'static str) -> ReadError {
    ReadError::Value {
        column,
        value: "NULL".to_owned(),
    }
}

/// A key of any kind, as 64 hexadecimal digits.
pub(super) fn key(row: &impl Cells, column: &'static str) -> Result<String, ReadError> {
    key_or_none(row, column)?.ok_or_else(|| nothing(column))
}

pub(super) fn key_or_none(
    row: &impl Cells,
    column: &'static str,
) -> Result<Option<String>, ReadError> {
    let Some(bytes) = row.bytes_or_none(column)? else {
        return Ok(None);
    };
    let length = bytes.len();
    match <[u8; 32]>::try_from(bytes) {
        // Every key is spelled like a report's.
        Ok(bytes) => Ok(Some(ReportKey::from_bytes(bytes).to_string())),
        Err(_) => Err(ReadError::Value {
            column,
            value: format!("{length} bytes"),
        }),
    }
}

/// One of the words of a column.
pub(super) fn word<T>(row: &impl Cells, column: &'static str) -> Result<T, ReadError>
where
    T: FromStr<Err = UnknownWord>,
{
    word_or_none(row, column)?.ok_or_else(|| nothing(column))
}

pub(super) fn word_or_none<T>(
    row: &impl Cells,
    column: &'static str,
) -> Result<Option<T>, ReadError>
where
    T: FromStr<Err = UnknownWord>,
{
    let word = row.text_or_none(column)?.map(|word| word.parse());
    word.transpose()
        .map_err(|UnknownWord(value)| ReadError::Value { column, value })
}
