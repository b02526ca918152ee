//! What the host must share with Spin, shown with a component that misbehaves on demand.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod component;
mod conformance;
mod support;

use support::{Host, Upstream, get, probe, send};

use http::{Request, StatusCode};
use std::collections::BTreeMap;

#[tokio::test]
async fn a_trap_fails_every_request_of_its_instance_and_no_other() {
    let mut upstream = Upstream::start().await;
    let host = Host::start(&[("allowed_outbound_hosts", &upstream.allowed())], &[]).await;

    // More than one instance may hold at once, so that there is an instance beside the trapped one.
    let mut answers = Vec::new();
    let mut instances = BTreeMap::<String, Vec<usize>>::new();
    let mut held = Vec::new();
    for number in 0..24 {
        let url = host.url(&format!("/hooks/call?{}/{number}", upstream.url()));
        answers.push(tokio::spawn(get(url)));
        let arrived = upstream.next().await;
        assert_eq!(arrived.path, format!("/{number}"));
        instances
            .entry(arrived.instance.clone())
            .or_default()
            .push(number);
        held.push(arrived);
    }
    assert!(instances.len() >= 2, "{instances:?}");
    assert!(
        instances.values().all(|requests| requests.len() <= 16),
        "{instances:?}"
    );
    let (instance, trapped) = instances
        .iter()
        .max_by_key(|(_, requests)| requests.len())
        .unwrap();
    assert!(trapped.len() >= 2, "no instance is shared: {instances:?}");

    let mut held: Vec<_> = held.into_iter().map(Some).collect();
    held[trapped[0]].take().unwrap().answer("trap");
    let mut answers: Vec<_> = answers.into_iter().map(Some).collect();
    for number in trapped {
        let (status, _) = answers[*number].take().unwrap().await.unwrap();
        assert_eq!(
            status,
            StatusCode::INTERNAL_SERVER_ERROR,
            "request {number}"
        );
    }
    for (answer, held) in answers.into_iter().zip(held) {
        if let (Some(answer), Some(held)) = (answer, held) {
            held.answer("fine");
            assert_eq!(answer.await.unwrap(), (StatusCode::OK, "fine".to_owned()));
        }
    }
    let (status, count) = get(host.url("/hooks/count")).await;
    assert_eq!(status, StatusCode::OK);
    assert_ne!(
        count.split(' ').next(),
        Some(instance.as_str()),
        "it answers again"
    );
}

#[tokio::test]
async fn an_instance_keeps_its_statics_and_answers_128_requests_at_most() {
    let host = Host::start(&[], &[]).await;
    let mut counts = BTreeMap::<String, u32>::new();
    for _ in 0..300 {
        let (status, text) = get(host.url("/hooks/count")).await;
        assert_eq!(status, StatusCode::OK);
        let (instance, count) = text.split_once(' ').unwrap();
        let before = counts
            .insert(instance.to_owned(), count.parse().unwrap())
            .unwrap_or(0);
        assert_eq!(counts[instance], before + 1);
    }
    assert!(counts.values().all(|count| *count <= 128), "{counts:?}");
    assert!(
        counts.values().any(|count| *count > 1),
        "nothing is shared: {counts:?}"
    );
}

#[tokio::test]
async fn only_listed_hosts_are_reached_and_names_are_not_addresses() {
    let mut upstream = Upstream::start().await;
    let host = Host::start(&[("allowed_outbound_hosts", &upstream.allowed())], &[]).await;
    let port = upstream.port();
    for denied in [
        format!("http://localhost:{port}/secret?canary"),
        format!("https://127.0.0.1:{port}/"),
        "http://127.0.0.1/".to_owned(),
    ] {
        let (status, text) = get(host.url(&format!("/hooks/call?{denied}"))).await;
        assert_eq!(
            (status, text.as_str()),
            (StatusCode::BAD_GATEWAY, "ErrorCode::HttpRequestDenied")
        );
    }
    assert!(upstream.nothing_arrived());

    let answer = tokio::spawn(get(host.url(&format!("/hooks/call?{}/", upstream.url()))));
    upstream.next().await.answer("reached");
    assert_eq!(
        answer.await.unwrap(),
        (StatusCode::OK, "reached".to_owned())
    );

    let stderr = host.stop().await;
    assert!(
        stderr.contains(&format!("\"target\":\"http://localhost:{port}\"")),
        "{stderr}"
    );
    assert!(!stderr.contains("canary"), "{stderr}");
}

#[tokio::test]
async fn a_refused_connection_is_told_to_the_component() {
    let upstream = Upstream::start().await;
    let (url, allowed) = (upstream.url(), upstream.allowed());
    let host = Host::start(&[("allowed_outbound_hosts", &allowed)], &[]).await;
    upstream.close().await;
    let (status, text) = get(host.url(&format!("/hooks/call?{url}/"))).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    assert_eq!(text, "ErrorCode::ConnectionRefused");
}

#[tokio::test]
async fn a_required_variable_stops_the_start_and_is_named() {
    let variables = [("variables", r#"{ secret = "{{ secret }}" }"#)];
    let outcome = Host::refused(&variables, "[variables]\nsecret = { required = true }\n").await;
    assert_eq!(outcome.code, Some(2));
    assert_eq!(outcome.stdout, "");
    assert!(
        outcome.stderr.contains("required variable(s) secret"),
        "{}",
        outcome.stderr
    );
}

#[tokio::test]
async fn a_listed_host_with_a_path_stops_the_start() {
    let hosts = [("allowed_outbound_hosts", r#"["http://127.0.0.1:1/v1"]"#)];
    let outcome = Host::refused(&hosts, "").await;
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("has a path"), "{}", outcome.stderr);
}

#[tokio::test]
async fn variables_come_from_the_command_line_the_environment_and_defaults() {
    let values = r#"{ one = "{{ a }}", two = "{{ b }}", three = "<{{ c }}>" }"#;
    let declared = "[variables]\na = { required = true }\nb = { required = true }\n\
                    c = { default = \"default\" }\n";
    let host = Host::with(
        &[("variables", values)],
        declared,
        &["--variable", "a=from=line"],
        &[
            ("SPIN_VARIABLE_A", "unused"),
            ("SPIN_VARIABLE_B", "from environment"),
        ],
    )
    .await;
    for (name, expected) in [
        ("one", "from=line"),
        ("two", "from environment"),
        ("three", "<default>"),
    ] {
        let (status, value) = get(host.url(&format!("/hooks/variable?{name}"))).await;
        assert_eq!((status, value.as_str()), (StatusCode::OK, expected));
    }
    let (status, error) = get(host.url("/hooks/variable?a")).await;
    assert_eq!(
        (status, error.as_str()),
        (StatusCode::NOT_FOUND, "Error::Undefined(\"a\")")
    );
    let (_, error) = get(host.url("/hooks/variable?No")).await;
    assert!(error.starts_with("Error::InvalidName"), "{error}");
}

#[tokio::test]
async fn files_are_where_the_manifest_puts_them_and_cannot_be_written() {
    let files = r#"["spin.toml", { source = "spin.toml", destination = "/etc/config.toml" }]"#;
    let host = Host::start(&[("files", files)], &[]).await;
    for path in ["/spin.toml", "/etc/config.toml"] {
        let (status, text) = get(host.url(&format!("/hooks/file?{path}"))).await;
        assert_eq!(status, StatusCode::OK, "{text}");
        assert!(text.starts_with("spin_manifest_version = 2"));
    }
    let (status, _) = get(host.url("/hooks/file?/etc/passwd")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_request_has_spins_headers_and_an_absolute_uri() {
    let host = Host::start(&[], &[]).await;
    let request = Request::get(host.url("/hooks/echo?a=b"))
        .header("spin-client-addr", "forged")
        .header("connection", "keep-alive")
        .header("x-own", "kept")
        .body(String::new())
        .unwrap();
    let (status, text) = send(request).await;
    assert_eq!(status, StatusCode::OK);
    let lines: Vec<&str> = text.lines().collect();
    let authority = host.authority();
    for expected in [
        format!("GET http://{authority}/hooks/echo?a=b"),
        format!("spin-full-url: http://{authority}/hooks/echo?a=b"),
        "spin-matched-route: /hooks/...".to_owned(),
        "spin-raw-component-route: /hooks/...".to_owned(),
        "spin-component-route: /hooks".to_owned(),
        "spin-path-info: /echo".to_owned(),
        "spin-base-path: /".to_owned(),
        "x-own: kept".to_owned(),
    ] {
        assert!(
            lines.contains(&expected.as_str()),
            "{expected}\nis not in\n{text}"
        );
    }
    let client = lines
        .iter()
        .find(|line| line.starts_with("spin-client-addr: "))
        .unwrap();
    assert!(
        client.starts_with("spin-client-addr: 127.0.0.1:"),
        "{client}"
    );
    assert!(!text.contains("connection:"), "{text}");
}

#[tokio::test]
async fn paths_of_no_route_are_not_the_components() {
    let host = Host::start(&[], &[]).await;
    for path in ["/", "/hooksmith", "/.well-known/spin/other"] {
        assert_eq!(
            get(host.url(path)).await,
            (StatusCode::NOT_FOUND, String::new()),
            "{path}"
        );
    }
    let health = get(host.url("/.well-known/spin/health")).await;
    assert_eq!(health, (StatusCode::OK, "OK".to_owned()));
    assert_eq!(
        get(host.url("/hooks/none")).await.1,
        "the probe has no such path"
    );
}

#[tokio::test]
async fn a_large_body_passes_in_both_directions() {
    let host = Host::start(&[], &[]).await;
    let body = "0123456789abcdef".repeat(200_000);
    let request = Request::post(host.url("/hooks/body"))
        .body(body.clone())
        .unwrap();
    let (status, text) = send(request).await;
    assert_eq!(status, StatusCode::OK);
    assert!(text == body, "{} bytes came back", text.len());
}

#[tokio::test]
async fn requests_in_flight_are_answered_before_the_host_stops() {
    let mut upstream = Upstream::start().await;
    let host = Host::start(&[("allowed_outbound_hosts", &upstream.allowed())], &[]).await;
    let answer = tokio::spawn(get(host.url(&format!("/hooks/call?{}/", upstream.url()))));
    let held = upstream.next().await;
    host.signal("-TERM").await;
    host.refuses_connections().await;
    held.answer("late");
    assert_eq!(answer.await.unwrap(), (StatusCode::OK, "late".to_owned()));
    assert_eq!(host.exit_code().await, Some(0));
}

#[tokio::test]
async fn the_components_log_lines_are_the_hosts() {
    let host = Host::start(&[], &[]).await;
    assert_eq!(get(host.url("/hooks/log?seen")).await.0, StatusCode::OK);
    let stderr = host.stop().await;
    assert_eq!(stderr, "{\"from\":\"the component\",\"text\":\"seen\"}\n");
}

#[test]
fn describe_lists_imports_and_exports_in_order() {
    let output = support::run(&["describe", "--component", probe().to_str().unwrap()]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(lines.is_sorted(), "{lines:?}");
    assert!(
        lines.contains(&"export wasi:http/handler@0.3.0"),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"import spin:variables/variables@3.0.0"),
        "{lines:?}"
    );
}

#[test]
fn a_component_without_our_export_derives_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("identity.json");
    let json = r#"{"tenant":"a","namespace":"b","report_id":"c","version":"event"}"#;
    std::fs::write(&identity, json).unwrap();
    let output = support::run(&[
        "key",
        "--identity",
        identity.to_str().unwrap(),
        "--component",
        probe().to_str().unwrap(),
    ]);
    assert_eq!(output.code, Some(2));
    assert!(
        output.stderr.contains("fencepost:identity/keys"),
        "{}",
        output.stderr
    );
}
