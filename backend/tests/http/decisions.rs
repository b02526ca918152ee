//! What people do over the admin listener, on a database.

use std::{sync::Arc, time::Duration};

use axum::{Router, body::Body, http::Request};
use fencepost::{
    config::Role,
    http::{AdminApi, Health, Judged, Versions, admin_router},
    judge::{Judge, Kind, Rule, Test},
    policy::Policy,
    report::{AttemptOutcome, Nonce, ReviewReason, WorkerId},
    schema::Schema,
    secret::Secret,
    store::{
        AfterRejection, Claim, ClaimRequest, Commit, Commitment, CredentialName, Lease, NewInput,
        NewReport, PipelineTerms, Rejection, SqliteOptions, SqliteStore, Store,
    },
};
use fencepost_identity::{
    identity::{Identity, Namespace, ReportId, Tenant, Version},
    key::{InputHash, MappingDigest, ReportKey},
    pointer::Pointer,
};
use serde_json::{Value, json};

use super::{Answer, FILE, call};

const TOKEN: &str = "admin-canary-0123456789";
const SCHEMA: &str = include_str!("../../schemas/moderation-v3.json");

pub(super) struct Place {
    _folder: tempfile::TempDir,
    pub(super) store: Arc<dyn Store>,
    pub(super) router: Router,
}

impl Place {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fencepost.db");
        let options = SqliteOptions::default();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file, options).await.unwrap());
        let router = router(&store, "moderation-7");
        Self {
            _folder: folder,
            store,
            router,
        }
    }

    /// A report that a worker has a lease of.
    pub(super) async fn granted(&self, id: &str) -> Lease {
        self.granted_about(id, br#"{"text":"text-canary"}"#).await
    }

    async fn granted_about(&self, id: &str, input: &[u8]) -> Lease {
        self.lease(id, Version::Event, None, Some(input)).await
    }

    /// The same, of a version that has a place in an order.
    pub(super) async fn granted_version(
        &self,
        id: &str,
        version: Version,
        order: Option<String>,
    ) -> Lease {
        let input = br#"{"text":"text-canary"}"#;
        self.lease(id, version, order, Some(input)).await
    }

    async fn lease(
        &self,
        id: &str,
        version: Version,
        order: Option<String>,
        input: Option<&[u8]>,
    ) -> Lease {
        let identity = Identity {
            tenant: Tenant::new("acme").unwrap(),
            namespace: Namespace::new("issues").unwrap(),
            report_id: ReportId::new(id).unwrap(),
            version,
        };
        let report = NewReport {
            identity,
            input: input.map(|input| NewInput {
                canonical: input.to_vec(),
                hash: InputHash::from_bytes([1; 32]),
            }),
            links: Vec::new(),
            source: "comments".to_owned(),
            mapping_digest: MappingDigest::from_bytes([1; 32]),
            order,
            pipeline: "moderation".to_owned(),
        };
        self.store.ingest(report).await.unwrap();
        let request = ClaimRequest {
            worker: WorkerId::new("worker"),
            nonce: Nonce::new([1; 16]),
            turns: Arc::default(),
            pipelines: vec![PipelineTerms {
                pipeline: "moderation".to_owned(),
                classifier_version: "moderation-7".to_owned(),
                schema_version: "moderation-v3".to_owned(),
                lease: Duration::from_secs(60),
                max_attempts: 3,
                max_elapsed: Duration::from_secs(600),
                credential: CredentialName::new("OPENAI_API_KEY"),
                fetched_with: std::collections::BTreeMap::new(),
            }],
        };
        let Claim::Granted(grant) = self.store.claim(request).await.unwrap() else {
            unreachable!("nobody else claims")
        };
        grant.lease
    }

    /// A report whose result waits for a person. Its answer was not kept.
    pub(super) async fn in_review(&self, id: &str) -> ReportKey {
        let lease = self.granted(id).await;
        self.doubted(lease).await
    }

    /// The same, of a report about this.
    pub(super) async fn in_review_about(&self, id: &str, input: &Value) -> ReportKey {
        let lease = self.granted_about(id, input.to_string().as_bytes()).await;
        self.doubted(lease).await
    }

    /// A report whose content could not be fetched, so that a person is asked.
    pub(super) async fn unfetched(&self, id: &str) -> ReportKey {
        let lease = self.lease(id, Version::Event, None, None).await;
        let key = lease.report();
        let rejection = Rejection {
            outcome: AttemptOutcome::InvalidRequest,
            reason: None,
            call: None,
            next: AfterRejection::Review(ReviewReason::InvalidRequest.into()),
        };
        self.store.reject(lease, rejection).await.unwrap();
        key
    }

    async fn doubted(&self, lease: Lease) -> ReportKey {
        let key = lease.report();
        let value = Commitment {
            value: value(0.5).to_string(),
            findings: None,
            review: Some(ReviewReason::Policy.into()),
            remark: None,
            call: None,
        };
        let commit = self.store.commit(lease, value).await.unwrap();
        assert!(matches!(commit, Commit::InReview(_)));
        key
    }

    pub(super) async fn decide(&self, key: ReportKey, body: impl ToString) -> Answer {
        let path = format!("/v1/reviews/{key}/decision");
        post(&self.router, &path, body).await
    }

    pub(super) async fn report(&self, key: ReportKey) -> Value {
        get(&self.router, &format!("/v1/reports/{key}")).await.body
    }
}

fn value(confidence: f64) -> Value {
    json!({"category": "spam", "confidence": confidence, "needsHumanReview": false})
}

pub(super) fn router(store: &Arc<dyn Store>, classifier_version: &str) -> Router {
    router_with(store, classifier_version, ("moderation-v3", SCHEMA))
}

/// The router of a process that has this schema under this version.
pub(super) fn router_with(
    store: &Arc<dyn Store>,
    classifier_version: &str,
    (schema_version, schema): (&str, &str),
) -> Router {
    let judge = Judge {
        kind: Kind::Classification,
        schema: Arc::new(Schema::compile(schema.as_bytes()).unwrap()),
        prompt: "Classify it.".to_owned(),
        policy: Policy::default(),
        review_when: vec![Rule {
            pointer: Pointer::new("/confidence").unwrap(),
            test: Test::Below(0.7),
        }],
    };
    router_of(store, classifier_version, schema_version, judge)
}

/// The router of a process that judges by this.
pub(super) fn router_of(
    store: &Arc<dyn Store>,
    classifier_version: &str,
    schema_version: &str,
    judge: Judge,
) -> Router {
    let judged = Judged {
        pipeline: "moderation".to_owned(),
        classifier_version: classifier_version.to_owned(),
        schema_version: schema_version.to_owned(),
        schema_digest: [9; 32],
        judge,
    };
    let versions = Versions::Bound(Vec::new());
    let health = Arc::new(Health::new(
        Arc::clone(store),
        versions,
        FILE.as_ref(),
        Role::All,
    ));
    let api = AdminApi::new(Arc::clone(store), vec![judged]);
    admin_router(api, Secret::new(TOKEN), health)
}

pub(super) async fn get(router: &Router, path: &str) -> Answer {
    let request = Request::get(path).header("authorization", format!("Bearer {TOKEN}"));
    call(router, request.body(Body::empty()).unwrap()).await
}

pub(super) async fn post(router: &Router, path: &str, body: impl ToString) -> Answer {
    let request = Request::post(path)
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("idempotency-key", "one");
    let body = Body::from(body.to_string());
    call(router, request.body(body).unwrap()).await
}

#[tokio::test]
async fn a_decision_names_the_revision_that_it_saw() {
    let place = Place::new().await;
    let key = place.in_review("1").await;
    let page = get(&place.router, "/v1/reviews").await;
    assert_eq!(page.status, 200);
    let item = &page.body["reviews"][0];
    assert_eq!(item["report_key"], key.to_string());
    assert_eq!(item["state"], "ready_for_review");
    assert_eq!(item["review"]["revision"], "1");
    assert_eq!(item["review"]["reason"], "policy");

    let of = |revision: Value| json!({"decision": "accept", "revision": revision, "why": "seen"});
    let stale = place.decide(key, of(json!("2"))).await;
    assert_eq!((stale.status, stale.code()), (409, "stale_revision"));
    assert!(
        stale.body["detail"]
            .as_str()
            .unwrap()
            .contains("revision 1")
    );
    let accepted = place
        .decide(key, of(item["review"]["revision"].clone()))
        .await;
    let document = json!({"report_key": key, "state": "terminal", "outcome": "decided"});
    assert_eq!((accepted.status, &accepted.body), (200, &document));
    let again = place.decide(key, of(json!(1))).await;
    assert_eq!((again.status, again.code()), (409, "not_in_review"));
    assert!(again.body["detail"].as_str().unwrap().ends_with("decided"));
    let page = get(&place.router, "/v1/reviews").await;
    assert_eq!(
        page.body,
        json!({"reviews": [], "unreadable": [], "next": null})
    );
    let unknown = ReportKey::from_bytes([7; 32]);
    let unknown = place.decide(unknown, of(json!("1"))).await;
    assert_eq!((unknown.status, unknown.code()), (404, "unknown_report"));
}

#[tokio::test]
async fn a_corrected_value_fits_the_schema_of_the_pipeline() {
    let place = Place::new().await;
    let key = place.in_review("1").await;
    let correct = |value: &str| {
        format!(r#"{{"decision":"correct","revision":"1","why":"wrong","value":{value}}}"#)
    };
    for (wrong, place_of_schema) in [
        (
            r#"{"category":"canary","confidence":1,"needsHumanReview":true}"#,
            "/category/enum",
        ),
        (
            r#"{"category":"spam","confidence":2,"needsHumanReview":true}"#,
            "/confidence/maximum",
        ),
        ("[]", "/type"),
    ] {
        let answer = place.decide(key, correct(wrong)).await;
        assert_eq!(
            (answer.status, answer.code()),
            (422, "invalid_value"),
            "{wrong}"
        );
        let detail = answer.body["detail"].as_str().unwrap();
        assert!(detail.contains(place_of_schema), "{detail}");
        assert!(!detail.contains("canary"), "{detail}");
    }
    let twice = r#"{"category":"spam","category":"spam","confidence":1,"needsHumanReview":true}"#;
    let answer = place.decide(key, correct(twice)).await;
    assert_eq!((answer.status, answer.code()), (422, "invalid_value"));
    let right = r#"{ "needsHumanReview":false, "confidence":0.250, "category":"other" }"#;
    let answer = place.decide(key, correct(right)).await;
    assert_eq!(
        (answer.status, &answer.body["outcome"]),
        (200, &json!("decided"))
    );
    let result = &place.report(key).await["result"];
    let canonical = json!({"category": "other", "confidence": 0.25, "needsHumanReview": false});
    assert_eq!(result["value"], canonical);
}

#[tokio::test]
async fn what_is_no_decision_is_refused_and_changes_nothing() {
    let place = Place::new().await;
    let key = place.in_review("1").await;
    let before = place.report(key).await;
    for (body, name) in [
        ("", "body"),
        ("[]", "body"),
        (r#"{"decision":"accept","revision":"1"}"#, "body"),
        (r#"{"decision":"burn","revision":"1","why":"x"}"#, "body"),
        (
            r#"{"decision":"accept","revision":"1","why":"x","more":1}"#,
            "body",
        ),
        (
            r#"{"decision":"accept","revision":"1","why":"x","why":"y"}"#,
            "body",
        ),
        (
            r#"{"decision":"accept","revision":"1","why":"x","value":{}}"#,
            "body",
        ),
        (r#"{"decision":"correct","revision":"1","why":"x"}"#, "body"),
        (
            r#"{"decision":"accept","revision":"one","why":"x"}"#,
            "revision",
        ),
        (r#"{"decision":"accept","revision":-1,"why":"x"}"#, "body"),
        (r#"{"decision":"accept","revision":"1","why":" "}"#, "why"),
    ] {
        let answer = place.decide(key, body).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, "bad_parameter"),
            "{body}"
        );
        let detail = answer.body["detail"].as_str().unwrap();
        assert!(
            detail.starts_with(&format!("`{name}` is not")),
            "{body}: {detail}"
        );
    }
    let long = "x".repeat(2 * 1024 * 1024);
    let answer = place.decide(key, long).await;
    assert_eq!((answer.status, answer.code()), (413, "too_large"));
    let answer = post(&place.router, "/v1/reviews/x/decision", "{}").await;
    assert_eq!((answer.status, answer.code()), (400, "bad_parameter"));
    assert_eq!(place.report(key).await, before);
}

#[tokio::test]
async fn who_has_no_token_decides_nothing() {
    let place = Place::new().await;
    let key = place.in_review("1").await;
    let before = place.report(key).await;
    let body = json!({"decision": "dismiss", "revision": "1", "why": "x"}).to_string();
    for path in [
        format!("/v1/reviews/{key}/decision"),
        format!("/v1/reports/{key}/replay"),
    ] {
        let request = Request::post(&path).body(Body::from(body.clone())).unwrap();
        let answer = call(&place.router, request).await;
        assert_eq!(
            (answer.status, answer.code()),
            (401, "unauthorized"),
            "{path}"
        );
    }
    assert_eq!(place.report(key).await, before);
}

#[tokio::test]
async fn reviews_are_paged() {
    let place = Place::new().await;
    for id in ["1", "2", "3"] {
        place.in_review(id).await;
    }
    let first = get(&place.router, "/v1/reviews?limit=2").await;
    assert_eq!(first.body["reviews"].as_array().unwrap().len(), 2);
    let next = first.body["next"].as_str().unwrap();
    let rest = get(&place.router, &format!("/v1/reviews?limit=2&cursor={next}")).await;
    assert_eq!(rest.body["reviews"].as_array().unwrap().len(), 1);
    assert_eq!(rest.body["next"], Value::Null);
    for path in [
        "/v1/reviews?limit=0",
        "/v1/reviews?cursor=x",
        "/v1/reviews?state=open",
    ] {
        let answer = get(&place.router, path).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, "bad_parameter"),
            "{path}"
        );
    }
}
