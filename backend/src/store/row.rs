//! From rows to values; what can't be understood says where it stands.

use std::str::FromStr;

use sqlx::{Decode, Postgres, Row as _, Sqlite, Type};

use super::{Corruption, StoreError, classify::classify, session::AnyRow};
use crate::{clock::UnixMillis, report::State};

/// A row, read by the names that statements give to columns: `"table.column"`.
pub(super) struct Row<'r> {
    row: &'r AnyRow,
    key: String,
}

/// What both drivers can read.
trait Readable<'r>: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres> {}

impl<'r, T> Readable<'r> for T where
    T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>
{
}

fn get<'r, T: Readable<'r>>(row: &'r AnyRow, column: &'static str) -> Result<T, sqlx::Error> {
    match row {
        AnyRow::Sqlite(row) => row.try_get(column),
        AnyRow::Postgres(row) => row.try_get(column),
    }
}

impl<'r> Row<'r> {
    /// Takes a row; `key` is how it is called when it can't be understood.
    pub(super) fn new(row: &'r AnyRow, key: impl ToString) -> Self {
        Self {
            row,
            key: key.to_string(),
        }
    }

    /// Takes a row that brings its key along, in any column that holds bytes.
    pub(super) fn keyed(row: &'r AnyRow, column: &'static str) -> Self {
        let bytes: Vec<u8> = get(row, column).unwrap_or_default();
        let key = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { row, key }
    }

    /// That the column holds nothing that it could hold.
    pub(super) fn corrupt(&self, name: &'static str) -> StoreError {
        let (table, column) = name.split_once('.').unwrap_or(("", name));
        Corruption {
            table,
            column,
            key: self.key.clone(),
        }
        .into()
    }

    fn get<T: Readable<'r>>(&self, name: &'static str) -> Result<T, StoreError> {
        get(self.row, name).map_err(|error| {
            let unreadable = matches!(error, sqlx::Error::ColumnDecode { .. });
            if unreadable {
                self.corrupt(name)
            } else {
                classify(error)
            }
        })
    }

    /// A number.
    pub(super) fn number(&self, name: &'static str) -> Result<i64, StoreError> {
        self.get(name)
    }

    /// A number that may be absent.
    pub(super) fn number_or_none(&self, name: &'static str) -> Result<Option<i64>, StoreError> {
        self.get(name)
    }

    /// A number that counts something.
    pub(super) fn count<N: TryFrom<i64>>(&self, name: &'static str) -> Result<N, StoreError> {
        N::try_from(self.number(name)?).map_err(|_| self.corrupt(name))
    }

    /// A number that counts something and may be absent.
    pub(super) fn count_or_none(&self, name: &'static str) -> Result<Option<u64>, StoreError> {
        let count = |number| u64::try_from(number).map_err(|_| self.corrupt(name));
        self.number_or_none(name)?.map(count).transpose()
    }

    /// A number that a type accepts.
    pub(super) fn stored<T>(
        &self,
        name: &'static str,
        from_stored: fn(i64) -> Option<T>,
    ) -> Result<T, StoreError> {
        from_stored(self.number(name)?).ok_or_else(|| self.corrupt(name))
    }

    /// A time.
    pub(super) fn time(&self, name: &'static str) -> Result<UnixMillis, StoreError> {
        self.number(name).map(UnixMillis::new)
    }

    /// A time that may be absent.
    pub(super) fn time_or_none(
        &self,
        name: &'static str,
    ) -> Result<Option<UnixMillis>, StoreError> {
        Ok(self.number_or_none(name)?.map(UnixMillis::new))
    }

    /// A text.
    pub(super) fn text(&self, name: &'static str) -> Result<String, StoreError> {
        self.get(name)
    }

    /// A text that may be absent.
    pub(super) fn text_or_none(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        self.get(name)
    }

    /// A text that a type accepts.
    pub(super) fn checked<T, E>(
        &self,
        name: &'static str,
        check: impl FnOnce(String) -> Result<T, E>,
    ) -> Result<T, StoreError> {
        check(self.text(name)?).map_err(|_| self.corrupt(name))
    }

    /// One of an enum's words.
    pub(super) fn word<T: FromStr>(&self, name: &'static str) -> Result<T, StoreError> {
        self.checked(name, |text| text.parse())
    }

    /// One of an enum's words, which may be absent.
    pub(super) fn word_or_none<T: FromStr>(
        &self,
        name: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let word = |text: String| text.parse().map_err(|_| self.corrupt(name));
        self.text_or_none(name)?.map(word).transpose()
    }

    /// Bytes.
    pub(super) fn bytes(&self, name: &'static str) -> Result<Vec<u8>, StoreError> {
        self.get(name)
    }

    /// Bytes that may be absent.
    pub(super) fn bytes_or_none(&self, name: &'static str) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(name)
    }

    /// A key or digest of 32 bytes.
    pub(super) fn digest<T>(
        &self,
        name: &'static str,
        from_bytes: fn([u8; 32]) -> T,
    ) -> Result<T, StoreError> {
        let bytes = <[u8; 32]>::try_from(self.bytes(name)?).map_err(|_| self.corrupt(name))?;
        Ok(from_bytes(bytes))
    }

    /// A key or digest of 32 bytes, which may be absent.
    pub(super) fn digest_or_none<T>(
        &self,
        name: &'static str,
        from_bytes: fn([u8; 32]) -> T,
    ) -> Result<Option<T>, StoreError> {
        match self.bytes_or_none(name)? {
            Some(_) => self.digest(name, from_bytes).map(Some),
            None => Ok(None),
        }
    }

    /// The state of a job, by its two words.
    pub(super) fn state(&self) -> Result<State, StoreError> {
        let (word, outcome) = (self.text("job.state")?, self.text_or_none("job.outcome")?);
        State::from_words(&word, outcome.as_deref()).map_err(|_| self.corrupt("job.state"))
    }
}
