//! The component's own requests: denied unless listed, else sent over pooled connections.

use crate::log;
use crate::outbound::{AllowedHosts, Target};
use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks, default_send_request};

/// How long each step of a request may take when the component does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The component picks its timeout itself; more than this many are not kept apart.
const CLIENTS: usize = 16;

type Io = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sent = Result<(Response<WasiBody>, Io), Error>;

/// Connections that all instances share, as Spin's do.
///
/// One client for each connect timeout that was asked for, because a client has only one.
#[derive(Default)]
pub struct Clients {
    by_connect_timeout: Mutex<HashMap<Duration, Client<HttpConnector, WasiBody>>>,
}

impl Clients {
    fn with_connect_timeout(&self, timeout: Duration) -> Client<HttpConnector, WasiBody> {
        let mut clients = self
            .by_connect_timeout
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= CLIENTS && !clients.contains_key(&timeout) {
            clients.clear();
        }
        let new = || {
            let mut connector = HttpConnector::new();
            connector.set_connect_timeout(Some(timeout));
            Client::builder(TokioExecutor::new()).build(connector)
        };
        clients.entry(timeout).or_insert_with(new).clone()
    }
}

/// Sends what one instance asks for.
pub(crate) struct Outbound {
    hosts: Arc<AllowedHosts>,
    clients: Arc<Clients>,
}

impl Outbound {
    pub(crate) fn new(hosts: Arc<AllowedHosts>, clients: Arc<Clients>) -> Self {
        Self { hosts, clients }
    }

    fn allows(&self, uri: &Uri) -> bool {
        let target = Target::of(uri);
        let allowed = target
            .as_ref()
            .is_some_and(|target| self.hosts.allow(target));
        if !allowed {
            let target = target.map_or_else(|| "no host".to_owned(), |target| target.to_string());
            log("outbound_denied", &[("target", &target)]);
        }
        allowed
    }
}

impl WasiHttpHooks for Outbound {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _consumed: Io,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        if !self.allows(request.uri()) {
            return Box::new(std::future::ready(Err(Error::HttpRequestDenied)));
        }
        if request.uri().scheme_str() == Some("https") {
            return Box::new(send_encrypted(request, options));
        }
        let connect = options
            .and_then(|o| o.connect_timeout)
            .unwrap_or(DEFAULT_TIMEOUT);
        let client = self.clients.with_connect_timeout(connect);
        Box::new(send(client, request, options))
    }
}

async fn send(
    client: Client<HttpConnector, WasiBody>,
    request: Request<WasiBody>,
    options: Option<RequestOptions>,
) -> Sent {
    let first_byte = options
        .and_then(|o| o.first_byte_timeout)
        .unwrap_or(DEFAULT_TIMEOUT);
    let between_bytes = options
        .and_then(|o| o.between_bytes_timeout)
        .unwrap_or(DEFAULT_TIMEOUT);
    let response = tokio::time::timeout(first_byte, client.request(request))
        .await
        .map_err(|_| Error::ConnectionReadTimeout)?
        .map_err(|error| failure(&error))?;
    let response = response.map(|body| PacedBody::new(body, between_bytes).boxed_unsync());
    Ok((response, Box::new(std::future::ready(Ok(())))))
}

/// TLS takes wasmtime's own way: a connection for each request, and the roots it comes with.
async fn send_encrypted(request: Request<WasiBody>, options: Option<RequestOptions>) -> Sent {
    let (response, io) = default_send_request(request, options).await?;
    Ok((response.map(BodyExt::boxed_unsync), Box::new(io)))
}

/// What the component is told of a failed request.
fn failure(error: &hyper_util::client::legacy::Error) -> Error {
    let mut source = std::error::Error::source(error);
    let mut ended = false;
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            if io.kind() == io::ErrorKind::TimedOut {
                return Error::ConnectionTimeout;
            }
            ended |=
                [io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe].contains(&io.kind());
        }
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            ended |= hyper.is_incomplete_message() || hyper.is_canceled() || hyper.is_closed();
        }
        source = cause.source();
    }
    match (error.is_connect(), ended) {
        (true, _) => Error::ConnectionRefused,
        (false, true) => Error::ConnectionTerminated,
        (false, false) => Error::HttpProtocolError,
    }
}

/// A response's body, given up when the next part is waited for too long.
struct PacedBody {
    body: Incoming,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl PacedBody {
    fn new(body: Incoming, patience: Duration) -> Self {
        Self {
            body,
            patience,
            waiting: None,
        }
    }
}

impl Body for PacedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.waiting = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Error::from)));
        }
        let patience = self.patience;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        waiting
            .as_mut()
            .poll(context)
            .map(|()| Some(Err(Error::ConnectionReadTimeout)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
