//! Versions are bound to what they stand for before a pipeline claims anything.

use std::sync::Arc;

use super::Pipeline;
use crate::store::{Bound, Store, StoreError, VersionConflict};

/// Which pipelines may claim.
pub struct Bindings {
    /// Those whose versions stand for what they always stood for.
    pub claimable: Vec<Arc<Pipeline>>,
    /// Why the others may not: ingress goes on for them, work does not.
    pub conflicts: Vec<VersionConflict>,
}

/// Binds the versions of pipelines on their first use. Whoever calls it tells of the conflicts.
///
/// # Errors
/// The database failed.
pub async fn bind(
    store: &dyn Store,
    pipelines: impl IntoIterator<Item = Pipeline>,
) -> Result<Bindings, StoreError> {
    let mut bindings = Bindings {
        claimable: Vec::new(),
        conflicts: Vec::new(),
    };
    for pipeline in pipelines {
        match store.bind_versions(pipeline.versions.clone()).await? {
            Bound::Bound => bindings.claimable.push(Arc::new(pipeline)),
            Bound::Conflict(conflicts) => bindings.conflicts.extend(conflicts),
        }
    }
    Ok(bindings)
}
