//! Every call that there was.

use std::{
    collections::HashMap,
    fs::File,
    io::Write as _,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::sync::watch;

/// A call that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Counted from 1.
    pub sequence: u64,
    /// The header `Idempotency-Key`; empty where it was missing.
    pub call_key: String,
    /// SHA-256 of the body, in hexadecimal digits: equal ones asked the same.
    pub body_sha256: String,
    /// When it came, in milliseconds since 1970.
    pub at_ms: i64,
    /// How it ended, and when; nothing while it is under way.
    pub ended: Option<(Ending, i64)>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// An answer was handed to the connection. Noted just before, so that whoever has an answer
    /// finds this here; whether it arrived, the other side knows.
    Answered {
        /// Its status.
        status: u16,
    },
    /// The script had the connection closed, before or in the middle of an answer.
    Cut,
    /// The other side gave up, was killed, or the server ended.
    Abandoned,
}

/// Which call comes how often.
pub(crate) struct Place {
    pub(crate) sequence: u64,
    pub(crate) seen: u64,
}

#[derive(Debug)]
pub(crate) struct Ledger {
    book: Mutex<Book>,
    /// How many events there were, for those who wait for one.
    events: watch::Sender<u64>,
}

#[derive(Debug)]
struct Book {
    calls: Vec<Call>,
    seen: HashMap<String, u64>,
    file: Option<File>,
}

impl Ledger {
    pub(crate) fn new(file: Option<File>) -> Arc<Self> {
        Arc::new(Self {
            book: Mutex::new(Book {
                calls: Vec::new(),
                seen: HashMap::new(),
                file,
            }),
            events: watch::Sender::new(0),
        })
    }

    /// Where to write events from now on.
    pub(crate) fn record(&self, file: File) {
        self.book.lock().unwrap().file = Some(file);
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.book.lock().unwrap().calls.clone()
    }

    /// The calls, if they are so.
    pub(crate) fn calls_if(&self, so: impl Fn(&[Call]) -> bool) -> Option<Vec<Call>> {
        let book = self.book.lock().unwrap();
        so(&book.calls).then(|| book.calls.clone())
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.events.subscribe()
    }

    pub(crate) fn came(&self, call_key: &str, body_sha256: String) -> Place {
        let mut book = self.book.lock().unwrap();
        let sequence = book.calls.len() as u64 + 1;
        let at_ms = now();
        book.calls.push(Call {
            sequence,
            call_key: call_key.to_owned(),
            body_sha256,
            at_ms,
            ended: None,
        });
        let seen = book.seen.entry(call_key.to_owned()).or_default();
        *seen += 1;
        let seen = *seen;
        book.write(&json!({
            "event": "model_call", "call_key": call_key, "at_ms": at_ms, "answered": false,
        }));
        drop(book);
        self.events.send_modify(|events| *events += 1);
        Place { sequence, seen }
    }

    /// Notes the end of a call, the first that is told.
    pub(crate) fn ended(&self, sequence: u64, ending: Ending) {
        let mut book = self.book.lock().unwrap();
        let at_ms = now();
        let index = usize::try_from(sequence - 1).unwrap();
        let call = book.calls.get_mut(index).unwrap();
        if call.ended.is_some() {
            return;
        }
        call.ended = Some((ending, at_ms));
        let call_key = call.call_key.clone();
        if matches!(ending, Ending::Answered { .. }) {
            book.write(&json!({
                "event": "model_answered", "call_key": call_key, "at_ms": at_ms, "answered": true,
            }));
        }
        drop(book);
        self.events.send_modify(|events| *events += 1);
    }
}

impl Book {
    /// A line in one piece: several writers may share the file.
    fn write(&mut self, event: &Value) {
        if let Some(file) = &mut self.file {
            file.write_all(format!("{event}\n").as_bytes()).unwrap();
        }
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
