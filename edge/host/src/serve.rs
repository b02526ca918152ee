//! The HTTP server in front of the component.

use crate::log;
use crate::pool::Handler;
use crate::route::{self, Match, Route};
use http::uri::{Authority, Scheme};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use wasmtime_wasi_http::{Error, WasiBody};

/// How long requests in flight are waited for once the host is told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Where Spin answers by itself.
const WELL_KNOWN: &str = "/.well-known/spin/";

/// What every connection needs.
struct Server {
    handler: Handler,
    routes: Vec<Route>,
}

/// Serves until `stop` is ready, then lets the requests in flight finish.
///
/// As under Spin, `TCP_NODELAY` stays off, and only HTTP/1 is spoken here.
pub async fn serve(
    listener: TcpListener,
    handler: Handler,
    routes: Vec<Route>,
    stop: impl Future<Output = ()>,
) {
    let server = Arc::new(Server { handler, routes });
    let connections = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, client)) => server.spawn(stream, client, &connections),
                // The process is out of descriptors, or the client is gone already.
                Err(error) => {
                    log("accept_failed", &[("error", &error.to_string())]);
                    tokio::task::yield_now().await;
                }
            },
        }
    }
    drop(listener);
    if tokio::time::timeout(GRACE, connections.shutdown())
        .await
        .is_err()
    {
        log("stopped_with_open_requests", &[]);
    }
    server.handler.state().stop();
}

impl Server {
    fn spawn(
        self: &Arc<Self>,
        stream: TcpStream,
        client: SocketAddr,
        connections: &GracefulShutdown,
    ) {
        let server = Arc::clone(self);
        let service = service_fn(move |request| {
            let server = Arc::clone(&server);
            async move { Ok::<_, Infallible>(server.answer(request, client).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            // A connection that breaks is the client's affair, and usual.
            let _ = connection.await;
        });
    }

    async fn answer(&self, request: Request<Incoming>, client: SocketAddr) -> Response<WasiBody> {
        let path = request.uri().path().to_owned();
        if let Some(name) = path.strip_prefix(WELL_KNOWN) {
            return match name {
                "health" => Response::new(text("OK")),
                _ => bare(StatusCode::NOT_FOUND),
            };
        }
        let Some((route, found)) = route::best(&self.routes, &path) else {
            return bare(StatusCode::NOT_FOUND);
        };
        let Some(request) = prepare(request, route, &found, client) else {
            return bare(StatusCode::BAD_REQUEST);
        };
        match self.handler.handle((), request).await {
            Ok(response) => response,
            Err(error) => {
                log("request_failed", &[("error", &error.to_string())]);
                bare(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }
}

/// The request as the component sees it: with an absolute URI and the headers that Spin adds.
///
/// `None` when no host is named, or two different ones are.
fn prepare(
    request: Request<Incoming>,
    route: &Route,
    found: &Match<'_>,
    client: SocketAddr,
) -> Option<Request<WasiBody>> {
    let (mut parts, body) = request.into_parts();
    parts.uri = absolute(&parts.uri, parts.headers.get(header::HOST))?;
    parts.headers.remove(header::CONNECTION);
    let added = [
        ("spin-path-info", found.path_info.to_owned()),
        ("spin-full-url", parts.uri.to_string()),
        ("spin-matched-route", route.written().to_owned()),
        ("spin-base-path", "/".to_owned()),
        ("spin-raw-component-route", route.written().to_owned()),
        ("spin-component-route", route.prefix().to_owned()),
        ("spin-client-addr", client.to_string()),
    ];
    for (name, value) in added {
        // What a client sends under one of these names is replaced, never passed on.
        let value = HeaderValue::try_from(value).ok()?;
        parts.headers.insert(HeaderName::from_static(name), value);
    }
    Some(Request::from_parts(
        parts,
        body.map_err(Error::from).boxed_unsync(),
    ))
}

fn absolute(uri: &Uri, host: Option<&HeaderValue>) -> Option<Uri> {
    let named = match host {
        Some(host) => Some(Authority::try_from(host.as_bytes()).ok()?),
        None => None,
    };
    let mut parts = uri.clone().into_parts();
    parts.authority = match (named, parts.authority.take()) {
        (Some(named), Some(written)) if named != written => return None,
        (Some(one), _) | (None, Some(one)) => Some(one),
        (None, None) => return None,
    };
    parts.scheme = Some(Scheme::HTTP);
    Uri::from_parts(parts).ok()
}

fn bare(status: StatusCode) -> Response<WasiBody> {
    let mut response = Response::new(Empty::new().map_err(Error::from).boxed_unsync());
    *response.status_mut() = status;
    response
}

fn text(body: &'static str) -> WasiBody {
    Full::from(body).map_err(Error::from).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn absolute_of(uri: &str, host: Option<&'static str>) -> Option<String> {
        let host = host.map(HeaderValue::from_static);
        absolute(&uri.parse().unwrap(), host.as_ref()).map(|uri| uri.to_string())
    }

    #[test]
    fn the_uri_becomes_absolute() {
        let expected = Some("http://h:3000/hooks/a?b".to_owned());
        assert_eq!(absolute_of("/hooks/a?b", Some("h:3000")), expected);
        assert_eq!(
            absolute_of("http://h:3000/hooks/a?b", Some("h:3000")),
            expected
        );
        assert_eq!(absolute_of("http://h:3000/hooks/a?b", None), expected);
    }

    #[test]
    fn a_request_names_one_host() {
        assert_eq!(absolute_of("/", None), None);
        assert_eq!(absolute_of("http://one/", Some("two")), None);
        assert_eq!(absolute_of("/", Some("no host")), None);
    }
}
