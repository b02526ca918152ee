//! The admin listener, on a store that answers as it is told.

use std::sync::Arc;

use axum::{Router, body::Body, http::Request};
use fencepost::{
    config::Role,
    http::{AdminApi, Health, Versions, admin_router},
    secret::Secret,
    store::{PipelineVersions, Store, StoreError, VersionConflict, VersionKind},
};
use serde_json::json;

use super::{
    Answer, FILE, call,
    scripted::{Mood, Scripted},
};

const TOKEN: &str = "admin-canary-0123456789";

fn router(mood: Mood) -> Router {
    router_with(mood, Role::All, Versions::Bound(Vec::new()))
}

fn router_with(mood: Mood, role: Role, versions: Versions) -> Router {
    let store: Arc<dyn Store> = Scripted::new(mood);
    let health = Arc::new(Health::new(
        Arc::clone(&store),
        versions,
        FILE.as_ref(),
        role,
    ));
    admin_router(AdminApi::new(store, Vec::new()), Secret::new(TOKEN), health)
}

async fn get(router: &Router, path: &str, authorization: &[&str]) -> Answer {
    let mut request = Request::get(path);
    for value in authorization {
        request = request.header("authorization", *value);
    }
    call(router, request.body(Body::empty()).unwrap()).await
}

async fn get_as_admin(router: &Router, path: &str) -> Answer {
    get(router, path, &[&format!("Bearer {TOKEN}")]).await
}

#[tokio::test]
async fn every_route_but_health_needs_the_token() {
    let router = router(Mood::Fine);
    let key = "0".repeat(64);
    let report = format!("/v1/reports/{key}");
    let attempts = format!("{report}/attempts");
    let bearer = format!("Bearer {TOKEN}");
    let longer = format!("{bearer}x");
    let shorter = &bearer[..bearer.len() - 1];
    let basic = format!("Basic {TOKEN}");
    for (path, status) in [
        ("/v1/reports", 200),
        (report.as_str(), 404),
        (attempts.as_str(), 404),
        ("/v1/stats", 200),
        ("/v1/reviews", 200),
        ("/v1/unknown", 404),
        ("/", 404),
    ] {
        for wrong in [
            &[][..],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &[TOKEN],
            &[&basic],
            &[&longer],
            &[shorter],
            &["Bearer other-token-0123456789"],
            &[&bearer, &bearer],
        ] {
            let answer = get(&router, path, wrong).await;
            assert_eq!(
                (answer.status, answer.code()),
                (401, "unauthorized"),
                "{path} {wrong:?}"
            );
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
            assert!(!answer.body.to_string().contains("canary"));
        }
        assert_eq!(
            get(&router, path, &[&bearer]).await.status,
            status,
            "{path}"
        );
        let lower = format!("bearer {TOKEN}");
        assert_eq!(get(&router, path, &[&lower]).await.status, status, "{path}");
    }
    for path in ["/livez", "/readyz"] {
        assert_eq!(get(&router, path, &[]).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn other_methods_are_refused_with_those_that_there_are() {
    let router = router(Mood::Fine);
    for path in ["/v1/reports", "/v1/reviews", "/v1/stats", "/livez"] {
        let request = Request::delete(path).header("authorization", format!("Bearer {TOKEN}"));
        let answer = call(&router, request.body(Body::empty()).unwrap()).await;
        assert_eq!(
            (answer.status, answer.code()),
            (405, "method_not_allowed"),
            "{path}"
        );
        assert_eq!(answer.headers["allow"], "GET,HEAD", "{path}");
    }
}

#[tokio::test]
async fn parameters_that_can_not_be_understood_are_named() {
    let router = router(Mood::Fine);
    for (path, detail) in [
        (
            "/v1/reports?state=done",
            "`state` is not one of the five states",
        ),
        (
            "/v1/reports?cursor=x",
            "`cursor` is not the `next` of another page",
        ),
        (
            "/v1/reports?limit=0",
            "`limit` is not a number from 1 to 500",
        ),
        (
            "/v1/reports?limit=501",
            "`limit` is not a number from 1 to 500",
        ),
        (
            "/v1/reports?limit=-1",
            "`limit` is not a number from 1 to 500",
        ),
        (
            "/v1/reports?page=2",
            "`query` is not made of state, tenant, pipeline, cursor and limit",
        ),
        ("/v1/reports?limit=1&limit=2", "`query` is not made of"),
        ("/v1/reports/abc", "`key` is not a report key"),
        ("/v1/reports/ABCDEF/attempts", "`key` is not a report key"),
    ] {
        let answer = get_as_admin(&router, path).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, "bad_parameter"),
            "{path}"
        );
        assert!(
            answer.body["detail"].as_str().unwrap().starts_with(detail),
            "{answer:?}"
        );
    }
    for path in [
        "/v1/reports?state=&tenant=&pipeline=&cursor=&limit=",
        "/v1/reports?limit=500",
    ] {
        let answer = get_as_admin(&router, path).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(
            answer.body,
            json!({"reports": [], "unreadable": [], "next": null})
        );
    }
}

#[tokio::test]
async fn a_database_that_can_not_be_read_is_told_without_its_reasons() {
    for (error, status, code) in [
        (
            (|| StoreError::Busy) as fn() -> StoreError,
            503,
            "unavailable",
        ),
        (
            || StoreError::Unavailable("/path/canary".to_owned()),
            503,
            "unavailable",
        ),
        (|| StoreError::Damaged, 500, "corrupt_row"),
        (|| StoreError::Fault("canary".to_owned()), 500, "internal"),
    ] {
        let router = router(Mood::Fails(error));
        let key = "0".repeat(64);
        for path in ["/v1/reports", &format!("/v1/reports/{key}"), "/v1/stats"] {
            let answer = get_as_admin(&router, path).await;
            assert_eq!((answer.status, answer.code()), (status, code), "{path}");
            assert!(!answer.body.to_string().contains("canary"));
        }
    }
}

#[tokio::test]
async fn readiness_says_why_not() {
    let ready = |answer: &Answer| (answer.status, answer.body["ready"].as_bool().unwrap());
    let fine = get(&router(Mood::Fine), "/readyz", &[]).await;
    assert_eq!(
        fine.body,
        json!({"ready": true, "reasons": [], "warnings": []})
    );

    let newer: fn() -> StoreError = || StoreError::NewerSchema { found: 9, known: 1 };
    let failing = router(Mood::Fails(newer));
    let answer = get(&failing, "/readyz", &[]).await;
    assert_eq!(ready(&answer), (503, false));
    let reason = answer.body["reasons"][0].as_str().unwrap();
    assert!(
        reason.contains("database") && reason.contains("schema 9"),
        "{reason}"
    );
    assert_eq!(get(&failing, "/livez", &[]).await.status, 200);

    // Where reports come in, a pipeline that may not claim is no reason to turn them away.
    let conflict = VersionConflict {
        pipeline: "moderation".to_owned(),
        kind: VersionKind::Classifier,
        version: "moderation-7".to_owned(),
        bound: [9; 32],
    };
    let told = format!("{FILE}: {conflict}");
    assert!(
        told.contains("classifier_version = \"moderation-8\""),
        "{told}"
    );
    let with = |role, conflict: &VersionConflict| {
        router_with(Mood::Fine, role, Versions::Bound(vec![conflict.clone()]))
    };
    let answer = get(&with(Role::All, &conflict), "/readyz", &[]).await;
    assert_eq!(ready(&answer), (200, true));
    assert_eq!(answer.body["warnings"], json!([told]));
    let answer = get(&with(Role::Worker, &conflict), "/readyz", &[]).await;
    assert_eq!(ready(&answer), (503, false));
    assert_eq!(answer.body["reasons"], json!([told]));
}

/// The store has bound both of its versions to something of nines.
#[tokio::test]
async fn a_process_that_binds_nothing_compares_with_what_others_have_bound() {
    let versions = |classifier, schema| {
        Versions::BoundByOthers(vec![PipelineVersions {
            pipeline: "moderation".to_owned(),
            classifier_version: "moderation-7".to_owned(),
            classifier_digest: [classifier; 32],
            schema_version: "moderation-v3".to_owned(),
            schema_digest: [schema; 32],
        }])
    };
    for (classifier, schema, told) in [
        (9, 9, &[][..]),
        (1, 9, &["classifier_version `moderation-7`"]),
        (
            1,
            1,
            &[
                "classifier_version `moderation-7`",
                "schema_version `moderation-v3`",
            ],
        ),
    ] {
        let router = router_with(Mood::Fine, Role::Api, versions(classifier, schema));
        let answer = get(&router, "/readyz", &[]).await;
        assert_eq!(answer.status, 200);
        let warnings = answer.body["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), told.len(), "{warnings:?}");
        for (warning, told) in warnings.iter().zip(told) {
            assert!(warning.as_str().unwrap().contains(told), "{warning}");
        }
    }
    let failing = router_with(Mood::Fails(|| StoreError::Busy), Role::Api, versions(9, 9));
    let answer = get(&failing, "/readyz", &[]).await;
    assert_eq!(answer.status, 503);
    let warning = answer.body["warnings"][0].as_str().unwrap();
    assert!(warning.contains("not known"), "{warning}");
}

#[tokio::test]
async fn a_process_that_ends_is_not_ready() {
    let store: Arc<dyn Store> = Scripted::new(Mood::Fine);
    let health = Arc::new(Health::new(
        Arc::clone(&store),
        Versions::Bound(Vec::new()),
        FILE.as_ref(),
        Role::All,
    ));
    let api = AdminApi::new(store, Vec::new());
    let router = admin_router(api, Secret::new(TOKEN), Arc::clone(&health));
    assert_eq!(get(&router, "/readyz", &[]).await.status, 200);
    health.drain();
    assert_eq!(get(&router, "/readyz", &[]).await.status, 503);
    assert_eq!(get(&router, "/livez", &[]).await.status, 200);
}
