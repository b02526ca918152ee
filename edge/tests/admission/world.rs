//! The edge with a world of its own around it: a clock, variables, a backend, a log.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
};

use fencepost_edge::{
    Answer, Delivery, Host, Interrupted, Post, PostError, Reply, VariableUnavailable, handle,
};
use fencepost_identity::{
    config::Sources,
    envelope::{EdgeSecret, Envelope, Seal, open},
};
use futures::executor::block_on;
use serde_json::Value;

use crate::{
    configuration::{CONFIGURATION, EDGE_SECRET, variables, with_hook},
    request::Request,
};

pub(crate) const NOW: u64 = 1_800_000_000;

/// What the backend does with a call.
#[derive(Clone, Copy)]
pub(crate) enum Backend {
    /// Says that this is the first, or a duplicate, or a conflict.
    Stores(u16, &'static str),
    Says(u16, &'static str),
    Fails(PostError),
}

pub(crate) struct World {
    pub(crate) sources: Result<Sources, String>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) backend: Backend,
    pub(crate) now: u64,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(CONFIGURATION, variables())
    }

    pub(crate) fn of(configuration: &str, variables: BTreeMap<String, String>) -> Self {
        Self {
            sources: Sources::parse(configuration).map_err(|errors| errors.to_string()),
            variables,
            backend: Backend::Stores(202, r#""duplicate":false"#),
            now: NOW,
        }
    }

    /// A world whose file has one more source, at `/hooks/hook`.
    #[track_caller]
    pub(crate) fn hook(source: &str) -> Self {
        let world = Self::of(&with_hook(source), variables());
        assert_eq!(world.sources.as_ref().err(), None);
        world
    }

    /// A delivery to `/hooks/hook`, signed as that asks for.
    pub(crate) fn signed(&self, body: impl Into<Vec<u8>>) -> Request {
        self.signed_at("/hooks/hook", body)
    }

    pub(crate) fn signed_at(&self, path: &str, body: impl Into<Vec<u8>>) -> Request {
        let hook = self.sources.as_ref().unwrap().get("hook").unwrap();
        let secret = &self.variables["secret"];
        Request::new(path, body).signed_under(&hook.verify.scheme, secret, self.now)
    }

    pub(crate) fn with(backend: Backend) -> Self {
        Self {
            backend,
            ..Self::new()
        }
    }

    pub(crate) fn at(now: u64) -> Self {
        Self { now, ..Self::new() }
    }

    pub(crate) fn without(mut self, variable: &str) -> Self {
        assert!(self.variables.remove(variable).is_some(), "{variable}");
        self
    }

    pub(crate) fn setting(mut self, variable: &str, value: &str) -> Self {
        self.variables.insert(variable.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn deliver(&self, request: &Request) -> Seen {
        let headers = request.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.as_str(), value.as_slice()))
            .collect();
        let delivery = Delivery {
            method: &request.method,
            path: &request.path,
            query: request.query.as_deref(),
            headers: &headers,
        };
        let mut chunks = request.chunks.clone();
        chunks.reverse();
        let mut host = FakeHost {
            world: self,
            chunks,
            interrupted: request.interrupted,
            taken: 0,
            clock_reads: Cell::default(),
            asked: RefCell::default(),
            posts: RefCell::default(),
            lines: RefCell::default(),
        };
        let answer = block_on(handle(&self.sources, &delivery, &mut host));
        assert_eq!(host.clock_reads.get(), 1, "the clock is read once");
        Seen {
            now: self.now,
            answer,
            asked: host.asked.into_inner(),
            posts: host.posts.into_inner(),
            lines: host.lines.into_inner(),
            taken: host.taken,
        }
    }
}

pub(crate) struct FakeHost<'w> {
    pub(crate) world: &'w World,
    /// Last first.
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) interrupted: bool,
    pub(crate) taken: usize,
    pub(crate) clock_reads: Cell<usize>,
    pub(crate) asked: RefCell<Vec<String>>,
    pub(crate) posts: RefCell<Vec<Post>>,
    pub(crate) lines: RefCell<Vec<String>>,
}

impl Host for FakeHost<'_> {
    fn now(&self) -> u64 {
        self.clock_reads.set(self.clock_reads.get() + 1);
        self.world.now
    }

    async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, Interrupted> {
        match self.chunks.pop() {
            None if self.interrupted => Err(Interrupted),
            chunk => {
                self.taken += chunk.as_ref().map_or(0, Vec::len);
                Ok(chunk)
            }
        }
    }

    async fn variable(&self, name: &str) -> Result<Option<String>, VariableUnavailable> {
        self.asked.borrow_mut().push(name.to_owned());
        match self.world.variables.get(name).map(String::as_str) {
            Some("unavailable") => Err(VariableUnavailable),
            value => Ok(value.map(str::to_owned)),
        }
    }

    async fn post(&self, post: Post) -> Result<Reply, PostError> {
        let key = envelope(&post, self.world.now).identity.report_key();
        self.posts.borrow_mut().push(post);
        match self.world.backend {
            Backend::Stores(status, rest) => {
                let body = format!(r#"{{"report_key":"{key}","state":"accepted",{rest}}}"#);
                Ok(Reply {
                    status,
                    body: body.into_bytes(),
                })
            }
            Backend::Says(status, body) => Ok(Reply {
                status,
                body: body.into(),
            }),
            Backend::Fails(error) => Err(error),
        }
    }

    fn log(&self, line: &str) {
        self.lines.borrow_mut().push(line.to_owned());
    }
}

/// Opens a call as the backend does.
pub(crate) fn envelope(post: &Post, now: u64) -> Envelope {
    let header = |name| {
        let found = post.headers.iter().find(|(header, _)| *header == name);
        found.map_or("", |(_, value)| value.as_str())
    };
    let seal = Seal {
        time: header("fencepost-time"),
        key_id: header("fencepost-key-id"),
        signature: header("fencepost-signature"),
    };
    open(
        &[EdgeSecret::new(EDGE_SECRET).unwrap()],
        seal,
        now,
        post.body.as_bytes(),
    )
    .unwrap()
}

/// What came of a delivery.
pub(crate) struct Seen {
    pub(crate) now: u64,
    pub(crate) answer: Answer,
    pub(crate) asked: Vec<String>,
    pub(crate) posts: Vec<Post>,
    pub(crate) lines: Vec<String>,
    pub(crate) taken: usize,
}

impl Seen {
    pub(crate) fn body(&self) -> Value {
        serde_json::from_str(&self.answer.body).unwrap()
    }

    /// The one line in the log.
    pub(crate) fn line(&self) -> Value {
        assert_eq!(self.lines.len(), 1, "{:?}", self.lines);
        assert!(!self.lines[0].contains('\n'));
        serde_json::from_str(&self.lines[0]).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self
            .answer
            .headers
            .iter()
            .filter(|(header, _)| *header == name);
        found.next().map(|(_, value)| *value)
    }

    #[track_caller]
    pub(crate) fn is_stored(&self) -> Envelope {
        assert_eq!(
            self.answer.status, 202,
            "{:?} {:?}",
            self.answer, self.lines
        );
        assert!(self.lines.is_empty(), "{:?}", self.lines);
        assert_eq!(self.posts.len(), 1);
        envelope(&self.posts[0], self.now)
    }

    /// A handshake's answer, which is no report and says nothing in the log of what was asked.
    #[track_caller]
    pub(crate) fn is_answered(&self, content_type: Option<&str>, body: &str) {
        assert_eq!(self.answer.status, 200, "{:?}", self.lines);
        assert_eq!(self.answer.body, body);
        assert_eq!(self.header("content-type"), content_type);
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        let line = self.line();
        let words = [&line["event"], &line["code"], &line["reason"]];
        assert_eq!(words, ["handshake"; 3]);
        let mut members: Vec<_> = line.as_object().unwrap().keys().collect();
        members.retain(|name| *name != "body_bytes");
        assert_eq!(members, ["event", "time", "source", "code", "reason"]);
        assert!(self.posts.is_empty(), "a handshake is no report");
    }

    #[track_caller]
    pub(crate) fn is_refused(&self, status: u16, code: &str, reason: &str) {
        let line = self.line();
        assert_eq!(
            (line["event"].as_str(), line["code"].as_str()),
            (Some("refused"), Some(code))
        );
        assert_eq!(line["reason"], reason);
        let body = self.body();
        assert_eq!(
            (self.answer.status, body["code"].as_str()),
            (status, Some(code))
        );
        assert_eq!(body["status"], status);
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json")
        );
        assert_eq!(self.header("retry-after").is_some(), status == 503);
        if status != 503 {
            assert!(self.posts.is_empty(), "a refused delivery goes nowhere");
        }
    }
}
