//! `generateContent` over HTTP, as the Gemini API has it, with an API key. Vertex AI has the same
//! with tokens.

mod answer;
mod failure;
mod request;
#[cfg(feature = "vertex")]
pub mod vertex;

use async_trait::async_trait;
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
pub const PROVIDER: &str = "gemini";
/// Where the provider itself is.
pub const BASE_URL: &str = "https://generativelanguage.googleapis.com/v1beta";

const FORM: Form = Form {
    provider: PROVIDER,
    // The provider's own id stands in an answer's body; a gateway before it may have one.
    request_id: "x-request-id",
    answer: answer::read,
    said: failure::said,
};

/// What shapes an answer of such an extractor.
#[must_use]
pub fn fingerprint(settings: &Settings) -> Value {
    settings.fingerprint(PROVIDER, "generate-content")
}

/// Asks a server that speaks `generateContent`.
#[derive(Debug)]
pub struct Gemini(Provider);

impl Gemini {
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
        let path = format!("models/{}:generateContent", settings.model);
        // In a header and never in the address, which others may log.
        let key = key.map(|key| (KeyHeader::Plain("x-goog-api-key"), key));
        Provider::new(&FORM, settings, &path, key, tls, clock).map(Self)
    }
}

#[async_trait]
impl Extractor for Gemini {
    fn fingerprint(&self) -> Value {
        fingerprint(&self.0.settings)
    }

    fn addressee(&self) -> Call {
        self.0.addressee()
    }

    fn sent_schema(&self, schema: &Value) -> Result<Option<Value>, Unprojectable> {
        project(schema, Dialect::Gemini).map(Some)
    }

    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError> {
        let body = request::body(&self.0.settings, question);
        self.0.ask(question, &[], body).await
    }
}
