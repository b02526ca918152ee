//! One path for each thing that it does.

#![expect(
    clippy::panic,
    clippy::print_stderr,
    reason = "to fail and to write are what it is asked for"
)]

use spin_sdk::http::body::IncomingBodyExt;
use spin_sdk::http::{self, EmptyBody, FullBody, Request, Response, StatusCode};
use spin_sdk::http_service;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

type Answer = Response<FullBody<bytes::Bytes>>;

/// What tells this instance from every other one.
fn instance() -> u64 {
    static INSTANCE: OnceLock<u64> = OnceLock::new();
    *INSTANCE.get_or_init(|| RandomState::new().build_hasher().finish())
}

#[http_service]
async fn handle(request: Request) -> Answer {
    let argument = request.uri().query().unwrap_or_default().to_owned();
    let path = request.uri().path().to_owned();
    match path.rsplit('/').next().unwrap_or_default() {
        "count" => count(),
        "trap" => panic!("asked to"),
        "call" => call(&argument).await,
        "variable" => variable(&argument).await,
        "file" => file(&argument),
        "echo" => echo(&request),
        "body" => match request.into_body().bytes().await {
            Ok(body) => answer(StatusCode::OK, body),
            Err(code) => answer(StatusCode::BAD_REQUEST, format!("{code:?}")),
        },
        "log" => {
            eprintln!("{{\"from\":\"the component\",\"text\":\"{argument}\"}}");
            answer(StatusCode::OK, "logged")
        }
        _ => answer(StatusCode::NOT_FOUND, "the probe has no such path"),
    }
}

fn answer(status: StatusCode, body: impl Into<bytes::Bytes>) -> Answer {
    let body = body.into();
    let length = body.len();
    let mut response = Response::new(FullBody::new(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert("content-length", length.into());
    response
}

/// Which instance this is, and how often it was asked.
fn count() -> Answer {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    answer(StatusCode::OK, format!("{} {count}", instance()))
}

/// Calls `url`, says which instance is calling, and does what the answer says.
async fn call(url: &str) -> Answer {
    let request = Request::get(url)
        .header("probe-instance", instance().to_string())
        .body(EmptyBody::new());
    let Ok(request) = request else {
        return answer(StatusCode::BAD_REQUEST, "no URL");
    };
    let response = match http::send(request).await {
        Ok(response) => response,
        Err(code) => return answer(StatusCode::BAD_GATEWAY, format!("{code:?}")),
    };
    match response.into_body().bytes().await {
        Ok(body) if &*body == b"trap" => panic!("the answer says so"),
        Ok(body) => answer(StatusCode::OK, body),
        Err(code) => answer(StatusCode::BAD_GATEWAY, format!("{code:?}")),
    }
}

async fn variable(name: &str) -> Answer {
    match spin_sdk::variables::get(name).await {
        Ok(value) => answer(StatusCode::OK, value),
        Err(error) => answer(StatusCode::NOT_FOUND, format!("{error:?}")),
    }
}

fn file(path: &str) -> Answer {
    let write = std::fs::write("/written", "x").is_ok();
    match std::fs::read(path) {
        Ok(_) if write => answer(StatusCode::CONFLICT, "the mount can be written to"),
        Ok(content) => answer(StatusCode::OK, content),
        Err(error) => answer(StatusCode::NOT_FOUND, error.to_string()),
    }
}

/// The request as the component sees it, one `name: value` a line.
fn echo(request: &Request) -> Answer {
    let mut lines = vec![format!("{} {}", request.method(), request.uri())];
    for (name, value) in request.headers() {
        lines.push(format!(
            "{name}: {}",
            String::from_utf8_lossy(value.as_bytes())
        ));
    }
    answer(StatusCode::OK, lines.join("\n"))
}
