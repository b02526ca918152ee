//! A database that is only looked at.

use sqlx::{ConnectOptions as _, Connection as _, PgConnection};

use super::{dialect, migrate, options};
use crate::store::{
    Looked, StoreError,
    classify::classify,
    operation::Reading,
    reading::AllBindings,
    session::{Prepared, Session},
};

/// Reads what is bound, without migrating anything.
pub(in crate::store) async fn look(url: &str) -> Result<Looked, StoreError> {
    let (options, _) = options(url)?;
    let mut connection = options.connect().await.map_err(classify)?;
    let looked = looked(&mut connection).await;
    connection.close().await.map_err(classify)?;
    looked
}

async fn looked(connection: &mut PgConnection) -> Result<Looked, StoreError> {
    let mut session = Session::Postgres(connection, Prepared::Once);
    // Nothing is written, so that its end needs no word; it keeps the server's connection the same.
    session.run(dialect::BEGIN_READING).await?;
    let (found, known) = (
        migrate::refuse_unless_ours(connection).await?,
        migrate::newest(),
    );
    if found < known {
        return Ok(Looked::OlderSchema { found, known });
    }
    let mut session = Session::Postgres(connection, Prepared::Once);
    AllBindings.run(&mut session).await.map(Looked::Bindings)
}
