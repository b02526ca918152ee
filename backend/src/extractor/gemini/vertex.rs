//! `generateContent` as Vertex AI has it: in a project and a location, with a token that does not
//! last.

mod tokens;

use async_trait::async_trait;
use reqwest::StatusCode;
use rustls::ClientConfig;
use serde_json::{Value, json};

use self::tokens::Tokens;
use super::{
    super::{
        Call, Draft, ExtractError, Extractor, Failure, Question, SetupError,
        client::{Client, Reply},
        projection::{Dialect, Unprojectable, project},
        provider::Form,
        settings::Settings,
    },
    FORM, request,
};
use crate::clock::UnixMillis;

/// The provider that the records of this extractor name.
pub const PROVIDER: &str = "vertex";

const VERTEX: Form = Form {
    provider: PROVIDER,
    ..FORM
};

/// A project and a location in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    project: Name,
    location: Name,
}

/// A name that stands in an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    const BYTES_MAX: usize = 63;

    /// Reads the name of a project or of a location. Whether there is such a one, a call tells.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=Self::BYTES_MAX).contains(&text.len());
        if fits && text.bytes().all(allowed) && !text.starts_with('-') && !text.ends_with('-') {
            return Ok(Self(text.to_owned()));
        }
        Err("a name of lower-case letters, digits and `-`, such as \"my-project\" or \"global\"")
    }

    /// Where the provider is, if this is a location.
    #[must_use]
    pub fn home(&self) -> String {
        match self.0.as_str() {
            "global" => "https://aiplatform.googleapis.com/v1".to_owned(),
            location => format!("https://{location}-aiplatform.googleapis.com/v1"),
        }
    }
}

impl Place {
    /// In this project, and there in this location.
    #[must_use]
    pub fn new(project: Name, location: Name) -> Self {
        Self { project, location }
    }

    fn path(&self, model: &str) -> String {
        let (project, location) = (&self.project.0, &self.location.0);
        format!(
            "projects/{project}/locations/{location}/publishers/google/models/{model}\
             :generateContent"
        )
    }
}

/// What shapes an answer of such an extractor. The location does, whose project it is does not.
#[must_use]
pub fn fingerprint(settings: &Settings, place: &Place) -> Value {
    let mut fingerprint = settings.fingerprint(PROVIDER, "generate-content");
    if let Some(members) = fingerprint.as_object_mut() {
        members.insert("location".to_owned(), json!(place.location.0));
    }
    fingerprint
}

/// Asks a model at Vertex AI.
#[derive(Debug)]
pub struct Vertex {
    settings: Settings,
    place: Place,
    client: Client,
    tokens: Tokens,
}

impl Vertex {
    /// Credentials come from where Google's programs look for them, at the first question. The
    /// clock is for dates in answers. No connection is made yet.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(
        settings: Settings,
        place: Place,
        tls: ClientConfig,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, SetupError> {
        let endpoint = settings.base_url.endpoint(&place.path(&settings.model));
        Ok(Self {
            client: Client::new(endpoint, None, tls, clock)?,
            tokens: Tokens::found(),
            settings,
            place,
        })
    }

    async fn answer(&self, question: &Question<'_>, call: &mut Call) -> Result<String, Failure> {
        let body = request::body(&self.settings, question).ok_or(Failure::InvalidRequest)?;
        let mut reply = self.ask(question, body.clone()).await?;
        if reply.status == StatusCode::UNAUTHORIZED {
            // It was shown to no model, so this is no second inference.
            self.tokens.forget().await;
            reply = self.ask(question, body).await?;
        }
        VERTEX.read(&reply, call)
    }

    async fn ask(&self, question: &Question<'_>, body: Vec<u8>) -> Result<Reply, Failure> {
        let headers = self.tokens.headers().await?;
        self.client.post(question, &headers, body).await
    }
}

#[async_trait]
impl Extractor for Vertex {
    fn fingerprint(&self) -> Value {
        fingerprint(&self.settings, &self.place)
    }

    fn addressee(&self) -> Call {
        VERTEX.addressee(&self.settings)
    }

    fn sent_schema(&self, schema: &Value) -> Result<Option<Value>, Unprojectable> {
        project(schema, Dialect::Gemini).map(Some)
    }

    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError> {
        let mut call = self.addressee();
        match self.answer(question, &mut call).await {
            Ok(text) => Ok(Draft { text, call }),
            Err(failure) => Err(ExtractError { failure, call }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_says_where_the_provider_is() {
        for (location, home) in [
            ("global", "https://aiplatform.googleapis.com/v1"),
            (
                "europe-west4",
                "https://europe-west4-aiplatform.googleapis.com/v1",
            ),
        ] {
            assert_eq!(Name::new(location).unwrap().home(), home);
        }
        let long = "x".repeat(64);
        for text in ["", "-a", "a-", "a/b", "A", "a b", "a.b", &long] {
            assert!(Name::new(text).is_err(), "{text}");
        }
    }
}
