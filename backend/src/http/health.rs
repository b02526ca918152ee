//! Whether the process lives, and whether it can do its work.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Serialize;

use crate::{config::Role, store::Store};

/// What `readyz` looks at.
pub struct Health {
    store: Arc<dyn Store>,
    conflicts: Vec<String>,
    role: Role,
    draining: AtomicBool,
}

impl std::fmt::Debug for Health {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Health");
        debug
            .field("conflicts", &self.conflicts)
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
    /// `conflicts` tells of each pipeline that may not claim, because one of its versions stood for
    /// something else before. A process that takes reports in goes on all the same and warns of
    /// them; a mere worker is not ready.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, conflicts: Vec<String>, role: Role) -> Self {
        Self {
            store,
            conflicts,
            role,
            draining: AtomicBool::new(false),
        }
    }

    /// From now on the process is not ready: it is about to end.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    async fn readiness(&self) -> Readiness {
        let mut reasons = Vec::new();
        if self.draining.load(Ordering::Relaxed) {
            reasons.push("the process is about to end".to_owned());
        }
        if let Err(error) = self.store.ready().await {
            reasons.push(format!("database: {error}"));
        }
        let mut warnings = self.conflicts.clone();
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
