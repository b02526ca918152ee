//! The component as Spin runs it: the only file that knows Spin.

use std::{
    io::Write as _,
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use fencepost_identity::config::Sources;
use futures::{
    StreamExt as _,
    future::{Either, select},
    stream::Stream,
};
use spin_sdk::{
    http::{
        FullBody, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri,
        body::IncomingBodyExt as _, send,
    },
    http_service, time, variables,
    wasip3::http::types::ErrorCode,
};

use crate::{
    Answer, Delivery, Host, Interrupted, Post, PostError, Reply, VariableUnavailable, handle,
};

/// Where `spin.toml` mounts the configuration.
const CONFIGURATION: &str = "/fencepost.toml";

/// Parsed once per instance. A mistake is kept like a value: to fail here would fail every other
/// request of the instance.
static SOURCES: OnceLock<Result<Sources, String>> = OnceLock::new();

fn read_sources() -> Result<Sources, String> {
    let text = std::fs::read_to_string(CONFIGURATION)
        .map_err(|error| format!("{CONFIGURATION}: {error}"))?;
    Sources::parse(&text).map_err(|errors| format!("{CONFIGURATION}: {errors}"))
}

#[http_service]
async fn deliver(request: Request) -> Response<FullBody<Bytes>> {
    let (parts, body) = request.into_parts();
    let headers = parts.headers.iter();
    let headers: Vec<_> = headers
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let delivery = Delivery {
        method: parts.method.as_str(),
        path: parts.uri.path(),
        query: parts.uri.query(),
        headers: &headers,
    };
    let mut spin = Spin {
        body: body.stream(),
    };
    respond(handle(SOURCES.get_or_init(read_sources), &delivery, &mut spin).await)
}

/// Without a length every answer would wait for the sender's delayed acknowledgement.
fn respond(answer: Answer) -> Response<FullBody<Bytes>> {
    let length = HeaderValue::from(answer.body.len());
    let mut response = Response::new(FullBody::new(Bytes::from(answer.body)));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("content-length"), length);
    for (name, value) in answer.headers {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    response
}

struct Spin<B> {
    body: B,
}

impl<B: Stream<Item = Result<Bytes, ErrorCode>> + Unpin> Host for Spin<B> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the edge's one clock, read once per delivery"
    )]
    fn now(&self) -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        now.as_ref().map(Duration::as_secs).unwrap_or_default()
    }

    async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, Interrupted> {
        let chunk = self.body.next().await.transpose();
        Ok(chunk.map_err(|_| Interrupted)?.map(Vec::from))
    }

    async fn variable(&self, name: &str) -> Result<Option<String>, VariableUnavailable> {
        match variables::get(name).await {
            Ok(value) => Ok(Some(value)),
            Err(variables::Error::Undefined(_) | variables::Error::InvalidName(_)) => Ok(None),
            Err(variables::Error::Provider(_) | variables::Error::Other(_)) => {
                Err(VariableUnavailable)
            }
        }
    }

    async fn post(&self, post: Post) -> Result<Reply, PostError> {
        let deadline = std::pin::pin!(time::sleep(Duration::from_millis(post.deadline_ms)));
        let exchange = std::pin::pin!(exchange(post));
        match select(exchange, deadline).await {
            Either::Left((reply, _)) => reply,
            Either::Right(((), _)) => Err(PostError::Deadline),
        }
    }

    fn log(&self, line: &str) {
        // `eprintln!` would panic where nobody reads; a line that can't be written is lost.
        let line = format!("{line}\n");
        drop(std::io::stderr().write_all(line.as_bytes()));
    }
}

async fn exchange(post: Post) -> Result<Reply, PostError> {
    let unreachable = |_| PostError::Unreachable;
    let uri: Uri = post.url.parse().map_err(|_| PostError::Unreachable)?;
    let length = HeaderValue::from(post.body.len());
    let mut request = Request::new(FullBody::new(Bytes::from(post.body)));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.insert(HeaderName::from_static("content-length"), length);
    for (name, value) in post.headers {
        let value = HeaderValue::from_str(&value).map_err(|_| PostError::Unreachable)?;
        headers.insert(HeaderName::from_static(name), value);
    }
    let response = match send(request).await {
        Ok(response) => response,
        Err(ErrorCode::HttpRequestDenied) => return Err(PostError::Denied),
        Err(other) => return Err(unreachable(other)),
    };
    let status = response.status().as_u16();
    let mut chunks = response.into_body().stream();
    let mut body = Vec::new();
    while let Some(chunk) = chunks.next().await {
        body.extend_from_slice(&chunk.map_err(unreachable)?);
        if body.len() > Reply::BYTES_MAX {
            body.truncate(Reply::BYTES_MAX);
            break;
        }
    }
    Ok(Reply { status, body })
}
