//! The two listeners: one takes reports in, the other answers questions about them.

mod auth;
mod health;
mod ingest;
mod problem;
mod reports;
mod reviews;
mod stats;
pub mod wire;

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};

pub use self::{
    health::{Health, Versions},
    ingest::{Arrival, Carries, IngestApi, IngestLimits, IngestParts},
    problem::Problem,
    reports::{AdminApi, Judged},
};
use crate::secret::Secret;

/// What the ingest listener answers: envelopes, and how the process is.
pub fn ingest_router(api: IngestApi, health: Arc<Health>) -> Router {
    let reports = Router::new()
        .route("/v1/reports", post(ingest::post))
        .with_state(Arc::new(api));
    closed(reports.merge(health::router(health)))
}

/// What the admin listener answers: everything but its own health needs the token.
pub fn admin_router(api: AdminApi, token: Secret, health: Arc<Health>) -> Router {
    let protected = Router::new()
        .route("/v1/reports", get(reports::list))
        .route("/v1/reports/{key}", get(reports::report))
        .route("/v1/reports/{key}/attempts", get(reports::attempts))
        .route("/v1/reports/{key}/replay", post(reviews::replay))
        .route("/v1/reviews", get(reviews::list))
        .route("/v1/reviews/{key}/decision", post(reviews::decide))
        .route("/v1/stats", get(stats::stats))
        .layer(DefaultBodyLimit::max(reviews::DECISION_BYTES_MAX))
        .with_state(Arc::new(api));
    let protected = closed(protected).layer(middleware::from_fn_with_state(
        Arc::new(token),
        auth::require_token,
    ));
    health::router(health)
        .method_not_allowed_fallback(method_not_allowed)
        .fallback_service(protected)
}

/// Answers what no route matches as every other error is answered.
fn closed(router: Router) -> Router {
    router
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
}

async fn not_found() -> Response {
    Problem::NotFound.into_response()
}

async fn method_not_allowed() -> Response {
    Problem::MethodNotAllowed.into_response()
}
