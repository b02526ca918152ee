//! `GET /v1/stats`: counts and oldest age by state.

use std::sync::Arc;

use axum::{Json, extract::State};

use super::{
    problem::Problem,
    reports::{AdminApi, unreadable},
    wire::StatsWire,
};

pub(super) async fn stats(State(api): State<Arc<AdminApi>>) -> Result<Json<StatsWire>, Problem> {
    let stats = api.store.stats().await.map_err(unreadable)?;
    Ok(Json(StatsWire::new(stats, &api.pipelines)))
}
