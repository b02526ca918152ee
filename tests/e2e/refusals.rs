//! What is not a well-formed, signed delivery to a known source is refused with its own code: the
//! backend hears nothing of it, nothing is stored, and the edge's log says why, once.

use fencepost_tests::{
    Delivery, GITHUB_SECRET, NOTES_SECRET, Stack, github_signature, now, sample, standard_headers,
};

const MARKER: &str = "refused-body-marker-77c1";

/// A delivery, the answer it gets, and the reason in the log.
struct Case {
    name: &'static str,
    delivery: Delivery,
    status: u16,
    code: &'static str,
    reason: &'static str,
}

fn case(
    name: &'static str,
    delivery: Delivery,
    (status, code, reason): (u16, &'static str, &'static str),
) -> Case {
    Case {
        name,
        delivery,
        status,
        code,
        reason,
    }
}

fn comment() -> String {
    let mut payload = sample("issue_comment.created.json");
    payload["comment"]["body"] = MARKER.into();
    payload.to_string()
}

fn github(body: impl Into<Vec<u8>>) -> Delivery {
    Delivery::github("github-comments", body)
}

const MISMATCH: (u16, &str, &str) = (401, "unauthorized", "signature_mismatch");

fn signatures() -> Vec<Case> {
    let resigned = |signature: &str| {
        github(comment())
            .without("x-hub-signature-256")
            .header("x-hub-signature-256", signature)
    };
    let wrong = github_signature("another-secret-0123456789", comment().as_bytes());
    let right = github_signature(GITHUB_SECRET, comment().as_bytes());
    let mut changed = github(comment());
    let at = changed.body.len() / 2;
    changed.body[at] ^= 1;
    let mut longer = github(comment());
    longer.body.push(b'\n');
    let bad_format = |reason| (400, "bad_signature_format", reason);
    vec![
        case("a wrong signature", resigned(&wrong), MISMATCH),
        case(
            "none",
            github(comment()).without("x-hub-signature-256"),
            (401, "unauthorized", "no_signature"),
        ),
        case("a body changed by one bit", changed, MISMATCH),
        case("a body longer by one byte", longer, MISMATCH),
        case(
            "a signature cut short",
            resigned(right.get(..right.len() - 1).unwrap()),
            bad_format("malformed_signature"),
        ),
        case(
            "a signature without its scheme",
            resigned(right.strip_prefix("sha256=").unwrap()),
            bad_format("malformed_signature"),
        ),
        case(
            "a signature twice",
            github(comment()).header("x-hub-signature-256", &right),
            bad_format("repeated_header"),
        ),
        case(
            "the secret of another source",
            Delivery::standard("/hooks/reports/acme", NOTES_SECRET, note()),
            MISMATCH,
        ),
        case(
            "the secret of another tenant",
            Delivery {
                path: "/hooks/reports/umbrella".into(),
                ..report()
            },
            MISMATCH,
        ),
    ]
}

fn note() -> String {
    serde_json::json!({ "id": "n-1", "text": MARKER }).to_string()
}

fn report() -> Delivery {
    Delivery::report("acme", "r-1", 1, MARKER)
}

fn clocks() -> Vec<Case> {
    let at = |seconds: u64| {
        let headers = standard_headers(NOTES_SECRET, "msg_1", seconds, note().as_bytes());
        let delivery = Delivery::unsigned("/hooks/notes", note());
        headers.iter().fold(delivery, |delivery, (name, value)| {
            delivery.header(name, value)
        })
    };
    let window = (401, "unauthorized", "outside_window");
    let fresh = at(now());
    vec![
        case("signed ten minutes ago", at(now() - 600), window),
        case("signed in ten minutes", at(now() + 600), window),
        case(
            "a time in milliseconds",
            at(now() * 1000),
            (400, "bad_timestamp", "malformed_timestamp"),
        ),
        case(
            "no time",
            fresh.clone().without("webhook-timestamp"),
            (400, "bad_timestamp", "malformed_timestamp"),
        ),
        case(
            "another time than the signed one",
            fresh
                .without("webhook-timestamp")
                .header("webhook-timestamp", &(now() - 30).to_string()),
            MISMATCH,
        ),
    ]
}

fn payloads() -> Vec<Case> {
    let payload_refused = |code: &'static str| (400, code, code);
    let without_id = {
        let mut payload = sample("issue_comment.created.json");
        payload["comment"].as_object_mut().unwrap().remove("id");
        payload.to_string()
    };
    let with_id = |id: serde_json::Value| {
        let mut payload = sample("issue_comment.created.json");
        payload["comment"]["id"] = id;
        payload.to_string()
    };
    let twice = comment().replacen("\"action\"", "\"\\u0061ction\":\"created\",\"action\"", 1);
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    vec![
        case(
            "no id",
            github(without_id),
            payload_refused("missing_field"),
        ),
        case(
            "a null id",
            github(with_id(().into())),
            payload_refused("missing_field"),
        ),
        case(
            "an empty id",
            github(with_id("".into())),
            payload_refused("empty_field"),
        ),
        case(
            "a fraction as id",
            github(with_id(1.5.into())),
            payload_refused("not_an_identifier"),
        ),
        case(
            "a member twice",
            github(twice),
            payload_refused("duplicate_member"),
        ),
        case(
            "no JSON",
            github(&b"{\"action\":"[..]),
            payload_refused("invalid_json"),
        ),
        case(
            "not UTF-8",
            github(&b"{\"a\":\"\xff\"}"[..]),
            payload_refused("invalid_json"),
        ),
        case("nothing", github(&b""[..]), payload_refused("invalid_json")),
        case("too deep", github(deep), payload_refused("invalid_json")),
    ]
}

fn requests() -> Vec<Case> {
    let large = vec![b' '; 2 * 1024 * 1024];
    let too_large = (413, "too_large", "too_large");
    let unknown = (404, "unknown_source", "unknown_source");
    let encoding = "unsupported_content_encoding";
    vec![
        case("two megabytes", github(large.clone()), too_large),
        case(
            "two megabytes in chunks",
            github(large).chunked(),
            too_large,
        ),
        case(
            "one byte over the bound, in chunks",
            github(vec![b' '; 1_048_577]).chunked(),
            too_large,
        ),
        case(
            "an unknown source",
            Delivery::github("nowhere", comment()),
            unknown,
        ),
        case(
            "a tenant where the source has none in its route",
            Delivery::github("github-comments/acme", comment()),
            unknown,
        ),
        case(
            "no tenant where the source needs one",
            Delivery {
                path: "/hooks/reports".into(),
                ..report()
            },
            unknown,
        ),
        case(
            "GET",
            Delivery {
                method: "GET",
                ..github("")
            },
            (405, "method_not_allowed", "method_not_allowed"),
        ),
        case(
            "PUT",
            Delivery {
                method: "PUT",
                ..github(comment())
            },
            (405, "method_not_allowed", "method_not_allowed"),
        ),
        case(
            "compressed",
            github(comment()).header("content-encoding", "gzip"),
            (415, encoding, encoding),
        ),
    ]
}

async fn all_are_refused(cases: Vec<Case>) {
    let stack = Stack::start().await;
    let count = cases.len();
    for (index, case) in cases.into_iter().enumerate() {
        let name = case.name;
        println!("{name}");
        let answer = stack.deliver(&case.delivery).await;
        answer.assert_problem(case.status, case.code);
        let told = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(!told.contains(MARKER), "{name}: {told}");
        let refusals = fencepost_tests::wait_until("the refusal is in the log", async || {
            Some(stack.refusals()).filter(|refusals| refusals.len() > index)
        })
        .await;
        assert_eq!(
            refusals.len(),
            index + 1,
            "{name}: one line each: {refusals:?}"
        );
        let line = &refusals[index];
        assert_eq!(line["code"], case.code, "{name}: {line}");
        assert_eq!(line["reason"], case.reason, "{name}: {line}");
    }
    assert_eq!(stack.refusals().len(), count);
    assert_eq!(stack.db().written().await, 0, "nothing is stored");
    assert_eq!(stack.wire.bytes().len(), 0, "the backend hears nothing");
    let log = stack.project.log("host.stderr");
    for text in [MARKER, GITHUB_SECRET, NOTES_SECRET] {
        assert!(!log.contains(text), "{text} in the log");
    }
    // The same edge takes what is right.
    stack.deliver(&github(comment())).await.assert_accepted();
    stack
        .deliver(&github(comment()).chunked())
        .await
        .assert_duplicate();
    stack.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_signed_by_a_live_secret_is_refused() {
    all_are_refused(signatures()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_signed_at_another_time_is_refused() {
    all_are_refused(clocks()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_payload_that_is_no_report_is_refused() {
    all_are_refused(payloads()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_no_delivery_is_refused() {
    all_are_refused(requests()).await;
}
