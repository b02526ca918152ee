//! What is bound on first use: versions to what they stand for, sources to their mapping.

use async_trait::async_trait;
use fencepost_identity::key::MappingDigest;

use super::{
    classify::classify,
    ingest,
    row::Row,
    writer::{Tx, Write},
};
use crate::store::{
    Bound, PipelineVersions, Rebound, StoreError, VersionConflict, VersionKind, sql,
};

/// Binds the versions of a pipeline, all or none.
pub(super) struct BindVersions(pub(super) PipelineVersions);

#[async_trait]
impl Write for BindVersions {
    type Done = Bound;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Bound, StoreError> {
        let Self(versions) = self;
        let mut conflicts = Vec::new();
        let mut unbound = Vec::new();
        for (kind, version, digest) in versions.each() {
            match bound(tx, kind, &versions.pipeline, version).await? {
                None => unbound.push((kind, version, digest)),
                Some(bound) if bound == digest => {}
                Some(bound) => {
                    conflicts.push(VersionConflict {
                        pipeline: versions.pipeline.clone(),
                        kind,
                        version: version.to_owned(),
                        bound,
                    });
                }
            }
        }
        if !conflicts.is_empty() {
            return Ok(Bound::Conflict(conflicts));
        }
        for (kind, version, digest) in unbound {
            let bind = sqlx::query(sql::BIND_VERSION)
                .bind(kind.as_str())
                .bind(&versions.pipeline)
                .bind(version)
                .bind(digest.as_slice())
                .bind(tx.now.get());
            bind.execute(&mut *tx.connection).await.map_err(classify)?;
        }
        Ok(Bound::Bound)
    }
}

async fn bound(
    tx: &mut Tx<'_>,
    kind: VersionKind,
    pipeline: &str,
    version: &str,
) -> Result<Option<[u8; 32]>, StoreError> {
    let bound = sqlx::query(sql::VERSION_BINDING)
        .bind(kind.as_str())
        .bind(pipeline.to_owned())
        .bind(version.to_owned());
    let row = bound
        .fetch_optional(&mut *tx.connection)
        .await
        .map_err(classify)?;
    let digest = |row| Row::new(&row, version).digest("version_binding.digest", |bytes| bytes);
    row.map(digest).transpose()
}

/// Binds a source anew, because a person meant it.
pub(super) struct RebindSource {
    pub(super) source: String,
    pub(super) digest: MappingDigest,
    pub(super) actor: String,
}

#[async_trait]
impl Write for RebindSource {
    type Done = Rebound;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Rebound, StoreError> {
        let (rebound, detail) = match ingest::binding(tx.connection, &self.source).await? {
            Some(bound) if bound == self.digest => return Ok(Rebound::Same),
            Some(from) => {
                let rebind = sqlx::query(sql::REBIND_SOURCE)
                    .bind(&self.source)
                    .bind(self.digest.as_bytes().as_slice())
                    .bind(tx.now.get())
                    .bind(from.as_bytes().as_slice());
                rebind
                    .execute(&mut *tx.connection)
                    .await
                    .map_err(classify)?;
                (
                    Rebound::Changed { from },
                    format!("{from} -> {}", self.digest),
                )
            }
            None => {
                ingest::bind(tx, &self.source, &self.digest).await?;
                (Rebound::First, self.digest.to_string())
            }
        };
        let audit = sqlx::query(sql::AUDIT)
            .bind(tx.now.get())
            .bind(&self.actor)
            .bind("source.rebind")
            .bind(&self.source)
            .bind(detail);
        audit.execute(&mut *tx.connection).await.map_err(classify)?;
        Ok(rebound)
    }
}
