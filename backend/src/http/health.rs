//! Whether the process lives, and whether it can do its work.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Serialize;

use crate::{
    config::Role,
    store::{PipelineVersions, Store, StoreError, VersionConflict},
};

/// What is known of the versions of the pipelines.
#[derive(Debug)]
pub enum Versions {
    /// This process has bound them at its start; these stood for something else before.
    Bound(Vec<VersionConflict>),
    /// Other processes bind them, at any time: each look compares.
    BoundByOthers(Vec<PipelineVersions>),
}

/// What `readyz` looks at.
pub struct Health {
    store: Arc<dyn Store>,
    versions: Versions,
    file: String,
    role: Role,
    draining: AtomicBool,
}

impl std::fmt::Debug for Health {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Health");
        debug
            .field("versions", &self.versions)
            .field("draining", &self.draining);
        debug.finish_non_exhaustive()
    }
}

/// The answer of `readyz`.
#[derive(Serialize)]
struct Readiness {
    ready: bool,
    /// Why not.
    reasons: Vec<String>,
    /// What is wrong, without keeping reports from being taken in.
    warnings: Vec<String>,
}

impl Health {
    /// A process that takes reports in goes on although a version stood for something else before,
    /// and warns of it; a mere worker is not ready. `file` is the configuration: the warning says
    /// what to write there, and names it without its folder, since anybody may ask.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, versions: Versions, file: &Path, role: Role) -> Self {
        Self {
            store,
            versions,
            file: file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            role,
            draining: AtomicBool::new(false),
        }
    }

    /// From now on the process is not ready: it is about to end.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    async fn conflicts(&self) -> Result<Vec<VersionConflict>, StoreError> {
        match &self.versions {
            Versions::Bound(conflicts) => Ok(conflicts.clone()),
            Versions::BoundByOthers(wanted) => {
                let bindings = self.store.bindings().await?;
                let conflicts = wanted.iter().flat_map(|wanted| bindings.conflicts(wanted));
                Ok(conflicts.collect())
            }
        }
    }

    async fn readiness(&self) -> Readiness {
        let mut reasons = Vec::new();
        if self.draining.load(Ordering::Relaxed) {
            reasons.push("the process is about to end".to_owned());
        }
        if let Err(error) = self.store.ready().await {
            reasons.push(format!("database: {error}"));
        }
        let mut warnings = match self.conflicts().await {
            Ok(conflicts) => {
                let told = |conflict| format!("{}: {conflict}", self.file);
                conflicts.iter().map(told).collect()
            }
            Err(error) => vec![format!("what versions stand for is not known: {error}")],
        };
        match self.role {
            Role::Worker => reasons.append(&mut warnings),
            Role::All | Role::Api => {}
        }
        Readiness {
            ready: reasons.is_empty(),
            reasons,
            warnings,
        }
    }
}

/// `GET /livez` and `GET /readyz`: open to all, and they tell of nothing that was reported.
pub(super) fn router(health: Arc<Health>) -> Router {
    Router::new()
        .route("/livez", get(livez))
        .route("/readyz", get(readyz))
        .with_state(health)
}

/// The process answers, that is all.
async fn livez() -> &'static str {
    "ok\n"
}

async fn readyz(State(health): State<Arc<Health>>) -> Response {
    let readiness = health.readiness().await;
    let status = if readiness.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(readiness)).into_response()
}
