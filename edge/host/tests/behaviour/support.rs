//! The host as a process, the probe, and a server that answers when the test says so.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

const BINARY: &str = env!("CARGO_BIN_EXE_fencepost-edge");

/// The probe's file, built on first use unless `FENCEPOST_PROBE` names a built one.
pub(crate) fn probe() -> &'static Path {
    static PROBE: OnceLock<PathBuf> = OnceLock::new();
    PROBE.get_or_init(|| match std::env::var_os("FENCEPOST_PROBE") {
        Some(file) => PathBuf::from(file),
        None => build_probe(),
    })
}

fn build_probe() -> PathBuf {
    build("fencepost-edge-probe", "FENCEPOST_PROBE").join("fencepost_edge_probe.wasm")
}

/// The real component's file, built on first use unless `FENCEPOST_COMPONENT` names a built one.
pub(crate) fn component() -> &'static Path {
    static COMPONENT: OnceLock<PathBuf> = OnceLock::new();
    COMPONENT.get_or_init(|| match std::env::var_os("FENCEPOST_COMPONENT") {
        Some(file) => PathBuf::from(file),
        None => build("fencepost-edge", "FENCEPOST_COMPONENT").join("fencepost_edge.wasm"),
    })
}

/// Builds in a target folder of its own, for the one of the workspace is locked by this very test.
fn build(package: &str, instead: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wasm");
    let status = std::process::Command::new(env!("CARGO"))
        .args([
            "build",
            "--locked",
            "--profile",
            "component",
            "--package",
            package,
            "--target",
            "wasm32-wasip2",
            "--target-dir",
        ])
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "The component cannot be built. `rustup target add wasm32-wasip2` brings its target, \
         `cargo xtask test` works without rustup, and {instead} names a built one."
    );
    target.join("wasm32-wasip2/component")
}

/// What a run of the binary left behind.
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the binary to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    let output = std::process::Command::new(BINARY)
        .args(arguments)
        .env_clear()
        .output()
        .unwrap();
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A running host with the probe in it.
pub(crate) struct Host {
    child: Child,
    base: String,
    _folder: TempDir,
}

impl Host {
    /// A host whose component has these members in the manifest.
    pub(crate) async fn start(component: &[(&str, &str)], arguments: &[&str]) -> Self {
        Self::with(component, "", arguments, &[]).await
    }

    /// A host with more in its manifest, on its command line and in its environment.
    pub(crate) async fn with(
        component: &[(&str, &str)],
        tables: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let (folder, mut command) = command(component, tables);
        command.args(arguments).envs(environment.iter().copied());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .await
            .unwrap();
        let Ok(ready) = serde_json::from_str::<serde_json::Value>(&line) else {
            panic!("the host did not start: {}", rest_of(&mut child).await);
        };
        let base = ready["listening"].as_str().unwrap().to_owned();
        Self {
            child,
            base,
            _folder: folder,
        }
    }

    /// A host that must not start.
    pub(crate) async fn refused(component: &[(&str, &str)], tables: &str) -> Output {
        let (_folder, mut command) = command(component, tables);
        let output = command.output().await.unwrap();
        Output {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(crate) fn authority(&self) -> &str {
        self.base.strip_prefix("http://").unwrap()
    }

    pub(crate) async fn signal(&self, signal: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .await
                .unwrap()
                .success()
        );
    }

    /// Ready once the host takes no more connections.
    pub(crate) async fn refuses_connections(&self) {
        while TcpStream::connect(self.authority()).await.is_ok() {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn exit_code(mut self) -> Option<i32> {
        self.child.wait().await.unwrap().code()
    }

    /// Stops it; what it and the component wrote to stderr.
    pub(crate) async fn stop(mut self) -> String {
        self.signal("-INT").await;
        let stderr = rest_of(&mut self.child).await;
        assert_eq!(self.child.wait().await.unwrap().code(), Some(0), "{stderr}");
        stderr
    }
}

async fn rest_of(child: &mut Child) -> String {
    let mut text = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .await
        .unwrap();
    text
}

fn command(component: &[(&str, &str)], tables: &str) -> (TempDir, Command) {
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = format!(
        "spin_manifest_version = 2\n[application]\nname = \"probe\"\n{tables}\n\
         [[trigger.http]]\nroute = \"/hooks/...\"\ncomponent = \"probe\"\n\
         [component.probe]\nsource = {:?}\n",
        probe().to_str().unwrap()
    );
    for (name, value) in component {
        manifest.push_str(&format!("{name} = {value}\n"));
    }
    let path = folder.path().join("spin.toml");
    std::fs::write(&path, manifest).unwrap();
    let mut command = Command::new(BINARY);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--manifest"])
        .arg(path)
        .env_clear()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    (folder, command)
}

/// A GET over a connection of its own.
pub(crate) async fn get(url: String) -> (StatusCode, String) {
    send(Request::get(url).body(String::new()).unwrap()).await
}

/// Any request over a connection of its own.
pub(crate) async fn send(request: Request<String>) -> (StatusCode, String) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let response = client.request(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// A server that the probe calls; every request waits for the test's answer.
pub(crate) struct Upstream {
    port: u16,
    arrivals: mpsc::UnboundedReceiver<Arrived>,
    accepting: JoinHandle<()>,
}

/// A request of the probe that waits.
pub(crate) struct Arrived {
    pub(crate) path: String,
    /// The instance of the probe that sent it.
    pub(crate) instance: String,
    answer: oneshot::Sender<&'static str>,
}

impl Arrived {
    pub(crate) fn answer(self, body: &'static str) {
        // Of a trapped instance nobody is left to listen.
        let _ = self.answer.send(body);
    }
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (arrive, arrivals) = mpsc::unbounded_channel();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let arrive = arrive.clone();
                let service = service_fn(move |request| hold(request, arrive.clone()));
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async move { drop(connection.await) });
            }
        });
        Self {
            port,
            arrivals,
            accepting,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The manifest's list with this server alone.
    pub(crate) fn allowed(&self) -> String {
        format!("[{:?}]", self.url())
    }

    pub(crate) async fn next(&mut self) -> Arrived {
        self.arrivals.recv().await.unwrap()
    }

    pub(crate) fn nothing_arrived(&mut self) -> bool {
        self.arrivals.try_recv().is_err()
    }

    pub(crate) async fn close(self) {
        self.accepting.abort();
        assert!(self.accepting.await.is_err());
    }
}

async fn hold(
    request: Request<Incoming>,
    arrive: mpsc::UnboundedSender<Arrived>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (answer, answered) = oneshot::channel();
    let instance = request
        .headers()
        .get("probe-instance")
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let path = request.uri().path().to_owned();
    arrive
        .send(Arrived {
            path,
            instance,
            answer,
        })
        .unwrap();
    Ok(Response::new(Full::from(
        answered.await.unwrap_or("nobody answers"),
    )))
}
