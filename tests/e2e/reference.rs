//! With content by reference, the edge forwards what a report is and nothing of what it says; the
//! backend fetches the rest once.

use fencepost_model::{Content, ContentServer};
use fencepost_tests::{Delivery, Setup, Stack, sample};
use serde_json::{Value, json};

use crate::canaries::mark;

/// What of the sample the source names: for its filter, its identity and its links.
const MAPPED: &[&str] = &[
    "/action",
    "/repository/owner/id",
    "/repository/id",
    "/pull_request/id",
    "/pull_request/base/sha",
    "/pull_request/head/sha",
    "/pull_request/html_url",
    "/pull_request/updated_at",
];
const CONTENT: &str = "content-marker-77c1";
const TOKEN: &str = "token-marker-77c1-0123456789";

fn source(server: &ContentServer) -> String {
    format!(
        r#"
[source.code]
verify = "github"
secrets = ["github_secret"]
sender = "trusted"
pipeline = "moderation"
filter = {{ "/action" = ["opened", "synchronize", "edited"] }}
input = "reference"

[source.code.identity]
tenant = {{ pointer = "/repository/owner/id" }}
namespace = "github-code"
report_id = "/pull_request/id"
version = {{ content = ["/pull_request/head/sha"] }}
order = "/pull_request/updated_at"

[source.code.links]
page = "/pull_request/html_url"
repository = "/repository/id"
base = "/pull_request/base/sha"
head = "/pull_request/head/sha"

[source.code.fetch]
url = "http://{}/repositories/{{link.repository}}/compare/{{link.base}}...{{link.head}}"
allow_private = ["127.0.0.1"]
token_env = "CODE_TOKEN"
"#,
        server.address()
    )
}

async fn stack(server: &ContentServer) -> Stack {
    let mut stack = Stack::prepared(Setup {
        environment: vec![
            ("FENCEPOST_LOG", "json,trace".to_owned()),
            ("CODE_TOKEN", TOKEN.to_owned()),
        ],
        ..Setup::default()
    })
    .await;
    stack.project.extend_config(&source(server));
    stack.stop_host().await;
    stack.start_host().await;
    stack.start_backend().await;
    stack
}

fn delivery(payload: &Value) -> Delivery {
    Delivery::github("code", payload.to_string())
}

fn names(value: &Value) -> Vec<&str> {
    let members = value.as_object().unwrap();
    members.keys().map(String::as_str).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_edge_forwards_identity_key_and_routing_and_nothing_of_the_content() {
    let server = ContentServer::start(|_| Content::Text(CONTENT.to_owned())).await;
    let mut stack = stack(&server).await;
    let mut marks = Vec::new();
    let payload = mark(&sample("pull_request.opened.json"), "", MAPPED, &mut marks);
    assert!(marks.len() > 300, "{} marks", marks.len());
    stack.deliver(&delivery(&payload)).await.assert_accepted();
    stack.settle().await;
    // What is ignored leaves a line in the edge's log.
    let mut ignored = payload.clone();
    ignored["action"] = "closed".into();
    assert_eq!(stack.deliver(&delivery(&ignored)).await.status, 200);

    let request = stack.wire.requests().pop().unwrap();
    let envelope: Value = serde_json::from_slice(&request.body).unwrap();
    let pull = &payload["pull_request"];
    assert_eq!(
        names(&envelope),
        [
            "identity",
            "links",
            "mapping_digest",
            "order",
            "report_key",
            "source"
        ]
    );
    let identity = &envelope["identity"];
    assert_eq!(
        names(identity),
        ["namespace", "report_id", "tenant", "version"]
    );
    let owner = payload["repository"]["owner"]["id"].to_string();
    assert_eq!(identity["tenant"], json!(owner));
    assert_eq!(identity["report_id"], json!(pull["id"].to_string()));
    assert_eq!(names(&identity["version"]), ["content"]);
    assert_eq!(
        envelope["links"],
        json!({
            "page": pull["html_url"],
            "repository": payload["repository"]["id"].to_string(),
            "base": pull["base"]["sha"],
            "head": pull["head"]["sha"],
        })
    );
    assert_eq!(envelope["order"], pull["updated_at"]);
    assert_eq!(envelope["source"], "code");

    stack.stop_backend().await;
    let texts = [
        ("the wire", stack.wire.bytes()),
        ("the edge's log", stack.project.log("host.stderr").into()),
        (
            "the backend's log",
            stack.project.log("backend.stderr").into(),
        ),
        ("the database", stack.db().bytes()),
    ];
    for (place, bytes) in texts {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.is_empty(), "{place}");
        for mark in marks.iter().map(String::as_str).chain([TOKEN]) {
            assert!(!text.contains(mark), "{mark} in {place}");
        }
        let belongs = place == "the database";
        assert_eq!(text.contains(CONTENT), belongs, "the content in {place}");
    }
    stack.start_backend().await;
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_head_is_a_new_version_and_an_edited_title_is_not() {
    let server = ContentServer::start(|request| Content::Text(request.path.clone())).await;
    let stack = stack(&server).await;
    let mut payload = sample("pull_request.opened.json");
    let first = stack.deliver(&delivery(&payload)).await;
    first.assert_accepted();
    for _ in 0..3 {
        stack.deliver(&delivery(&payload)).await.assert_duplicate();
    }
    payload["action"] = "edited".into();
    payload["pull_request"]["title"] = "another title".into();
    let edited = stack.deliver(&delivery(&payload)).await;
    edited.assert_duplicate();
    assert_eq!(edited.key(), first.key());
    stack.settle().await;
    let paths = |requests: usize| {
        let paths = server.requests();
        assert_eq!(paths.len(), requests, "{paths:?}");
        paths.last().unwrap().path.clone()
    };
    let base = &payload["pull_request"]["base"]["sha"];
    let head = &payload["pull_request"]["head"]["sha"];
    let repository = payload["repository"]["id"].to_string();
    let compared = |head: &str| {
        let base = base.as_str().unwrap();
        format!("/repositories/{repository}/compare/{base}...{head}")
    };
    assert_eq!(paths(1), compared(head.as_str().unwrap()));
    let bearer = format!("Bearer {TOKEN}");
    let presented = server.requests();
    assert_eq!(presented[0].header("authorization"), Some(bearer.as_str()));

    let mut moved = payload.clone();
    moved["action"] = "synchronize".into();
    moved["pull_request"]["head"]["sha"] = "feedface".into();
    moved["pull_request"]["updated_at"] = "2099-01-01T00:00:00Z".into();
    let second = stack.deliver(&delivery(&moved)).await;
    second.assert_accepted();
    assert_ne!(second.key(), first.key());
    stack.settle().await;
    assert_eq!(paths(2), compared("feedface"));
    let fetched = "SELECT count(*) FROM report WHERE input_from = 'fetched'";
    assert_eq!(stack.db().number(fetched).await, 2);
    stack.finish().await;
}
