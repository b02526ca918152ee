//! What clients and the model write down: one JSON object a line, in files that only grow.
//!
//! ```text
//! {"event":"ack","key":"<64 hex>","status":202,"at_ms":1}
//! {"event":"model_call","call_key":"<64 hex>","at_ms":2}
//! {"event":"model_answered","call_key":"<64 hex>","at_ms":3}
//! ```
//!
//! Other events and other members are for others. Who writes may be killed in the middle of a line:
//! a last line without an end is not read. Anything else that can't be understood is an error, as a
//! history with holes would be found sound too easily.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use fencepost_identity::key::ReportKey;
use serde_json::{Value, json};

use crate::rows::{Acknowledgement, History, ModelCall};

/// Why a file of records can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file can't be opened, read or written.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A line is none of ours.
    #[error("{}:{line}: {what}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line; the first is 1.
        line: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// What one file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Answers to clients.
    pub acknowledgements: Vec<Acknowledgement>,
    /// Questions that reached the model.
    pub model_calls: Vec<ModelCall>,
    /// Answers of the model.
    pub model_answers: Vec<ModelCall>,
}

impl History {
    /// Adds what a client or the model wrote down.
    pub fn add(&mut self, recorded: Recorded) {
        self.acknowledgements.extend(recorded.acknowledgements);
        self.model_calls.extend(recorded.model_calls);
        self.model_answers.extend(recorded.model_answers);
    }
}

impl Recorded {
    /// Reads a file.
    ///
    /// # Errors
    /// It can't be read, or a line that has an end is not one of ours.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let bytes = std::fs::read(path).map_err(|source| in_file(path, source))?;
        let mut recorded = Self::default();
        let whole = bytes.len() - torn(&bytes);
        let lines = bytes.get(..whole).unwrap_or_default();
        for (index, line) in lines.split_inclusive(|byte| *byte == b'\n').enumerate() {
            recorded.line(line).map_err(|what| RecordError::Line {
                path: path.to_owned(),
                line: index + 1,
                what,
            })?;
        }
        Ok(recorded)
    }

    fn line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let line: Value = serde_json::from_slice(line).map_err(|_| "not JSON")?;
        match text(&line, "event").ok_or("no `event`")? {
            "ack" => {
                let status = line.get("status").and_then(Value::as_u64);
                let status = status.and_then(|status| u16::try_from(status).ok());
                self.acknowledgements.push(Acknowledgement {
                    key: key(&line, "key").ok_or("`key` is no key")?,
                    status: status.ok_or("`status` is no status")?,
                    at_ms: at_ms(&line)?,
                });
            }
            "model_call" => self.model_calls.push(model_call(&line)?),
            "model_answered" => self.model_answers.push(model_call(&line)?),
            _ => {}
        }
        Ok(())
    }
}

fn model_call(line: &Value) -> Result<ModelCall, &'static str> {
    Ok(ModelCall {
        call_key: key(line, "call_key").ok_or("`call_key` is no key")?,
        at_ms: at_ms(line)?,
    })
}

fn text<'a>(line: &'a Value, member: &str) -> Option<&'a str> {
    line.get(member).and_then(Value::as_str)
}

/// Every key is spelled like a report's.
fn key(line: &Value, member: &str) -> Option<String> {
    let key = text(line, member)?.parse::<ReportKey>().ok()?;
    Some(key.to_string())
}

fn at_ms(line: &Value) -> Result<i64, &'static str> {
    let at_ms = line.get("at_ms").and_then(Value::as_i64);
    at_ms.ok_or("`at_ms` is no time")
}

/// How long the line at the end is that has no end.
fn torn(bytes: &[u8]) -> usize {
    let lines = bytes.rsplit(|byte| *byte == b'\n');
    lines.map(<[u8]>::len).next().unwrap_or(0)
}

fn in_file(path: &Path, source: io::Error) -> RecordError {
    RecordError::File {
        path: path.to_owned(),
        source,
    }
}

/// Writes records, each at once and as a whole; threads may share it. A line that an earlier writer
/// left without an end is cut off, so one process at a time may have the file.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: File,
}

impl Recorder {
    /// Opens a file, which is made if it is not there, to write on at its end.
    ///
    /// # Errors
    /// It can't be opened or mended.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let open = || -> io::Result<File> {
            let mut options = OpenOptions::new();
            let mut file = options.read(true).append(true).create(true).open(path)?;
            let mut bytes = Vec::new();
            file.rewind()?;
            file.read_to_end(&mut bytes)?;
            let torn = torn(&bytes);
            if torn > 0 {
                let whole = bytes.len() - torn;
                file.set_len(u64::try_from(whole).map_err(io::Error::other)?)?;
            }
            Ok(file)
        };
        Ok(Self {
            path: path.to_owned(),
            file: open().map_err(|source| in_file(path, source))?,
        })
    }

    /// A client was answered.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn ack(&self, key: &str, status: u16, at_ms: i64) -> Result<(), RecordError> {
        self.write(&json!({ "event": "ack", "key": key, "status": status, "at_ms": at_ms }))
    }

    /// A question reached the model.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn model_call(&self, call_key: &str, at_ms: i64) -> Result<(), RecordError> {
        self.write(&json!({ "event": "model_call", "call_key": call_key, "at_ms": at_ms }))
    }

    /// The model answered.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn model_answered(&self, call_key: &str, at_ms: i64) -> Result<(), RecordError> {
        self.write(&json!({ "event": "model_answered", "call_key": call_key, "at_ms": at_ms }))
    }

    /// One write per line: a file that is appended to takes each whole.
    fn write(&self, record: &Value) -> Result<(), RecordError> {
        let line = format!("{record}\n");
        let mut file = &self.file;
        let written = file.write_all(line.as_bytes());
        written.map_err(|source| in_file(&self.path, source))
    }
}
