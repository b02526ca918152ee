//! Versions are bound to what they stand for before a pipeline claims anything.

use std::sync::Arc;

use tracing::error;

use super::Pipeline;
use crate::store::{Bound, Store, StoreError, VersionConflict};

/// Which pipelines may claim.
pub struct Bindings {
    /// Those whose versions stand for what they always stood for.
    pub claimable: Vec<Arc<Pipeline>>,
    /// Why the others may not: ingress goes on for them, work does not.
    pub conflicts: Vec<VersionConflict>,
}

/// Binds the versions of pipelines on their first use.
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
            Bound::Conflict(conflicts) => {
                for conflict in &conflicts {
                    let (kind, version) = (conflict.kind, &conflict.version);
                    error!(
                        pipeline = pipeline.name(), %kind, version,
                        "the version stood for something else before: give it a new name"
                    );
                }
                bindings.conflicts.extend(conflicts);
            }
        }
    }
    Ok(bindings)
}
