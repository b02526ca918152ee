//! The one outbound call, and what its answer means for the sender.

use fencepost_identity::{
    envelope::{
        EdgeSecret, Envelope, HEADER_KEY_ID, HEADER_SIGNATURE, HEADER_TIME, REPORTS_PATH, seal,
    },
    json::{self, Value},
    key::ReportKey,
};

use crate::{
    answer::{Answer, Receipt},
    refusal::{NotStored, Refusal},
};

/// The backend's codes that tell an operator more than `not_stored`, and that a sender may see.
const CODES: [&str; 5] = [
    "busy",
    "input_form_differs",
    "mapping_changed",
    "not_stored",
    "stale_envelope",
];

/// A call to the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Where to.
    pub url: String,
    /// The headers beside `content-length`.
    pub headers: [(&'static str, String); 4],
    /// The envelope, as JSON.
    pub body: String,
    /// How long the whole exchange may take, in milliseconds.
    pub deadline_ms: u64,
}

impl Post {
    pub(crate) fn seal(
        envelope: &Envelope,
        secret: &EdgeSecret,
        backend_url: &str,
        now: u64,
        deadline_ms: u64,
    ) -> Self {
        let body = envelope.to_json();
        let [time, key_id, signature] = seal(secret, now, body.as_bytes());
        let headers = [
            ("content-type", "application/json".to_owned()),
            (HEADER_TIME, time),
            (HEADER_KEY_ID, key_id),
            (HEADER_SIGNATURE, signature),
        ];
        let url = format!("{}{REPORTS_PATH}", backend_url.trim_end_matches('/'));
        Self {
            url,
            headers,
            body,
            deadline_ms,
        }
    }
}

/// The backend's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its body, or the beginning of it where it is longer than [`Reply::BYTES_MAX`].
    pub body: Vec<u8>,
}

impl Reply {
    /// The most bytes of an answer that are looked at; a backend's have a few hundred.
    pub const BYTES_MAX: usize = 16 * 1024;
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// The deadline passed.
    #[error("the backend did not answer in time")]
    Deadline,
    /// No connection, or it broke.
    #[error("the backend could not be reached")]
    Unreachable,
    /// The runtime allows no calls to this address.
    #[error("the backend's address is not among the allowed hosts")]
    Denied,
}

impl From<PostError> for Refusal {
    fn from(error: PostError) -> Self {
        Self::NotStored(match error {
            PostError::Deadline => NotStored::Deadline,
            PostError::Unreachable => NotStored::Unreachable,
            PostError::Denied => NotStored::Denied,
        })
    }
}

/// Reads the backend's answer. Only one that says of this very report that it is stored becomes a
/// success; a refusal of the envelope is never the sender's fault, so it becomes a 503 too.
pub(crate) fn read_reply(reply: &Reply, report_key: &ReportKey) -> Result<Answer, Refusal> {
    let status = reply.status;
    let odd = NotStored::Odd { status };
    let document = json::parse(&reply.body).ok();
    if status != 200 && status != 202 {
        if (200..400).contains(&status) {
            return Err(odd.into());
        }
        let code = document.as_ref().and_then(|document| document.get("code"));
        let code = code.and_then(Value::as_str);
        let code = code.and_then(|code| CODES.into_iter().find(|known| *known == code));
        return Err(NotStored::Refused { status, code }.into());
    }
    let document = document.ok_or(odd)?;
    let key = document.get("report_key").and_then(Value::as_str);
    if key != Some(report_key.to_string().as_str()) {
        return Err(odd.into());
    }
    let state = document
        .get("state")
        .and_then(Value::as_str)
        .filter(|state| is_state(state));
    let receipt = match (status, document.get("duplicate"), document.get("conflict")) {
        (202, Some(Value::Bool(false)), None) => Receipt::First,
        (200, Some(Value::Bool(true)), None | Some(Value::Bool(false))) => Receipt::Again,
        (200, Some(Value::Bool(true)), Some(Value::Bool(true))) => Receipt::AgainOtherwise,
        _ => return Err(odd.into()),
    };
    Ok(Answer::stored(report_key, state.ok_or(odd)?, receipt))
}

fn is_state(state: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    (1..=64).contains(&state.len()) && state.bytes().all(allowed)
}
