//! One model at one provider: from a question to what the provider's own form makes of the reply.

use reqwest::{StatusCode, header::HeaderValue};
use rustls::ClientConfig;
use serde_json::Value;

use super::{
    Call, Draft, ExtractError, Failure, Question, SetupError, Usage,
    client::{Client, KeyHeader, Reply, STRANGE},
    settings::Settings,
    status::{self, Said},
};
use crate::{clock::UnixMillis, secret::Secret};

/// How replies of a provider are read.
#[derive(Debug)]
pub(super) struct Form {
    /// The name that records have.
    pub(super) provider: &'static str,
    /// The header that the provider's own id of a request stands in.
    pub(super) request_id: &'static str,
    /// What the model answered with a 200. What is told of the call is added to it either way.
    pub(super) answer: fn(&[u8], &mut Call) -> Result<String, Failure>,
    /// What is said with any other status.
    pub(super) said: fn(&Reply, &Value) -> Said,
}

impl Form {
    /// Who is asked, as far as that is known without an answer.
    pub(super) fn addressee(&self, settings: &Settings) -> Call {
        Call {
            provider: self.provider.to_owned(),
            model: settings.model.clone(),
            request_id: None,
            usage: Usage::default(),
        }
    }

    /// What a reply says. What is told of the call is added to it either way.
    pub(super) fn read(&self, reply: &Reply, call: &mut Call) -> Result<String, Failure> {
        call.request_id = reply.request_id(self.request_id);
        match (reply.status, &reply.body) {
            (StatusCode::OK, Some(body)) => (self.answer)(body, call),
            (StatusCode::OK, None) => Err(STRANGE),
            _ => Err(status::read(reply, self.said, call)),
        }
    }
}

/// Whoever is asked.
#[derive(Debug)]
pub(super) struct Provider {
    pub(super) settings: Settings,
    form: &'static Form,
    client: Client,
}

impl Provider {
    pub(super) fn new(
        form: &'static Form,
        settings: Settings,
        path: &str,
        key: Option<(KeyHeader, &Secret)>,
        tls: ClientConfig,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, SetupError> {
        let client = Client::new(settings.base_url.endpoint(path), key, tls, clock)?;
        Ok(Self {
            settings,
            form,
            client,
        })
    }

    pub(super) fn addressee(&self) -> Call {
        self.form.addressee(&self.settings)
    }

    /// Asks once, with this body; absent, when the question can't be put.
    pub(super) async fn ask(
        &self,
        question: &Question<'_>,
        headers: &[(&'static str, HeaderValue)],
        body: Option<Vec<u8>>,
    ) -> Result<Draft, ExtractError> {
        let mut call = self.addressee();
        match self.answer(question, headers, body, &mut call).await {
            Ok(text) => Ok(Draft { text, call }),
            Err(failure) => Err(ExtractError { failure, call }),
        }
    }

    async fn answer(
        &self,
        question: &Question<'_>,
        headers: &[(&'static str, HeaderValue)],
        body: Option<Vec<u8>>,
        call: &mut Call,
    ) -> Result<String, Failure> {
        let body = body.ok_or(Failure::InvalidRequest)?;
        let reply = self.client.post(question, headers, body).await?;
        self.form.read(&reply, call)
    }
}
