//! `send`, to an edge that only counts.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, Uri},
    routing::post,
};
use fencepost_identity::{
    config::Verify,
    signature::{Presented, Request, SigningKey, Verdict},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{
    GITHUB_SECRET, Place,
    verify::{SECRET, project},
};

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

/// What came in: path, headers in their order, body.
type Kept = Arc<Mutex<Vec<(String, Vec<(String, String)>, Bytes)>>>;

async fn keep(State(kept): State<Kept>, uri: Uri, headers: HeaderMap, body: Bytes) -> StatusCode {
    let headers = headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let delivery = (uri.path().to_owned(), headers.collect(), body);
    kept.lock().unwrap().push(delivery);
    StatusCode::ACCEPTED
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_holds_under_every_scheme() {
    let kept = Kept::default();
    let router = Router::new().fallback(keep).with_state(Arc::clone(&kept));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let edge = tokio::spawn(axum::serve(listener, router).into_future());

    let token_in_body = "secrets = [\"k\"]\nverify = { kind = \"token\", signature = { pointer = \
                         \"/token\" } }";
    let square = "verify = { preset = \"square\", url = \"https://edge.test/{tenant}\" }\n\
                  secrets = { derive_from = \"m\" }";
    let place = project(&[
        ("token", "verify = \"gitlab-token\"\nsecrets = [\"k\"]"),
        ("basic", "verify = { kind = \"basic\" }\nsecrets = [\"b\"]"),
        ("body", token_in_body),
        ("square", square),
        ("stripe", "verify = \"stripe\"\nsecrets = [\"k\"]"),
        ("discord", "verify = \"discord\"\nsecrets = [\"d\"]"),
    ])
    .with("SPIN_VARIABLE_K", SECRET)
    .with("SPIN_VARIABLE_M", SECRET)
    .with("SPIN_VARIABLE_B", "user:0123456789:password")
    .with(
        "SPIN_VARIABLE_D",
        "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
    );
    let body = format!("{{\"id\":\"r-1\",\"token\":\"{SECRET}\"}}");
    for (source, tenant) in [
        ("token", None),
        ("basic", None),
        ("body", None),
        ("square", Some("a b")),
        ("stripe", None),
    ] {
        let mut arguments = vec!["send", "--source", source, "--url", &url, "-"];
        arguments.extend(tenant.iter().flat_map(|tenant| ["--tenant", tenant]));
        let sent = place.run_with(&arguments, &body);
        assert_eq!(sent.code, Some(0), "{source}: {sent:?}");
        let (path, headers, body) = kept.lock().unwrap().pop().unwrap();
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let mut arguments = vec!["verify", "--path", &path, "-"];
        arguments.extend(headers.iter().flat_map(|header| ["-H", header]));
        let verified = place.run_with(&arguments, std::str::from_utf8(&body).unwrap());
        assert_eq!(verified.json()["verdict"], "accepted", "{source}");
    }
    let unsigned = place.run_with(&["send", "--source", "discord", "--url", &url, "-"], &body);
    assert_eq!(unsigned.code, Some(1), "{unsigned:?}");
    assert!(unsigned.stderr.contains("key is public"), "{unsigned:?}");

    let form = [
        "--header",
        "content-type: application/x-www-form-urlencoded",
    ];
    let arguments = [
        &["send", "--source", "stripe", "--url", &url, "-"],
        &form[..],
    ]
    .concat();
    assert_eq!(place.run_with(&arguments, &body).code, Some(0));
    let (_, headers, _) = kept.lock().unwrap().pop().unwrap();
    let types = headers.iter().filter(|(name, _)| name == "content-type");
    let types: Vec<_> = types.map(|(_, value)| value.as_str()).collect();
    assert_eq!(types, ["application/x-www-form-urlencoded"]);
    edge.abort();
}
