//! Only identity, input and links of a delivery go on. Everything else of it, marked, is looked for
//! in what the edge sends, in the database and in all logs.

use fencepost_tests::{
    ADMIN_TOKEN, Delivery, EDGE_SECRET, GITHUB_SECRET, NOTES_OLD_SECRET, NOTES_SECRET,
    REPORTS_MASTER_SECRET, Setup, Stack, sample,
};
use serde_json::{Map, Value};

/// What of the sample the example configuration names.
const MAPPED: &[&str] = &[
    "/action",
    "/comment/id",
    "/comment/body",
    "/comment/updated_at",
    "/comment/html_url",
    "/repository/owner/id",
];
const TEXT: &str = "text-marker-a81c1f02";
const LINK: &str = "link-marker-a81c1f02";
const SECRETS: [&str; 6] = [
    EDGE_SECRET,
    ADMIN_TOKEN,
    GITHUB_SECRET,
    REPORTS_MASTER_SECRET,
    NOTES_SECRET,
    NOTES_OLD_SECRET,
];

/// Puts a mark in the place of every text and number that isn't mapped, and in a new member of
/// every object.
pub(crate) fn mark(value: &Value, at: &str, mapped: &[&str], marks: &mut Vec<String>) -> Value {
    let mut next = |kind: &str| {
        let mark = format!("canary-{kind}-{:04}-e5b7", marks.len());
        marks.push(mark.clone());
        mark
    };
    match value {
        _ if mapped.contains(&at) => value.clone(),
        Value::String(_) => Value::String(next("text")),
        Value::Number(_) => {
            let number = 771_800_000_000_000 + marks.len() as u64;
            marks.push(number.to_string());
            number.into()
        }
        Value::Object(members) => {
            let added = (next("name"), Value::String(next("added")));
            let members = members.iter().map(|(name, value)| {
                let at = format!("{at}/{name}");
                (name.clone(), mark(value, &at, mapped, marks))
            });
            let mut members: Map<_, _> = members.collect();
            members.extend([added]);
            Value::Object(members)
        }
        Value::Array(values) => {
            let values = values.iter().enumerate();
            values
                .map(|(index, value)| mark(value, &format!("{at}/{index}"), mapped, marks))
                .collect()
        }
        Value::Null | Value::Bool(_) => value.clone(),
    }
}

/// Bytes to look in, as text in lower case: every mark is ASCII.
struct Place {
    name: &'static str,
    text: String,
}

impl Place {
    fn new(name: &'static str, bytes: impl AsRef<[u8]>) -> Self {
        let text = String::from_utf8_lossy(bytes.as_ref()).to_ascii_lowercase();
        Self { name, text }
    }

    fn contains(&self, mark: &str) -> bool {
        self.text.contains(&mark.to_ascii_lowercase())
    }
}

fn payload(marks: &mut Vec<String>) -> Value {
    let mut payload = mark(&sample("issue_comment.created.json"), "", MAPPED, marks);
    payload["comment"]["body"] = TEXT.into();
    payload["comment"]["html_url"] = format!("https://example.org/{LINK}").into();
    payload
}

fn with_marked_headers(delivery: Delivery, marks: &mut Vec<String>) -> Delivery {
    let headers = [
        ("x-github-delivery", "canary-delivery-id-e5b7"),
        ("x-github-hook-id", "canary-hook-id-e5b7"),
        ("x-canary-header-name-e5b7", "canary-header-value-e5b7"),
        ("authorization", "Bearer canary-authorization-e5b7"),
        ("cookie", "session=canary-cookie-e5b7"),
        ("user-agent", "canary-user-agent-e5b7"),
        (
            "traceparent",
            "00-ca4a71e5b7ca4a71e5b7ca4a71e5b7ca-ca4a71e5b7ca4a71-01",
        ),
        ("x-forwarded-for", "203.0.113.77"),
        ("webhook-id", "canary-webhook-id-e5b7"),
    ];
    marks.extend(headers.map(|(_, value)| value.rsplit(['=', ' ']).next().unwrap().to_owned()));
    marks.push("x-canary-header-name-e5b7".to_owned());
    marks.extend(["canary-query-name-e5b7", "canary-query-value-e5b7"].map(str::to_owned));
    let mut delivery = delivery.without("x-github-delivery");
    delivery.path += "?canary-query-name-e5b7=canary-query-value-e5b7";
    headers.iter().fold(delivery, |delivery, (name, value)| {
        delivery.header(name, value)
    })
}

/// Refused and ignored deliveries leave log lines: they carry marks as well.
async fn deliver_what_is_not_taken(stack: &Stack, delivery: &Delivery, marks: &mut Vec<String>) {
    let unsigned = delivery.clone().without("x-hub-signature-256");
    stack
        .deliver(&unsigned)
        .await
        .assert_problem(401, "unauthorized");
    let zeros = format!("sha256={}", "0".repeat(64));
    let wrong = unsigned.header("x-hub-signature-256", &zeros);
    stack
        .deliver(&wrong)
        .await
        .assert_problem(401, "unauthorized");

    let mut ignored = payload(&mut Vec::new());
    ignored["action"] = "canary-action-e5b7".into();
    marks.push("canary-action-e5b7".to_owned());
    let ignored = Delivery::github("github-comments", ignored.to_string());
    let ignored = with_marked_headers(ignored, &mut Vec::new());
    assert_eq!(stack.deliver(&ignored).await.status, 200);

    // Signed and broken: its sender's mistake.
    let half = &delivery.body[..delivery.body.len() / 2];
    let broken = with_marked_headers(Delivery::github("github-comments", half), &mut Vec::new());
    stack
        .deliver(&broken)
        .await
        .assert_problem(400, "invalid_json");

    let path = "/hooks/canary-route-e5b7".to_owned();
    let stranger = Delivery {
        path,
        ..delivery.clone()
    };
    marks.push("canary-route-e5b7".to_owned());
    stack
        .deliver(&stranger)
        .await
        .assert_problem(404, "unknown_source");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_identity_input_and_links_goes_on_or_is_kept() {
    let everything = ("FENCEPOST_LOG", "json,trace".to_owned());
    let environment = vec![everything];
    let mut stack = Stack::with(Setup {
        environment,
        ..Setup::default()
    })
    .await;
    let mut marks = Vec::new();
    let delivery = Delivery::github("github-comments", payload(&mut marks).to_string());
    let mut headers = delivery.headers.iter();
    let signature = headers
        .find(|(name, _)| name == "x-hub-signature-256")
        .unwrap();
    marks.push(signature.1.strip_prefix("sha256=").unwrap().to_owned());
    let delivery = with_marked_headers(delivery, &mut marks);
    stack.deliver(&delivery).await.assert_accepted();
    stack.deliver(&delivery).await.assert_duplicate();
    deliver_what_is_not_taken(&stack, &delivery, &mut marks).await;
    assert!(marks.len() > 150, "{} marks", marks.len());
    stack.settle().await;

    let open = Place::new("the open database", stack.db().bytes());
    stack.stop_backend().await;
    let closed = Place::new("the closed database", stack.db().bytes());
    let wire = Place::new("the wire", stack.wire.bytes());
    let logs = [
        "host.stdout",
        "host.stderr",
        "backend.stdout",
        "backend.stderr",
    ];
    let logs = logs.map(|name| Place::new(name, stack.project.log(name)));
    // What goes on is found where it belongs, so that the search is known to find.
    for allowed in [TEXT, LINK] {
        assert!(wire.contains(allowed), "{allowed} on the wire");
        assert!(closed.contains(allowed), "{allowed} in the database");
        for log in &logs {
            assert!(!log.contains(allowed), "{allowed} in {}", log.name);
        }
    }
    let [_, edge_log, _, backend_log] = &logs;
    assert!(edge_log.text.len() > 200, "the edge has logged");
    assert!(backend_log.text.len() > 2000, "the backend has logged");
    for place in [&open, &closed, &wire].into_iter().chain(&logs) {
        for mark in marks.iter().map(String::as_str).chain(SECRETS) {
            assert!(!place.contains(mark), "{mark} in {}", place.name);
        }
    }
    stack.start_backend().await;
    stack.finish().await;
}
