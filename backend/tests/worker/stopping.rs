//! How a whole process ends: what it has claimed, what it has asked, and for how long it waits.

use std::{
    fmt::Write as _,
    future::Future as _,
    path::Path,
    pin::pin,
    sync::Arc,
    task::{Context, Waker},
};

use fencepost::{
    app::{App, Listeners},
    config::{Config, Role},
    store::Store,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::{
    rig::{GOOD, Rig},
    store::Failing,
    timer::within,
};

/// A provider whose one connection a test holds.
struct Provider {
    listener: TcpListener,
}

impl Provider {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self { listener }
    }

    /// The next call, whose question has arrived.
    async fn asked(&self) -> TcpStream {
        let (mut connection, _) = within(self.listener.accept()).await.unwrap();
        let mut question = Vec::new();
        while !question.ends_with(b"}") {
            let mut part = [0; 4096];
            let read = within(connection.read(&mut part)).await.unwrap();
            assert!(read > 0, "the question was cut off");
            question.extend(part.iter().take(read));
        }
        connection
    }

    /// Nobody asked.
    async fn was_left_alone(self) {
        let listener = self.listener.into_std().unwrap();
        let error = listener.accept().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
}

async fn answer(connection: &mut TcpStream) {
    let body = json!({
        "choices": [{ "message": { "content": GOOD }, "finish_reason": "stop" }]
    })
    .to_string();
    let mut response = String::from("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n");
    write!(response, "content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    connection.write_all(response.as_bytes()).await.unwrap();
}

/// A worker's configuration; `worker` stands in its table of that name.
async fn config(provider: &Provider, worker: &str) -> Config {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shipped = std::fs::read_to_string(here.join("../fencepost.toml")).unwrap();
    let port = provider.listener.local_addr().unwrap().port();
    let text = shipped
        .replace("backend/", &format!("{}/", here.display()))
        .replace(
            "[extractor.baseline]\nkind = \"baseline\"",
            &format!(
                "[extractor.baseline]\nkind = \"openai\"\nmodel = \"m\"\n\
                 base_url = \"http://127.0.0.1:{port}/v1\"\n[worker]\nconcurrency = 1\n{worker}"
            ),
        );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fencepost.toml");
    std::fs::write(&file, text).unwrap();
    let lookup = |name: &str| match name {
        "FENCEPOST_CONFIG" => Some(file.display().to_string()),
        "FENCEPOST_ADMIN_TOKEN" => Some("0123456789abcdef".to_owned()),
        "FENCEPOST_ADMIN_LISTEN" => Some("127.0.0.1:0".to_owned()),
        _ => None,
    };
    Config::from_lookup(&lookup, Role::Worker).unwrap()
}

async fn start(provider: &Provider, worker: &str, store: Arc<dyn Store>) -> App {
    let config = config(provider, worker).await;
    let listeners = Listeners::bind(&config).await.unwrap();
    App::start(config, store, listeners).await.unwrap()
}

/// Asks for the end, lets `meanwhile` happen, and waits for the end.
async fn stop(app: App, meanwhile: impl AsyncFnOnce()) {
    let mut stopping = pin!(app.stop());
    let begun = stopping
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(begun.is_pending());
    meanwhile().await;
    within(stopping).await;
}

async fn attempts(rig: &Rig, as_expected: &'static str) {
    assert_eq!(rig.number("SELECT count(*) FROM attempt").await, 1);
    assert_eq!(rig.number(as_expected).await, 1, "{as_expected}");
}

#[tokio::test]
async fn what_is_claimed_at_the_end_is_given_back_before_anybody_is_asked() {
    let rig = Rig::new().await;
    rig.ingest("1").await;
    let provider = Provider::new().await;
    let (store, gate) = Failing::at_claims(Arc::clone(&rig.store));
    let app = start(&provider, "", Arc::new(store)).await;
    within(gate.reached.notified()).await;
    stop(app, async || gate.open()).await;
    attempts(
        &rig,
        "SELECT count(*) FROM attempt WHERE outcome = 'released' AND charged = 0",
    )
    .await;
    let waits = "SELECT count(*) FROM job WHERE state = 'accepted' AND lease_until_ms IS NULL";
    assert_eq!(rig.number(waits).await, 1);
    provider.was_left_alone().await;
}

#[tokio::test]
async fn nothing_is_claimed_once_the_end_was_asked_for() {
    let rig = Rig::new().await;
    rig.ingest("1").await;
    rig.ingest("2").await;
    let provider = Provider::new().await;
    let app = start(&provider, "", Arc::clone(&rig.store)).await;
    let mut first = provider.asked().await;
    stop(app, async || answer(&mut first).await).await;
    // The first is answered and committed, the second is not begun.
    attempts(
        &rig,
        "SELECT count(*) FROM attempt WHERE outcome = 'committed'",
    )
    .await;
    provider.was_left_alone().await;
}

#[tokio::test]
async fn a_call_that_outlasts_the_time_for_it_is_given_up_and_counts() {
    let rig = Rig::new().await;
    rig.ingest("1").await;
    let provider = Provider::new().await;
    let app = start(&provider, "drain_seconds = 0\n", Arc::clone(&rig.store)).await;
    let mut call = provider.asked().await;
    stop(app, async || {}).await;
    attempts(
        &rig,
        "SELECT count(*) FROM attempt WHERE outcome = 'released' AND charged = 1",
    )
    .await;
    let mut rest = Vec::new();
    within(call.read_to_end(&mut rest)).await.ok();
    assert!(rest.is_empty(), "the call went on");
}
