//! Chat Completions over HTTP, as `OpenAI` has it and many servers have it after them.
//!
//! The instructions are fixed; the report stands only in the user message, as data. One question is
//! one request: nothing here tries again, follows a redirect or uses a proxy.

mod answer;
mod failure;
mod request;

use async_trait::async_trait;
use rustls::ClientConfig;
use serde_json::Value;

use super::{
    Call, Draft, ExtractError, Extractor, Question, SetupError,
    client::KeyHeader,
    provider::{Form, Provider},
    settings::Settings,
};
use crate::{clock::UnixMillis, secret::Secret};

/// The provider that the records of this extractor name.
pub const PROVIDER: &str = "openai";

const FORM: Form = Form {
    provider: PROVIDER,
    request_id: "x-request-id",
    answer: answer::read,
    failure: failure::read,
};

/// What shapes an answer of such an extractor.
#[must_use]
pub fn fingerprint(settings: &Settings) -> Value {
    settings.fingerprint(PROVIDER, "chat-completions")
}

/// Asks a server that speaks Chat Completions.
#[derive(Debug)]
pub struct OpenAi(Provider);

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
        let key = key.map(|key| (KeyHeader::Bearer, key));
        Provider::new(&FORM, settings, "chat/completions", key, tls, clock).map(Self)
    }
}

#[async_trait]
impl Extractor for OpenAi {
    fn fingerprint(&self) -> Value {
        fingerprint(&self.0.settings)
    }

    fn addressee(&self) -> Call {
        self.0.addressee()
    }

    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError> {
        // A server that knows this header lets a question be found by it.
        let call_key = question.call_key.to_string();
        let headers = [("x-client-request-id", call_key.as_str())];
        let body = request::body(&self.0.settings, question);
        self.0.ask(question, &headers, body).await
    }
}
