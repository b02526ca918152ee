//! A database that is only looked at.

use std::path::Path;

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{SqliteOptions, migrate};
use crate::store::{
    Looked, StoreError, classify::classify, operation::Reading, reading::AllBindings,
    session::Session,
};

/// Reads what is bound in a file that is there, without migrating it.
pub(in crate::store) async fn look(file: &Path) -> Result<Looked, StoreError> {
    let options = SqliteOptions::default().reading(file);
    let mut connection = options.connect().await.map_err(classify)?;
    let looked = looked(&mut connection).await;
    connection.close().await.map_err(classify)?;
    looked
}

async fn looked(connection: &mut SqliteConnection) -> Result<Looked, StoreError> {
    let (found, known) = (
        migrate::refuse_unless_ours(connection).await?,
        migrate::newest(),
    );
    if found < known {
        return Ok(Looked::OlderSchema { found, known });
    }
    let mut session = Session::Sqlite(connection);
    AllBindings.run(&mut session).await.map(Looked::Bindings)
}
