//! Postgres.

use sqlx::{Connection as _, Executor as _, PgConnection, postgres::PgRow};

use super::{ReadError, Rows};
use crate::rows::History;

impl Rows for PgConnection {
    type Row = PgRow;

    async fn rows(&mut self, statement: &'static str) -> Result<Vec<PgRow>, ReadError> {
        Ok(self.fetch_all(statement).await?)
    }
}

pub(super) async fn read(url: &str) -> Result<History, ReadError> {
    let mut connection = PgConnection::connect(url).await?;
    // All statements see the moment of the first.
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    connection.execute(begin).await?;
    let history = History::of(&mut connection).await;
    connection.close().await?;
    history
}
