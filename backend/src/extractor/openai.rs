//! Chat Completions over HTTP, as `OpenAI` has it and many servers have it after them.
//!
//! The instructions are fixed; the report stands only in the user message, as data. One question is
//! one request: nothing here tries again, follows a redirect or uses a proxy.

mod answer;
mod failure;
mod request;
mod settings;

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect, retry,
};
use rustls::ClientConfig;
use serde_json::Value;

pub use self::settings::{BaseUrl, Settings};
use super::{Call, Draft, ExtractError, Extractor, Failure, Inference, Question, RequestId, Usage};
use crate::{clock::UnixMillis, secret::Secret};

/// The provider that the records of this extractor name.
pub const PROVIDER: &str = "openai";

/// An answer is a few hundred bytes; what is longer than this is not one.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Why the extractor can't be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The key can't stand in a header. It is not shown.
    #[error("the key holds a character that no header may hold")]
    Key,
    /// The HTTP client can't be made.
    #[error("the HTTP client can't be set up: {0}")]
    Client(#[from] reqwest::Error),
}

/// Asks a server that speaks Chat Completions.
#[derive(Debug)]
pub struct OpenAi {
    settings: Settings,
    endpoint: Url,
    client: Client,
    clock: fn() -> UnixMillis,
}

impl OpenAi {
    /// The clock is for dates in answers. No connection is made yet.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(
        settings: Settings,
        key: Option<&Secret>,
        tls: ClientConfig,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, SetupError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = key {
            headers.insert(reqwest::header::AUTHORIZATION, bearer(key)?);
        }
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(concat!("fencepost/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            // A redirect would carry the report elsewhere, a retry would be a second inference that
            // no attempt counts.
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .build()?;
        let endpoint = settings.base_url.endpoint("chat/completions");
        Ok(Self {
            settings,
            endpoint,
            client,
            clock,
        })
    }

    fn call(&self, request_id: Option<RequestId>) -> Call {
        Call {
            provider: PROVIDER.to_owned(),
            model: self.settings.model.clone(),
            request_id,
            usage: Usage::default(),
        }
    }

    fn failed(&self, failure: Failure) -> ExtractError {
        ExtractError {
            failure,
            call: self.addressee(),
        }
    }

    async fn send(&self, question: &Question<'_>) -> Result<Response, ExtractError> {
        let body = request::body(&self.settings, question)
            .ok_or_else(|| self.failed(Failure::InvalidRequest))?;
        // Servers that know one of these answer a repeated question once, or let it be found.
        let call_key = question.call_key.to_string();
        let request = self
            .client
            .post(self.endpoint.clone())
            .header("idempotency-key", &call_key)
            .header("x-client-request-id", &call_key)
            .body(body);
        request.send().await.map_err(|error| {
            let inference = if error.is_connect() {
                Inference::NotBegun
            } else {
                Inference::MayHaveBegun
            };
            self.failed(Failure::Transport(inference))
        })
    }
}

#[async_trait]
impl Extractor for OpenAi {
    fn fingerprint(&self) -> Value {
        self.settings.fingerprint()
    }

    fn addressee(&self) -> Call {
        self.call(None)
    }

    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError> {
        let response = self.send(question).await?;
        let status = response.status();
        let headers = response.headers().clone();
        let mut call = self.call(request_id(&headers));
        let body = bounded(response).await;
        if status == StatusCode::OK {
            let body = body.ok_or(answer::STRANGE);
            return match body.and_then(|body| answer::read(&body, &mut call)) {
                Ok(text) => Ok(Draft { text, call }),
                Err(failure) => Err(ExtractError { failure, call }),
            };
        }
        let said = failure::Said::read(body.as_deref().unwrap_or_default());
        let now = Timestamp::from_millisecond((self.clock)().get()).unwrap_or_default();
        let failure = failure::classify(status, &said, &headers, now);
        // A message may quote the report, so only a word of our own list tells what was wrong.
        tracing::warn!(
            status = status.as_u16(),
            said = said.known_word(),
            "The provider did not answer: {failure}"
        );
        Err(ExtractError { failure, call })
    }
}

fn bearer(key: &Secret) -> Result<HeaderValue, SetupError> {
    let bytes = [b"Bearer ", key.expose()].concat();
    let mut value = HeaderValue::from_bytes(&bytes).map_err(|_| SetupError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

fn request_id(headers: &HeaderMap) -> Option<RequestId> {
    RequestId::new(headers.get("x-request-id")?.to_str().ok()?)
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
