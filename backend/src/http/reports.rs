//! `GET /v1/reports…`: what is known of reports.

use std::{str::FromStr, sync::Arc};

use axum::{
    Json,
    extract::{Path, Query, State, rejection::QueryRejection},
};
use fencepost_identity::key::ReportKey;
use serde::Deserialize;

use super::{
    problem::Problem,
    wire::{AttemptsWire, PageWire, ReportWire},
};
use crate::{
    config::Pipeline,
    judge::Judge,
    replay::Present,
    report::StateWord,
    store::{Cursor, Filter, Store, StoreError},
};

/// The most reports of a page.
const LIMIT_MAX: u32 = 500;
/// How many reports a page has when nothing else is said.
const LIMIT_DEFAULT: u32 = 50;

/// What the admin listener works with.
pub struct AdminApi {
    pub(super) store: Arc<dyn Store>,
    pub(super) pipelines: Vec<Judged>,
}

/// What is known of a pipeline here: what its reports are judged under and by.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its name.
    pub pipeline: String,
    /// What unfinished jobs are worked on under; those of other versions are stranded.
    pub classifier_version: String,
    /// What the schema is bound to.
    pub schema_version: String,
    /// What that version stands for here.
    pub schema_digest: [u8; 32],
    /// What answers are judged by; a corrected result has to fit its schema.
    pub judge: Judge,
}

impl Judged {
    /// What a report is judged again by.
    #[must_use]
    pub fn present(&self) -> Present<'_> {
        Present {
            classifier_version: &self.classifier_version,
            schema_version: &self.schema_version,
            judge: &self.judge,
        }
    }
}

impl From<&Pipeline> for Judged {
    fn from(pipeline: &Pipeline) -> Self {
        Self {
            pipeline: pipeline.name.clone(),
            classifier_version: pipeline.classifier_version.clone(),
            schema_version: pipeline.schema_version.clone(),
            schema_digest: pipeline.schema_digest(),
            judge: pipeline.judge(),
        }
    }
}

impl std::fmt::Debug for AdminApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdminApi")
            .field("pipelines", &self.pipelines.len())
            .finish_non_exhaustive()
    }
}

impl AdminApi {
    /// `pipelines` are the configured ones.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, pipelines: Vec<Judged>) -> Self {
        Self { store, pipelines }
    }

    /// A report's pipeline, which may have been taken out of the configuration.
    pub(super) fn pipeline(&self, name: &str) -> Result<&Judged, Problem> {
        let mut pipelines = self.pipelines.iter();
        pipelines
            .find(|judged| judged.pipeline == name)
            .ok_or(Problem::UnknownPipeline)
    }
}

/// `?state=&tenant=&pipeline=&cursor=&limit=`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    state: Option<String>,
    tenant: Option<String>,
    pipeline: Option<String>,
    cursor: Option<String>,
    limit: Option<String>,
}

/// A page of reports, the newest first.
pub(super) async fn list(
    State(api): State<Arc<AdminApi>>,
    parameters: Result<Query<Parameters>, QueryRejection>,
) -> Result<Json<PageWire>, Problem> {
    let Query(parameters) = parameters.map_err(|_| Problem::BadParameter {
        name: "query",
        expected: "made of state, tenant, pipeline, cursor and limit, each once",
    })?;
    let filter = Filter {
        state: parse::<StateWord>(parameters.state, "state", "one of the five states")?,
        tenant: parameters.tenant.filter(|tenant| !tenant.is_empty()),
        pipeline: parameters.pipeline.filter(|pipeline| !pipeline.is_empty()),
    };
    let cursor = parse::<Cursor>(parameters.cursor, "cursor", "the `next` of another page")?;
    let limit = page_length(parameters.limit)?;
    let page = api
        .store
        .list(filter, cursor, limit)
        .await
        .map_err(unreadable)?;
    Ok(Json(page.into()))
}

/// How many lines a page is to have.
pub(super) fn page_length(limit: Option<String>) -> Result<u32, Problem> {
    let expected = "a number from 1 to 500";
    let limit = parse::<u32>(limit, "limit", expected)?.unwrap_or(LIMIT_DEFAULT);
    if (1..=LIMIT_MAX).contains(&limit) {
        return Ok(limit);
    }
    Err(Problem::BadParameter {
        name: "limit",
        expected,
    })
}

/// A parameter that is absent or empty says nothing.
pub(super) fn parse<T: FromStr>(
    text: Option<String>,
    name: &'static str,
    expected: &'static str,
) -> Result<Option<T>, Problem> {
    let text = text.filter(|text| !text.is_empty());
    let parsed = text.map(|text| text.parse()).transpose();
    parsed.map_err(|_| Problem::BadParameter { name, expected })
}

/// One report.
pub(super) async fn report(
    State(api): State<Arc<AdminApi>>,
    Path(key): Path<String>,
) -> Result<Json<ReportWire>, Problem> {
    let report = api.store.report(key_of(&key)?).await.map_err(unreadable)?;
    report
        .map(|report| Json(report.into()))
        .ok_or(Problem::UnknownReport)
}

/// Every attempt on a report.
pub(super) async fn attempts(
    State(api): State<Arc<AdminApi>>,
    Path(key): Path<String>,
) -> Result<Json<AttemptsWire>, Problem> {
    let key = key_of(&key)?;
    let attempts = api.store.attempts(key).await.map_err(unreadable)?;
    if attempts.is_empty() && api.store.report(key).await.map_err(unreadable)?.is_none() {
        return Err(Problem::UnknownReport);
    }
    Ok(Json(attempts.into()))
}

pub(super) fn key_of(text: &str) -> Result<ReportKey, Problem> {
    let expected = "a report key: 64 lower-case hexadecimal digits";
    text.parse().map_err(|_| Problem::BadParameter {
        name: "key",
        expected,
    })
}

/// What a reader is told of a database that did not answer; the log is told more.
pub(super) fn unreadable(error: StoreError) -> Problem {
    tracing::error!(%error, "Could not read the database: {error}");
    match error {
        StoreError::Corrupt(_) | StoreError::Contradiction(_) | StoreError::Damaged => {
            Problem::Corrupt
        }
        StoreError::Busy | StoreError::Full | StoreError::Unavailable(_) => Problem::Unavailable,
        StoreError::NewerSchema { .. }
        | StoreError::Foreign
        | StoreError::Url
        | StoreError::Refused(_)
        | StoreError::Pooler
        | StoreError::Forgetful
        | StoreError::NotHere(_) => Problem::Unavailable,
        StoreError::Fault(_) => Problem::Internal,
    }
}
