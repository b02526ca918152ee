//! The signature cases inside the built component, over HTTP.

use crate::support::component;
use bytes::Bytes;
use fencepost_conformance::{Case, Outcome, cases, configurations, generated, toml, variables};
use fencepost_edge_host::instance::{Grants, Loaded};
use fencepost_edge_host::manifest::Manifest;
use fencepost_edge_host::surroundings::{Clock, Stderr};
use fencepost_edge_host::variables::Variables;
use fencepost_edge_host::{pool, serve};
use fencepost_identity::envelope::{EdgeSecret, Seal, open};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;

const EDGE_SECRET: &str = "fp_edge_secret_0123456789abcdef";
/// Any will do; another one damages other bytes.
const SEED: u64 = 2;
const GENERATED: usize = 500;
const LOG_BYTES_MAX: usize = 64 << 20;

/// The component with every configuration, served by this process, and a backend for it.
struct Edge {
    address: SocketAddr,
    clock: Arc<AtomicU64>,
    /// How often the component has asked for the time.
    asked: Arc<AtomicUsize>,
    log: MemoryOutputPipe,
    log_read: usize,
    stored: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
    stop: oneshot::Sender<()>,
    backend: JoinHandle<()>,
    _folder: TempDir,
}

impl Edge {
    async fn start() -> Self {
        let clock = Arc::new(AtomicU64::default());
        let stored = Arc::new(AtomicUsize::default());
        let backend = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let backend_url = format!("http://{}", backend.local_addr().unwrap());
        let backend = tokio::spawn(backend_at(backend, Arc::clone(&clock), Arc::clone(&stored)));

        let configurations = configurations();
        let mut variables = variables(&configurations);
        variables.insert("backend_url".to_owned(), backend_url);
        variables.insert("edge_secret".to_owned(), EDGE_SECRET.to_owned());
        let folder = tempfile::tempdir().unwrap();
        let manifest = manifest(folder.path(), &toml(&configurations), &variables);
        let variables = Variables::resolve(&manifest, &variables, |_| None).unwrap();
        let log = MemoryOutputPipe::new(LOG_BYTES_MAX);
        let asked = Arc::new(AtomicUsize::default());
        let told = {
            let (clock, asked) = (Arc::clone(&clock), Arc::clone(&asked));
            move || {
                asked.fetch_add(1, Ordering::Relaxed);
                clock.load(Ordering::Relaxed)
            }
        };
        let grants = Grants::of(&manifest, variables).unwrap();
        let grants = grants.within(Clock::Told(Arc::new(told)), Stderr::Kept(log.clone()));
        let handler = pool::handler(&Loaded::load(component()).unwrap(), grants).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let stopped = async { stopped.await.unwrap() };
        let serving = serve::serve(listener, handler, manifest.routes, stopped);
        Self {
            address,
            clock,
            asked,
            log,
            log_read: 0,
            stored,
            serving: tokio::spawn(serving),
            stop,
            backend,
            _folder: folder,
        }
    }

    async fn outcome(&mut self, case: &Case) -> Outcome {
        self.clock.store(case.clock, Ordering::Relaxed);
        let before = self.stored.load(Ordering::Relaxed);
        let asked = self.asked.load(Ordering::Relaxed);
        let answer = self.exchange(&request(case)).await;
        let asked = self.asked.load(Ordering::Relaxed) - asked;
        assert_eq!(asked, 1, "{}: the clock is read once", case.name);
        let log = self.log.contents();
        let lines = String::from_utf8(log.slice(self.log_read..).to_vec()).unwrap();
        self.log_read = log.len();
        let (status, headers, body) = read(&answer);
        Outcome {
            status,
            headers,
            body: (case.method != "HEAD").then_some(body),
            forwarded: self.stored.load(Ordering::Relaxed) - before,
            lines: lines.lines().map(str::to_owned).collect(),
        }
    }

    /// Sends these bytes over a connection of their own, and reads until it is closed.
    async fn exchange(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.serving.await.unwrap();
        self.backend.abort();
        assert!(self.backend.await.is_err());
    }
}

/// A manifest as a user's, with these variables alone.
fn manifest(folder: &Path, toml: &str, variables: &BTreeMap<String, String>) -> Manifest {
    std::fs::write(folder.join("fencepost.toml"), toml).unwrap();
    let lines = |value: &dyn Fn(&str) -> String| {
        let lines = variables
            .keys()
            .map(|name| format!("{name} = {}\n", value(name)));
        lines.collect::<String>()
    };
    let text = format!(
        "spin_manifest_version = 2\n[application]\nname = \"conformance\"\n\
         [variables]\n{}\
         [[trigger.http]]\nroute = \"/hooks/...\"\ncomponent = \"edge\"\n\
         [component.edge]\nsource = \"given\"\n\
         files = [{{ source = \"fencepost.toml\", destination = \"/fencepost.toml\" }}]\n\
         allowed_outbound_hosts = [\"{{{{ backend_url }}}}\"]\n\
         [component.edge.variables]\n{}",
        lines(&|_| "{ required = true }".to_owned()),
        lines(&|name| format!("\"{{{{ {name} }}}}\"")),
    );
    let path = folder.join("spin.toml");
    std::fs::write(&path, text).unwrap();
    Manifest::read(&path).unwrap()
}

/// Takes every report that the edge has sealed at the time of the clock, for the first of its kind.
async fn backend_at(listener: TcpListener, clock: Arc<AtomicU64>, stored: Arc<AtomicUsize>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let service = service_fn(|request| store(request, &clock, &stored));
        let connection = hyper::server::conn::http1::Builder::new()
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service);
        drop(connection.await);
    }
}

async fn store(
    request: Request<Incoming>,
    clock: &AtomicU64,
    stored: &AtomicUsize,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let header = |name: &str| {
        let value = parts.headers.get(name).unwrap();
        value.to_str().unwrap().to_owned()
    };
    let [time, key_id, signature] =
        ["fencepost-time", "fencepost-key-id", "fencepost-signature"].map(header);
    let now = clock.load(Ordering::Relaxed);
    assert_eq!(
        time,
        now.to_string(),
        "the component goes by the clock that it is given"
    );
    let seal = Seal {
        time: &time,
        key_id: &key_id,
        signature: &signature,
    };
    let secret = EdgeSecret::new(EDGE_SECRET).unwrap();
    let envelope = open(&[secret], seal, now, &body).unwrap();
    stored.fetch_add(1, Ordering::Relaxed);
    let key = envelope.identity.report_key();
    let answer = format!(r#"{{"report_key":"{key}","state":"accepted","duplicate":false}}"#);
    let mut response = Response::new(Full::from(answer));
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}

/// The case as bytes of HTTP.
fn request(case: &Case) -> Vec<u8> {
    let mut bytes = format!("{} {} HTTP/1.1\r\n", case.method, case.target()).into_bytes();
    let mut header = |name: &str, value: &[u8]| {
        let parts = [name.as_bytes(), b": ", value, b"\r\n"];
        bytes.extend(parts.concat());
    };
    let has = |name: &str| {
        case.headers
            .iter()
            .any(|it| it.name.eq_ignore_ascii_case(name))
    };
    if !has("host") {
        header("Host", b"edge.test");
    }
    for it in &case.headers {
        header(&it.name, &it.value);
    }
    header("Connection", b"close");
    match case.chunks {
        Some(_) => header("Transfer-Encoding", b"chunked"),
        None if has("content-length") => {}
        None => header("Content-Length", case.body.len().to_string().as_bytes()),
    }
    bytes.extend(b"\r\n");
    match case.chunks {
        None => bytes.extend(&case.body),
        Some(_) => {
            // An empty one would be the last.
            for piece in case.pieces().into_iter().filter(|piece| !piece.is_empty()) {
                bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
                bytes.extend(piece);
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\n\r\n");
        }
    }
    bytes
}

/// Status, headers and body of an answer.
fn read(answer: &[u8]) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(answer)));
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_ascii_lowercase(), value.to_owned())
    });
    (
        status.parse().unwrap(),
        headers.collect(),
        answer[end + 4..].to_vec(),
    )
}

/// Whether HTTP carries the case: no header may hold control characters or begin or end with a
/// blank.
fn fits_http(case: &Case) -> bool {
    let carried = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
    case.headers.iter().all(|header| {
        let value = header.value.as_slice();
        value.trim_ascii() == value && value.iter().all(carried)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_signature_case_has_its_outcome_in_the_component_whatever_came_before() {
    let written = cases();
    let damaged = generated(SEED, GENERATED);
    let unsendable = written.iter().chain(&damaged).find(|case| !fits_http(case));
    assert_eq!(unsendable, None, "none is left out");
    // Backwards, each comes after others, in an instance that has seen those.
    let order = written.iter().chain(&damaged).chain(written.iter().rev());
    let mut edge = Edge::start().await;
    let mut found = Vec::new();
    for case in order {
        let outcome = edge.outcome(case).await;
        for difference in outcome.differences(&case.expect) {
            found.push(format!("{}: {difference}", case.name));
        }
    }
    edge.stop().await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}
