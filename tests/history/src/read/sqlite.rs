//! SQLite.

use std::path::Path;

use sqlx::{
    ConnectOptions as _, Connection as _, Executor as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteRow},
};

use super::{ReadError, Rows};
use crate::rows::History;

impl Rows for SqliteConnection {
    type Row = SqliteRow;

    async fn rows(&mut self, statement: &'static str) -> Result<Vec<SqliteRow>, ReadError> {
        Ok(self.fetch_all(statement).await?)
    }
}

pub(super) async fn read(file: &Path) -> Result<History, ReadError> {
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut connection = options.connect().await?;
    // The first statement fixes the moment.
    connection.execute("BEGIN").await?;
    let history = History::of(&mut connection).await;
    connection.close().await?;
    history
}
