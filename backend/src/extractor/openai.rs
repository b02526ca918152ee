//! Chat Completions over HTTP, as `OpenAI` has it and many servers have it after them, and
//! Responses, which came later.
//!
//! The instructions are fixed; the report stands only in the user message, as data. One question is
//! one request: nothing here tries again, follows a redirect or uses a proxy.

mod answer;
mod constraint;
mod failure;
mod request;
mod responses;

use async_trait::async_trait;
use reqwest::header::HeaderValue;
use rustls::ClientConfig;
use serde_json::Value;

use self::constraint::Constraint;
use super::{
    Call, Draft, ExtractError, Extractor, Question, SetupError,
    client::KeyHeader,
    projection::Unprojectable,
    provider::{Form, Provider},
    settings::Settings,
};
use crate::{clock::UnixMillis, secret::Secret};

/// The provider that the records of this extractor name.
pub const PROVIDER: &str = "openai";

/// Which of the provider's interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Chat Completions.
    Chat,
    /// Responses.
    Responses,
}

const CHAT: Form = Form {
    provider: PROVIDER,
    request_id: "x-request-id",
    answer: answer::read,
    said: failure::said,
};
const RESPONSES: Form = Form {
    answer: responses::read,
    ..CHAT
};

/// What shapes an answer of such an extractor.
#[must_use]
pub fn fingerprint(settings: &Settings, api: Api) -> Value {
    let interface = match api {
        Api::Chat => "chat-completions",
        Api::Responses => "responses",
    };
    settings.fingerprint(PROVIDER, interface)
}

/// Asks a server that speaks Chat Completions, or Responses.
#[derive(Debug)]
pub struct OpenAi {
    provider: Provider,
    api: Api,
}

impl OpenAi {
    /// The clock is for dates in answers. No connection is made yet.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(
        settings: Settings,
        api: Api,
        key: Option<&Secret>,
        tls: ClientConfig,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, SetupError> {
        let key = key.map(|key| (KeyHeader::Bearer, key));
        let (form, path) = match api {
            Api::Chat => (&CHAT, "chat/completions"),
            Api::Responses => (&RESPONSES, "responses"),
        };
        let provider = Provider::new(form, settings, path, key, tls, clock)?;
        Ok(Self { provider, api })
    }
}

#[async_trait]
impl Extractor for OpenAi {
    fn fingerprint(&self) -> Value {
        fingerprint(&self.provider.settings, self.api)
    }

    fn addressee(&self) -> Call {
        self.provider.addressee()
    }

    fn sent_schema(&self, schema: &Value) -> Result<Option<Value>, Unprojectable> {
        let constraint = Constraint::of(&self.provider.settings, schema)?;
        Ok(Some(constraint.schema))
    }

    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError> {
        // A server that knows this header lets a question be found by it.
        let call_key = HeaderValue::from_str(&question.call_key.to_string());
        let headers = call_key.map(|call_key| ("x-client-request-id", call_key));
        let headers: Vec<_> = headers.into_iter().collect();
        let settings = &self.provider.settings;
        let body = match self.api {
            Api::Chat => request::body(settings, question),
            Api::Responses => responses::body(settings, question),
        };
        self.provider.ask(question, &headers, body).await
    }
}
