//! What is bound, read; also from a database that is only looked at.

use std::path::Path;

use fencepost_identity::key::MappingDigest;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{SqliteOptions, classify::classify, migrate, row::Row};
use crate::store::{Bindings, Looked, StoreError, sql};

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
    bindings(connection).await.map(Looked::Bindings)
}

/// Reads what is bound.
pub(super) async fn bindings(connection: &mut SqliteConnection) -> Result<Bindings, StoreError> {
    let mut bindings = Bindings::default();
    let rows = sqlx::query(sql::SOURCE_BINDINGS)
        .fetch_all(&mut *connection)
        .await;
    for row in &rows.map_err(classify)? {
        let source = Row::new(row, "").text("source_binding.source")?;
        let digest = Row::new(row, &source)
            .digest("source_binding.mapping_digest", MappingDigest::from_bytes)?;
        bindings.sources.insert(source, digest);
    }
    let rows = sqlx::query(sql::VERSION_BINDINGS)
        .fetch_all(&mut *connection)
        .await;
    for row in &rows.map_err(classify)? {
        let version = Row::new(row, "").text("version_binding.version")?;
        let row = Row::new(row, &version);
        let key = (
            row.word("version_binding.kind")?,
            row.text("version_binding.pipeline")?,
            version,
        );
        let digest = row.digest("version_binding.digest", |bytes| bytes)?;
        bindings.versions.insert(key, digest);
    }
    Ok(bindings)
}
