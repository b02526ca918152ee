//! What is bound on first use: versions to what they stand for, sources to their mapping.

use async_trait::async_trait;
use fencepost_identity::key::MappingDigest;

use super::{Operation, Tx, ingest};
use crate::store::{
    Bound, PipelineVersions, Rebound, StoreError, VersionConflict, VersionKind, row::Row,
    session::statement, sql,
};

/// Binds the versions of a pipeline, all or none.
pub(in crate::store) struct BindVersions(pub(in crate::store) PipelineVersions);

#[async_trait]
impl Operation for BindVersions {
    type Done = Bound;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Bound, StoreError> {
        let Self(versions) = self;
        tx.lock_bindings().await?;
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
            bind(tx, kind, (&versions.pipeline, version), &digest).await?;
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
    let bound = statement(sql::VERSION_BINDING)
        .bind(kind.as_str())
        .bind(pipeline.to_owned())
        .bind(version.to_owned());
    let row = tx.session().row(bound).await?;
    let digest = |row| Row::new(&row, version).digest("version_binding.digest", |bytes| bytes);
    row.map(digest).transpose()
}

/// Whether a version stands for this; one that stood for nothing does from now on.
pub(super) async fn holds_for(
    tx: &mut Tx<'_>,
    kind: VersionKind,
    (pipeline, version): (&str, &str),
    digest: &[u8; 32],
) -> Result<bool, StoreError> {
    match bound(tx, kind, pipeline, version).await? {
        Some(bound) => Ok(bound == *digest),
        None => {
            bind(tx, kind, (pipeline, version), digest).await?;
            // Somebody else may have bound it to another meanwhile.
            Ok(bound(tx, kind, pipeline, version).await? == Some(*digest))
        }
    }
}

async fn bind(
    tx: &mut Tx<'_>,
    kind: VersionKind,
    (pipeline, version): (&str, &str),
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    let bind = statement(sql::BIND_VERSION)
        .bind(kind.as_str())
        .bind(pipeline.to_owned())
        .bind(version.to_owned())
        .bind(digest)
        .bind(tx.now.get());
    tx.session().execute(bind).await?;
    Ok(())
}

/// Binds a source anew, because a person meant it.
pub(in crate::store) struct RebindSource {
    pub(in crate::store) source: String,
    pub(in crate::store) digest: MappingDigest,
    pub(in crate::store) actor: String,
}

#[async_trait]
impl Operation for RebindSource {
    type Done = Rebound;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Rebound, StoreError> {
        tx.lock_bindings().await?;
        let (rebound, detail) = match ingest::binding(tx.session(), &self.source).await? {
            Some(bound) if bound == self.digest => return Ok(Rebound::Same),
            Some(from) => {
                let rebind = statement(sql::REBIND_SOURCE)
                    .bind(&self.source)
                    .bind(self.digest.as_bytes())
                    .bind(tx.now.get())
                    .bind(from.as_bytes());
                tx.session().execute(rebind).await?;
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
        let audit = statement(sql::AUDIT)
            .bind(tx.now.get())
            .bind(&self.actor)
            .bind("source.rebind")
            .bind(&self.source)
            .bind(detail);
        tx.session().execute(audit).await?;
        Ok(rebound)
    }
}
