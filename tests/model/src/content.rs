//! A server that others fetch from: it answers as a test tells it to, and remembers who asked.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinHandle, JoinSet},
};

use crate::Gate;

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Requested {
    /// Path and query, as they came.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
}

impl Requested {
    /// A header's text, or nothing.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// What comes of a request.
#[derive(Clone, Debug)]
pub enum Content {
    /// This, with status 200.
    Text(String),
    /// An answer of any kind.
    Respond {
        /// Its status.
        status: u16,
        /// Its headers.
        headers: Vec<(&'static str, String)>,
        /// Its body.
        body: Vec<u8>,
    },
    /// What follows, once the gate is open.
    Hold(Gate, Box<Self>),
    /// Bytes without an end.
    Endless,
    /// The beginning of an answer, and nothing more.
    Unfinished(String),
    /// The connection is closed in the middle.
    BreakOff(String),
}

impl Content {
    /// The same, once the gate is open.
    #[must_use]
    pub fn after(self, gate: &Gate) -> Self {
        Self::Hold(gate.clone(), Box::new(self))
    }

    /// An answer with nothing but a status and headers.
    #[must_use]
    pub fn status(status: u16, headers: &[(&'static str, &str)]) -> Self {
        let headers = headers.iter();
        Self::Respond {
            status,
            headers: headers.map(|(n, v)| (*n, (*v).to_owned())).collect(),
            body: Vec::new(),
        }
    }
}

type Script = dyn Fn(&Requested) -> Content + Send + Sync;

/// It runs in the test's own runtime until it is dropped.
#[derive(Debug)]
pub struct ContentServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Requested>>>,
    came: watch::Receiver<usize>,
    serving: JoinHandle<()>,
}

impl ContentServer {
    /// Listens when this returns, on a port that the system chose.
    ///
    /// # Panics
    /// When there is no port.
    pub async fn start(script: impl Fn(&Requested) -> Content + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<_>>>::default();
        let (told, came) = watch::channel(0);
        let shared = Arc::new(Shared {
            script: Box::new(script),
            requests: Arc::clone(&requests),
            told,
        });
        Self {
            address,
            requests,
            came,
            serving: tokio::spawn(serve(listener, shared)),
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request so far.
    ///
    /// # Panics
    /// After a panic elsewhere.
    #[must_use]
    pub fn requests(&self) -> Vec<Requested> {
        self.requests.lock().unwrap().clone()
    }

    /// Comes back when so many requests came.
    ///
    /// # Panics
    /// When the server has ended.
    pub async fn asked(&self, count: usize) {
        let mut came = self.came.clone();
        came.wait_for(|came| *came >= count).await.unwrap();
    }
}

impl Drop for ContentServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

struct Shared {
    script: Box<Script>,
    requests: Arc<Mutex<Vec<Requested>>>,
    told: watch::Sender<usize>,
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        let (connection, _) = listener.accept().await.unwrap();
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(|request| answer(request, &shared));
            let served = http1::Builder::new().serve_connection(TokioIo::new(connection), service);
            // Ends with an error whenever one side hangs up.
            drop(served.await);
        });
    }
}

type Answer = Response<BoxBody<Bytes, io::Error>>;

async fn answer(request: Request<Incoming>, shared: &Shared) -> Result<Answer, Infallible> {
    let path = request.uri().path_and_query();
    let requested = Requested {
        path: path.map(ToString::to_string).unwrap_or_default(),
        headers: request.headers().clone(),
    };
    let mut content = (shared.script)(&requested);
    let count = {
        let mut requests = shared.requests.lock().unwrap();
        requests.push(requested);
        requests.len()
    };
    shared.told.send_replace(count);
    while let Content::Hold(gate, then) = content {
        gate.passed().await;
        content = *then;
    }
    Ok(respond(content))
}

fn respond(content: Content) -> Answer {
    let streamed = |first: String, then| {
        let first = Some(first.into());
        Response::new(Streamed { first, then }.boxed())
    };
    match content {
        Content::Text(text) => Response::new(full(text)),
        Content::Respond {
            status,
            headers,
            body,
        } => {
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            response.body(full(body)).unwrap()
        }
        Content::Endless => streamed(String::new(), Then::More),
        Content::Unfinished(begun) => streamed(begun, Then::Nothing),
        Content::BreakOff(begun) => streamed(begun, Then::Broken),
        Content::Hold(..) => unreachable!("held back until there is something else"),
    }
}

fn full(body: impl Into<Bytes>) -> BoxBody<Bytes, io::Error> {
    let body = Full::new(body.into());
    body.map_err(|never: Infallible| match never {}).boxed()
}

/// A body of which nobody says before how long it is.
struct Streamed {
    first: Option<Bytes>,
    then: Then,
}

#[derive(Clone, Copy)]
enum Then {
    More,
    Nothing,
    Broken,
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(first) = self.first.take() {
            // What there is, is sent before the rest is asked for.
            context.waker().wake_by_ref();
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        match self.then {
            Then::More => Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![b'a'; 4096]))))),
            Then::Nothing => Poll::Pending,
            Then::Broken => Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into()))),
        }
    }
}
