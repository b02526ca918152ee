//! What stands between edge and backend: keeps an address while backends come and go, records each
//! byte that the edge sends, and can be a backend that is down, silent or strange.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    task::{JoinHandle, JoinSet},
};

use crate::Recorded;

/// What becomes of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is passed on, in both directions.
    Forward(SocketAddr),
    /// It is taken, read, and never answered.
    Silent,
    /// Its request is read and answered with these bytes, then it is closed.
    Answer(Vec<u8>),
    /// It is closed when it comes.
    Hangup,
}

#[derive(Debug)]
struct Shared {
    mode: Mutex<Mode>,
    /// What the edge sent, by connection.
    sent: Mutex<Vec<Vec<u8>>>,
    connections: Mutex<JoinSet<()>>,
}

/// The listener that the edge takes for its backend.
#[derive(Debug)]
pub struct Wire {
    address: SocketAddr,
    /// Keeps the port for this wire while nobody listens on it.
    _reserved: TcpSocket,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Wire {
    /// Listens on a port of its own.
    ///
    /// # Panics
    /// When there is none.
    pub async fn start(mode: Mode) -> Self {
        let reserved = bound("127.0.0.1:0".parse().unwrap());
        let address = reserved.local_addr().unwrap();
        let listener = bound(address).listen(1024).unwrap();
        let shared = Arc::new(Shared {
            mode: Mutex::new(mode),
            sent: Mutex::default(),
            connections: Mutex::default(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self {
            address,
            _reserved: reserved,
            shared,
            accepting: Some(accepting),
        }
    }

    /// What the edge is told of.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on. Connections that there are break: a host may keep them to use them again.
    ///
    /// # Panics
    /// After a panic elsewhere.
    pub async fn set(&self, mode: Mode) {
        *self.shared.mode.lock().unwrap() = mode;
        self.cut().await;
    }

    /// Back when every connection is gone.
    async fn cut(&self) {
        let mut connections = std::mem::take(&mut *self.shared.connections.lock().unwrap());
        connections.shutdown().await;
    }

    /// Stops listening: a connection is refused from now on, and those that there are break.
    pub async fn close(&mut self) {
        if let Some(accepting) = self.accepting.take() {
            accepting.abort();
            drop(accepting.await);
            self.cut().await;
        }
    }

    /// Listens again, on the same port.
    ///
    /// # Panics
    /// When the system does not let it.
    pub fn open(&mut self) {
        let listener = bound(self.address).listen(1024).unwrap();
        self.accepting = Some(tokio::spawn(accept(listener, Arc::clone(&self.shared))));
    }

    /// Every byte that the edge sent, all connections one after the other.
    ///
    /// # Panics
    /// After a panic elsewhere.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.shared.sent.lock().unwrap().concat()
    }

    /// The complete requests among them.
    ///
    /// # Panics
    /// After a panic elsewhere.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        let sent = self.shared.sent.lock().unwrap();
        sent.iter()
            .flat_map(|connection| Recorded::all(connection))
            .collect()
    }
}

/// A socket at an address that others of this wire may share, as Linux has it: who only binds keeps
/// everybody else away from the port, and does not listen.
fn bound(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some(accepting) = &self.accepting {
            accepting.abort();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        let mode = shared.mode.lock().unwrap().clone();
        let connection = {
            let mut sent = shared.sent.lock().unwrap();
            sent.push(Vec::new());
            sent.len() - 1
        };
        let owned = Arc::clone(&shared);
        let serve = async move {
            match mode {
                Mode::Forward(backend) => forward(stream, backend, &owned, connection).await,
                Mode::Silent => record(stream, &owned, connection, None).await,
                Mode::Answer(answer) => record(stream, &owned, connection, Some(answer)).await,
                Mode::Hangup => {}
            }
        };
        let mut connections = shared.connections.lock().unwrap();
        connections.spawn(serve);
        while connections.try_join_next().is_some() {}
    }
}

async fn forward(edge: TcpStream, backend: SocketAddr, shared: &Shared, connection: usize) {
    // A backend that is gone is one that hangs up.
    let Ok(backend) = TcpStream::connect(backend).await else {
        return;
    };
    let (mut from_edge, mut to_edge) = edge.into_split();
    let (mut from_backend, mut to_backend) = backend.into_split();
    let there = async {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = from_edge.read(&mut buffer).await {
            shared.sent.lock().unwrap()[connection].extend_from_slice(&buffer[..read]);
            if to_backend.write_all(&buffer[..read]).await.is_err() {
                return;
            }
        }
    };
    let back = tokio::io::copy(&mut from_backend, &mut to_edge);
    // Whoever goes first takes the other along.
    tokio::select! {
        () = there => {}
        _ = back => {}
    }
}

async fn record(mut edge: TcpStream, shared: &Shared, at: usize, answer: Option<Vec<u8>>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = edge.read(&mut buffer).await {
        let complete = {
            let mut sent = shared.sent.lock().unwrap();
            sent[at].extend_from_slice(&buffer[..read]);
            Recorded::first(&sent[at]).is_some()
        };
        if complete && let Some(answer) = &answer {
            // An edge that has given up is none of the test's failures.
            drop(edge.write_all(answer).await);
            return;
        }
    }
}
