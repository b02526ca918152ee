//! What all who are asked over HTTP have in common: one question is one request, and no answer is
//! read without a bound.

use std::{fmt, time::Duration};

use jiff::Timestamp;
use reqwest::{
    Request, Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use rustls::ClientConfig;
use serde_json::Value;

use super::{Failure, Inference, Question, RequestId};
use crate::{clock::UnixMillis, outbound, retry as waits, secret::Secret};

/// An answer is a few hundred bytes; what is longer than this is not one.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Paid for, perhaps, but not the provider's: a gateway's page, or half an answer.
pub(super) const STRANGE: Failure = Failure::Transport(Inference::MayHaveBegun);

/// Why an extractor can't be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The key can't stand in a header. It is not shown.
    #[error("the key holds a character that no header may hold")]
    Key,
    /// The HTTP client can't be made.
    #[error("the HTTP client can't be set up: {0}")]
    Client(#[from] reqwest::Error),
}

/// How a provider wants to be shown the key.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyHeader {
    /// `Authorization: Bearer …`
    Bearer,
    /// The key alone, in a header of the provider's own.
    Plain(&'static str),
}

/// What all requests go out through.
#[derive(Clone)]
pub(super) struct Http {
    client: reqwest::Client,
    clock: fn() -> UnixMillis,
}

/// One place that is asked, with the key in each request.
pub(super) struct Client {
    http: Http,
    endpoint: Url,
}

/// What came back, whatever it says.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Absent when it broke off or was too long.
    pub(super) body: Option<Vec<u8>>,
    at: Timestamp,
}

impl Http {
    /// The clock is for dates in answers. No connection is made yet.
    pub(super) fn new(
        key: Option<(KeyHeader, &Secret)>,
        tls: ClientConfig,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, SetupError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((header, key)) = key {
            let (name, value) = header.with(key)?;
            headers.insert(name, value);
        }
        let client = outbound::client(tls).default_headers(headers).build()?;
        Ok(Self { client, clock })
    }

    /// Sends one request, once.
    ///
    /// # Errors
    /// [`Failure::Transport`], which tells whether anything was sent.
    pub(super) async fn send(&self, request: Request) -> Result<Reply, Failure> {
        let response = self.client.execute(request).await.map_err(|error| {
            Failure::Transport(if error.is_connect() {
                Inference::NotBegun
            } else {
                Inference::MayHaveBegun
            })
        })?;
        Ok(Reply {
            status: response.status(),
            headers: response.headers().clone(),
            body: bounded(response).await,
            at: Timestamp::from_millisecond((self.clock)().get()).unwrap_or_default(),
        })
    }
}

impl Client {
    /// The clock is for dates in answers. No connection is made yet.
    pub(super) fn new(
        endpoint: Url,
        key: Option<(KeyHeader, &Secret)>,
        tls: ClientConfig,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, SetupError> {
        let http = Http::new(key, tls, clock)?;
        Ok(Self { http, endpoint })
    }

    /// Sends one question, once.
    ///
    /// # Errors
    /// [`Failure::Transport`], which tells whether anything was sent.
    pub(super) async fn post(
        &self,
        question: &Question<'_>,
        headers: &[(&'static str, HeaderValue)],
        body: Vec<u8>,
    ) -> Result<Reply, Failure> {
        // Servers that know this header answer a repeated question once.
        let call_key = question.call_key.to_string();
        let mut request = self
            .http
            .client
            .post(self.endpoint.clone())
            .header("idempotency-key", &call_key)
            .body(body);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.build().map_err(|_| Failure::InvalidRequest)?;
        self.http.send(request).await
    }
}

impl fmt::Debug for Http {
    /// Leaves the headers out: the key is among them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

impl fmt::Debug for Client {
    /// Leaves the headers out: the key is among them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.endpoint.as_str())
            .finish_non_exhaustive()
    }
}

impl Reply {
    /// What is said of a failure, as far as it is JSON.
    pub(super) fn said(&self) -> Value {
        let body = self.body.as_deref().unwrap_or_default();
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// The provider's id of the request, from the header that it stands in.
    pub(super) fn request_id(&self, header: &str) -> Option<RequestId> {
        self.header(header).and_then(RequestId::new)
    }

    /// How long the provider asks to wait: the more precise header first.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let precise = self
            .header("retry-after-ms")
            .and_then(waits::retry_after_ms);
        precise.or_else(|| waits::retry_after(self.header("retry-after")?, self.at))
    }

    /// Whether the provider says anything of a time, readable or not.
    pub(super) fn names_a_time(&self) -> bool {
        let names = ["retry-after-ms", "retry-after"];
        names.iter().any(|name| self.headers.contains_key(*name))
    }

    /// A delay in the body, such as `37s`.
    pub(super) fn delay(&self, text: &str) -> Option<Duration> {
        waits::retry_after(text.strip_suffix('s')?, self.at)
    }

    /// Tells in the log that there was no answer. A message may quote the report, so only a word
    /// of our own lists tells what was wrong.
    pub(super) fn log(&self, said: Option<&'static str>, failure: Failure) {
        tracing::warn!(
            status = self.status.as_u16(),
            said,
            "The provider did not answer: {failure}"
        );
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl KeyHeader {
    pub(super) fn with(self, key: &Secret) -> Result<(HeaderName, HeaderValue), SetupError> {
        let (name, bytes) = match self {
            Self::Bearer => (
                reqwest::header::AUTHORIZATION,
                [b"Bearer ", key.expose()].concat(),
            ),
            Self::Plain(name) => (HeaderName::from_static(name), key.expose().to_vec()),
        };
        let mut value = HeaderValue::from_bytes(&bytes).map_err(|_| SetupError::Key)?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}

/// The body, unless it breaks off or is too long.
async fn bounded(mut response: Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Reply {
        /// As if it had come, for tests of what is made of it.
        pub(in super::super) fn of(status: u16, body: &str) -> Self {
            Self {
                status: StatusCode::from_u16(status).unwrap(),
                headers: HeaderMap::new(),
                body: Some(body.as_bytes().to_vec()),
                at: Timestamp::UNIX_EPOCH,
            }
        }
    }

    #[test]
    fn a_delay_in_a_body_is_seconds_or_none() {
        let reply = Reply::of(429, "");
        for (text, milliseconds) in [
            ("37s", Some(37_000)),
            ("1.5s", Some(1_500)),
            ("0s", None),
            ("-3s", None),
            ("37", None),
            ("37ms", None),
            ("soons", None),
            ("s", None),
            ("", None),
        ] {
            let delay = milliseconds.map(Duration::from_millis);
            assert_eq!(reply.delay(text), delay, "{text}");
        }
    }
}
