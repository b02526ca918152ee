//! The listener and its thread.

use std::{
    fmt::Write as _,
    fs::{File, OpenOptions},
    future::{Future, pending},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    pin::Pin,
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use http::{Method, Request};
use http_body_util::BodyExt as _;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use sha2::{Digest as _, Sha256};
use tokio::{sync::oneshot, task::JoinSet, time::timeout};

use crate::{
    Asked, Behaviour, Call, Ending,
    ledger::Ledger,
    wire::{self, Answer, HangUp, Interface, Said},
};

/// Far longer than anything here takes on a slow machine: who reaches it waits in vain.
const DEADLINE: Duration = Duration::from_secs(120);

type Script = dyn Fn(&Asked) -> Behaviour + Send + Sync;

struct Shared {
    script: Box<Script>,
    ledger: Arc<Ledger>,
}

/// A server that runs until it is dropped. Then its connections break, and its port is free.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    ledger: Arc<Ledger>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Listens when this returns, on a port that the system chose. The script is asked what
    /// becomes of each call.
    ///
    /// # Panics
    /// When there is no port.
    #[must_use]
    pub fn start(script: impl Fn(&Asked) -> Behaviour + Send + Sync + 'static) -> Self {
        Self::run(Box::new(script), Ledger::new(None))
    }

    /// Also appends each event to a file, as one line of JSON.
    ///
    /// # Panics
    /// When there is no port, or the file can't be written.
    #[must_use]
    pub fn recording(
        file: &Path,
        script: impl Fn(&Asked) -> Behaviour + Send + Sync + 'static,
    ) -> Self {
        Self::run(Box::new(script), Ledger::new(Some(appended(file))))
    }

    /// Appends each event from now on to this file, as [`ModelServer::recording`] does: for a
    /// folder that is made after the server.
    ///
    /// # Panics
    /// When the file can't be written.
    pub fn record(&self, file: &Path) {
        self.ledger.record(appended(file));
    }

    fn run(script: Box<Script>, ledger: Arc<Ledger>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::new(Shared {
            script,
            ledger: Arc::clone(&ledger),
        });
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(serve(listener, shared, stopped));
        });
        Self {
            address,
            ledger,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// What stands in `base_url`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every call so far, in the order in which they came.
    ///
    /// # Panics
    /// After a panic elsewhere.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.ledger.calls()
    }

    /// Waits until the calls are so, and gives them.
    ///
    /// # Panics
    /// With `what`, when they aren't in two minutes.
    pub async fn wait_until(&self, what: &str, so: impl Fn(&[Call]) -> bool) -> Vec<Call> {
        let mut events = self.ledger.subscribe();
        let waiting = timeout(DEADLINE, async {
            loop {
                events.borrow_and_update();
                if let Some(calls) = self.ledger.calls_if(&so) {
                    return calls;
                }
                // The other end lives as long as this server.
                events.changed().await.unwrap();
            }
        });
        let met = waiting.await;
        met.unwrap_or_else(|_| panic!("waited in vain until {what}: {:?}", self.calls()))
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the script was printed by its own thread.
            drop(thread.join());
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>, mut stopped: oneshot::Receiver<()>) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let mut connections = JoinSet::new();
    loop {
        let connection = tokio::select! {
            accepted = listener.accept() => accepted.unwrap().0,
            Some(_) = connections.join_next() => continue,
            _ = &mut stopped => return,
        };
        connection.set_nodelay(true).unwrap();
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(|request| answer(request, &shared));
            let served = http1::Builder::new().serve_connection(TokioIo::new(connection), service);
            // Ends with an error whenever the script or the other side hangs up.
            drop(served.await);
        });
    }
}

async fn answer(request: Request<Incoming>, shared: &Shared) -> Result<Answer, HangUp> {
    let (head, body) = request.into_parts();
    let interface = Interface::at(head.uri.path());
    let Some(interface) = interface.filter(|_| head.method == Method::POST) else {
        let body = r#"{"error":{"message":"unknown path","type":"invalid_request_error"}}"#;
        return Ok(wire::respond(404, &[], body));
    };
    let body = body.collect().await.map_err(|_| HangUp)?.to_bytes();
    let request = serde_json::from_slice(&body).unwrap_or_default();
    if let Some(refused) = interface.refusal(&head.headers, &request) {
        return Ok(refused);
    }
    let call_key = wire::text(&head.headers, "idempotency-key").to_owned();
    let place = shared.ledger.came(&call_key, digest(&body));
    let end = End {
        ledger: &shared.ledger,
        sequence: place.sequence,
    };
    let asked = Asked {
        sequence: place.sequence,
        call_key,
        seen: place.seen,
        headers: head.headers,
        report: wire::report(&request),
        request,
    };
    let behaviour = (shared.script)(&asked);
    let answer = act(&behaviour, &asked, &interface).await;
    end.is(match &answer {
        Ok(_) if matches!(behaviour, Behaviour::BreakOff) => Ending::Cut,
        Ok(answer) => Ending::Answered {
            status: answer.status().as_u16(),
        },
        Err(HangUp) => Ending::Cut,
    });
    answer
}

/// Notes how a call ended; that it was given up, when this is dropped before.
struct End<'a> {
    ledger: &'a Ledger,
    sequence: u64,
}

impl End<'_> {
    fn is(self, ending: Ending) {
        self.ledger.ended(self.sequence, ending);
    }
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.ledger.ended(self.sequence, Ending::Abandoned);
    }
}

/// Boxed, since what is held back behaves in turn.
fn act<'a>(
    behaviour: &'a Behaviour,
    asked: &'a Asked,
    interface: &'a Interface,
) -> Pin<Box<dyn Future<Output = Result<Answer, HangUp>> + Send + 'a>> {
    let said = |content: &str, reason: Option<&str>| {
        let said = Said {
            content: Some(content),
            refusal: None,
            reason,
        };
        interface.answer(asked.sequence, &asked.request, &said)
    };
    Box::pin(async move {
        Ok(match behaviour {
            Behaviour::Answer(content) => said(&wire::escaped(content), None),
            Behaviour::Escaped(content) => said(content, None),
            Behaviour::Finish { content, reason } => said(&wire::escaped(content), Some(reason)),
            Behaviour::Refuse(refusal) => {
                let said = Said {
                    content: None,
                    refusal: Some(refusal),
                    reason: None,
                };
                interface.answer(asked.sequence, &asked.request, &said)
            }
            Behaviour::Respond {
                status,
                headers,
                body,
            } => wire::respond(*status, headers, body.clone()),
            Behaviour::Hold(gate, then) => {
                gate.passed().await;
                act(then, asked, interface).await?
            }
            Behaviour::Hang => pending().await,
            Behaviour::HangUp => return Err(HangUp),
            Behaviour::BreakOff => wire::broken_off(),
        })
    })
}

fn appended(file: &Path) -> File {
    let file = OpenOptions::new().create(true).append(true).open(file);
    file.unwrap()
}

fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}
