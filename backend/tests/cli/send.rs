//! `send`, to an edge that only counts.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    routing::post,
};
use fencepost_identity::{
    config::Verify,
    signature::{Presented, Request, SigningKey, Verdict},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{GITHUB_SECRET, Place};

const BODY: &str = r#"{"action":"created"}"#;

/// The sources that deliveries came for.
type Seen = Arc<Mutex<Vec<String>>>;

/// Answers the first delivery as accepted, the second as refused, all others as duplicates.
async fn hook(
    State(seen): State<Seen>,
    Path(source): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, Json<Value>) {
    let pairs: Vec<_> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let github = Verify::parse("verify = \"github\"").unwrap().scheme;
    let keys = [SigningKey::parse(&github, GITHUB_SECRET).unwrap()];
    let request = Request {
        method: "POST",
        segment: None,
        headers: &pairs,
    };
    let presented = Presented::read(&github, &request).unwrap();
    let verdict = presented.verify(&keys, &body, 0);
    assert!(matches!(verdict, Verdict::Signed(_)), "{verdict:?}");
    assert_eq!(&body[..], BODY.as_bytes());
    assert_eq!(headers["x-github-event"], "issue_comment");
    let mut seen = seen.lock().unwrap();
    seen.push(source);
    let key = "7".repeat(64);
    match seen.len() {
        1 => (
            StatusCode::ACCEPTED,
            Json(json!({"report_key": key, "duplicate": false})),
        ),
        2 => (
            StatusCode::SERVICE_UNAVAILABLE,
            Json(json!({"code": "busy"})),
        ),
        _ => (
            StatusCode::OK,
            Json(json!({"report_key": key, "duplicate": true})),
        ),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_signed_and_their_answers_counted() {
    let seen = Seen::default();
    let router = Router::new()
        .route("/hooks/{source}", post(hook))
        .with_state(Arc::clone(&seen));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let edge = tokio::spawn(axum::serve(listener, router).into_future());

    let send = |url: &str| {
        let arguments = [
            ["send", "--json"],
            ["--source", "github-comments"],
            ["--header", "x-github-event: issue_comment"],
            ["--times", "20"],
            ["--concurrency", "5"],
            ["--url", url],
        ];
        let arguments = [&arguments.concat()[..], &["-"]].concat();
        Place::new().run_with(&arguments, BODY)
    };
    let sent = send(&url);
    assert_eq!(sent.code, Some(1), "one was refused: {sent:?}");
    let expected = json!({
        "deliveries": 20,
        "accepted": 1,
        "duplicates": 18,
        "conflicts": 0,
        "ignored": 0,
        "refused": {"busy": 1},
        "unreached": {},
        "report_keys": ["7".repeat(64)],
    });
    assert_eq!(sent.document(), expected);
    assert_eq!(*seen.lock().unwrap(), ["github-comments"; 20]);
    assert_eq!(send(&url).json()["duplicates"], 20);

    edge.abort();
    assert!(edge.await.unwrap_err().is_cancelled());
    let unreached = send(&url);
    assert_eq!(
        (unreached.code, &unreached.document()["accepted"]),
        (Some(1), &json!(0))
    );
}
