//! Finds out whether a pooler stands before the server, of which the URL says nothing.

use std::collections::BTreeSet;

use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgConnection, Row as _};

use super::dialect;
use crate::store::{StoreError, classify::classify};

/// How often each of two connections asks who serves it.
const ROUNDS: usize = 16;

/// Refuses a pooler that gives each transaction another connection: what is prepared on one would
/// be looked for on another, where the same name may stand for something else. Two connections are
/// never served by one process, unless somebody lends it to them in turn.
pub(super) async fn refuse(options: &sqlx::postgres::PgConnectOptions) -> Result<(), StoreError> {
    let mut one = options.connect().await.map_err(classify)?;
    let mut other = options.connect().await.map_err(classify)?;
    let (mut of_one, mut of_other) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..ROUNDS {
        of_one.insert(server_process(&mut one).await?);
        of_other.insert(server_process(&mut other).await?);
    }
    one.close().await.map_err(classify)?;
    other.close().await.map_err(classify)?;
    match of_one.is_disjoint(&of_other) {
        true => Ok(()),
        false => Err(StoreError::Pooler),
    }
}

/// Asked without preparing anything.
async fn server_process(connection: &mut PgConnection) -> Result<i32, StoreError> {
    let row = connection
        .fetch_one(sqlx::raw_sql(dialect::SERVER_PROCESS))
        .await;
    row.and_then(|row| row.try_get(0)).map_err(classify)
}
