//! A client that sends what it is told, each request over a connection of its own.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::Recorded;

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON; null where it isn't.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A header's text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The key in an answer that says that a report is stored.
    ///
    /// # Panics
    /// When it says something else.
    #[must_use]
    pub fn key(&self) -> String {
        assert!(matches!(self.status, 200 | 202), "not stored: {self:?}");
        let json = self.json();
        let key = json["report_key"].as_str();
        key.unwrap_or_else(|| panic!("no key: {self:?}")).to_owned()
    }

    /// # Panics
    /// Unless the report was stored just now.
    pub fn assert_accepted(&self) -> String {
        let key = self.key();
        let told = (self.status, self.json()["duplicate"].as_bool());
        assert_eq!(told, (202, Some(false)), "{self:?}");
        key
    }

    /// # Panics
    /// Unless the report was stored before.
    pub fn assert_duplicate(&self) -> String {
        let key = self.key();
        let told = (self.status, self.json()["duplicate"].as_bool());
        assert_eq!(told, (200, Some(true)), "{self:?}");
        key
    }

    /// # Panics
    /// Unless it is a problem document with this status and code, and a 503 says when to try again.
    pub fn assert_problem(&self, status: u16, code: &str) {
        let json = self.json();
        assert_eq!(
            (self.status, json["code"].as_str(), json["status"].as_u64()),
            (status, Some(code), Some(u64::from(status))),
            "{self:?}"
        );
        let kind = self.header("content-type");
        assert_eq!(kind, Some("application/problem+json"), "{self:?}");
        let after = self.header("retry-after").map(str::parse::<u32>);
        match status {
            503 => assert!(matches!(after, Some(Ok(1..))), "no Retry-After: {self:?}"),
            _ => assert_eq!(after, None, "{self:?}"),
        }
    }
}

/// A body in pieces; of known length, or sent in chunks.
#[derive(Debug)]
pub(crate) struct Pieces {
    pub(crate) pieces: VecDeque<Bytes>,
    pub(crate) declared: Option<u64>,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.pieces.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        self.declared
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection(SendRequest<Pieces>);

impl Connection {
    /// Connects to `http://host:port`.
    pub(crate) async fn open(base: &str) -> Self {
        let opened = Self::try_open(base).await;
        opened.unwrap_or_else(|| panic!("nobody listens at {base}"))
    }

    /// The same, unless nobody listens there.
    pub(crate) async fn try_open(base: &str) -> Option<Self> {
        let authority = base.strip_prefix("http://").unwrap();
        let stream = TcpStream::connect(authority).await.ok()?;
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        // Ends with the connection; what breaks it is seen by the request.
        tokio::spawn(connection);
        Some(Self(sender))
    }

    /// Sends one request; the error is a connection that broke.
    pub(crate) async fn send(mut self, request: Request<Pieces>) -> Result<Answer, hyper::Error> {
        let (parts, body) = self.0.send_request(request).await?.into_parts();
        Ok(Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.collect().await?.to_bytes(),
        })
    }
}

/// A request over a connection of its own.
pub(crate) async fn send(base: &str, request: Request<Pieces>) -> Result<Answer, hyper::Error> {
    Connection::open(base).await.send(request).await
}

/// The head of a request with a body of so many bytes, and the answer to that alone.
pub(crate) async fn announce(base: &str, bytes: usize) -> Answer {
    let authority = base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(authority).await.unwrap();
    let head = format!(
        "POST /v1/reports HTTP/1.1\r\nhost: {authority}\r\ncontent-length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        if let Some((answer, _)) = Recorded::first(&received) {
            let status = answer.line.split(' ').nth(1).unwrap().parse().unwrap();
            let mut headers = HeaderMap::new();
            for (name, value) in answer.headers {
                let name: HeaderName = name.parse().unwrap();
                headers.insert(name, value.parse().unwrap());
            }
            return Answer {
                status,
                headers,
                body: answer.body.into(),
            };
        }
        let read = stream.read(&mut buffer).await.unwrap();
        assert!(read > 0, "no answer to a request's head");
        received.extend_from_slice(&buffer[..read]);
    }
}
