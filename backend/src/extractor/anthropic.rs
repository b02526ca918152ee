//! Messages over HTTP, as `Anthropic` has it.
//!
//! The provider knows no idempotency key: a question that is sent twice is answered, and paid for,
//! twice. So nothing here sends it twice.

mod answer;
mod failure;
mod request;

use async_trait::async_trait;
use reqwest::header::HeaderValue;
use rustls::ClientConfig;
use serde_json::Value;

use super::{
    Call, Draft, ExtractError, Extractor, Question, SetupError,
    client::KeyHeader,
    projection::{Dialect, Unprojectable, project},
    provider::{Form, Provider},
    settings::Settings,
};
use crate::{clock::UnixMillis, secret::Secret};

/// The provider that the records of this extractor name.
pub const PROVIDER: &str = "anthropic";
/// Where the provider itself is.
pub const BASE_URL: &str = "https://api.anthropic.com/v1";

/// The interface that is spoken, by the date that is its name.
const VERSION: &str = "2023-06-01";

const FORM: Form = Form {
    provider: PROVIDER,
    request_id: "request-id",
    answer: answer::read,
    said: failure::said,
};

/// How the model is held to the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The provider lets it say nothing else.
    Schema,
    /// It has to call a tool that takes what the schema describes, and may err: for schemas that
    /// the provider finds too complex, and for models that know nothing else.
    Tool,
}

/// What shapes an answer of such an extractor.
#[must_use]
pub fn fingerprint(settings: &Settings, output: Output) -> Value {
    let interface = match output {
        Output::Schema => "messages, schema",
        Output::Tool => "messages, tool",
    };
    settings.fingerprint(PROVIDER, interface)
}

/// Asks a server that speaks Messages.
#[derive(Debug)]
pub struct Anthropic {
    provider: Provider,
    output: Output,
}

impl Anthropic {
    /// The clock is for dates in answers. No connection is made yet.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(
        settings: Settings,
        output: Output,
        key: Option<&Secret>,
        tls: ClientConfig,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, SetupError> {
        let key = key.map(|key| (KeyHeader::Plain("x-api-key"), key));
        let provider = Provider::new(&FORM, settings, "messages", key, tls, clock)?;
        Ok(Self { provider, output })
    }
}

#[async_trait]
impl Extractor for Anthropic {
    fn fingerprint(&self) -> Value {
        fingerprint(&self.provider.settings, self.output)
    }

    fn addressee(&self) -> Call {
        self.provider.addressee()
    }

    fn sent_schema(&self, schema: &Value) -> Result<Option<Value>, Unprojectable> {
        match self.output {
            Output::Schema => project(schema, Dialect::Anthropic).map(Some),
            Output::Tool => Ok(Some(schema.clone())),
        }
    }

    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError> {
        let headers = [("anthropic-version", HeaderValue::from_static(VERSION))];
        let body = request::body(&self.provider.settings, self.output, question);
        self.provider.ask(question, &headers, body).await
    }
}
