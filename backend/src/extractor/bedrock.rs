//! Converse over HTTP, as Amazon Bedrock has it.
//!
//! Amazon's SDK finds credentials and signs. What is sent and what is made of the answer is ours,
//! as for every provider: the SDK keeps neither the order of a schema's members nor what a strict
//! reader has to see of an answer, such as a member that is named twice.

mod account;
mod answer;
mod failure;
mod request;
mod sender;

use async_trait::async_trait;
use rustls::ClientConfig;
use serde_json::{Value, json};

use self::account::Account;
use super::{
    Call, Draft, ExtractError, Extractor, Failure, Question, SetupError,
    anthropic::Output,
    projection::{Dialect, Unprojectable, project},
    provider::Form,
    settings::Settings,
};
use crate::{clock::UnixMillis, secret::Secret};

/// The provider that the records of this extractor name.
pub const PROVIDER: &str = "bedrock";

const FORM: Form = Form {
    provider: PROVIDER,
    request_id: "x-amzn-requestid",
    answer: answer::read,
    said: failure::said,
};

/// A region's name, such as `eu-central-1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region(String);

impl Region {
    const BYTES_MAX: usize = 32;

    /// Reads a name. Whether there is such a region, only a call tells.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=Self::BYTES_MAX).contains(&text.len());
        if fits && text.bytes().all(allowed) && !text.starts_with('-') && !text.ends_with('-') {
            return Ok(Self(text.to_owned()));
        }
        Err("a region's name, such as \"eu-central-1\"")
    }

    /// Where the provider is in this region.
    #[must_use]
    pub fn home(&self) -> String {
        let domain = match self.0.split('-').next() {
            Some("cn") => "amazonaws.com.cn",
            Some("eusc") => "amazonaws.eu",
            Some(_) | None => "amazonaws.com",
        };
        format!("https://bedrock-runtime.{}.{domain}", self.0)
    }

    fn as_str(&self) -> &str {
        &self.0
    }
}

/// What shapes an answer of such an extractor. The region does: models of one name are not the
/// same everywhere.
#[must_use]
pub fn fingerprint(settings: &Settings, region: &Region, output: Output) -> Value {
    let interface = match output {
        Output::Schema => "converse, schema",
        Output::Tool => "converse, tool",
    };
    let mut fingerprint = settings.fingerprint(PROVIDER, interface);
    if let Some(members) = fingerprint.as_object_mut() {
        members.insert("region".to_owned(), json!(region.as_str()));
    }
    fingerprint
}

/// Asks a model at Amazon Bedrock.
#[derive(Debug)]
pub struct Bedrock {
    settings: Settings,
    region: Region,
    output: Output,
    account: Account,
}

impl Bedrock {
    /// With no key, credentials come from where AWS's programs look for them, at the first
    /// question. The clock is for dates in answers. No connection is made yet.
    ///
    /// # Errors
    /// [`SetupError`]
    pub fn new(
        settings: Settings,
        region: Region,
        output: Output,
        key: Option<&Secret>,
        tls: ClientConfig,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, SetupError> {
        let account = Account::new(&settings.base_url, &region, key, tls, clock)?;
        Ok(Self {
            settings,
            region,
            output,
            account,
        })
    }

    async fn answer(&self, question: &Question<'_>, call: &mut Call) -> Result<String, Failure> {
        let body = request::body(&self.settings, self.output, question);
        let body = body.ok_or(Failure::InvalidRequest)?;
        let model = &self.settings.model;
        let reply = self.account.ask(model, question.call_key, body).await?;
        FORM.read(&reply, call)
    }
}

#[async_trait]
impl Extractor for Bedrock {
    fn fingerprint(&self) -> Value {
        fingerprint(&self.settings, &self.region, self.output)
    }

    fn addressee(&self) -> Call {
        FORM.addressee(&self.settings)
    }

    fn sent_schema(&self, schema: &Value) -> Result<Option<Value>, Unprojectable> {
        match self.output {
            Output::Schema => project(schema, Dialect::Bedrock).map(Some),
            Output::Tool => Ok(Some(schema.clone())),
        }
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
    fn a_region_is_a_name_and_says_where_the_provider_is() {
        for (region, home) in [
            (
                "eu-central-1",
                "https://bedrock-runtime.eu-central-1.amazonaws.com",
            ),
            (
                "us-gov-west-1",
                "https://bedrock-runtime.us-gov-west-1.amazonaws.com",
            ),
            (
                "cn-north-1",
                "https://bedrock-runtime.cn-north-1.amazonaws.com.cn",
            ),
            (
                "eusc-de-east-1",
                "https://bedrock-runtime.eusc-de-east-1.amazonaws.eu",
            ),
        ] {
            assert_eq!(Region::new(region).unwrap().home(), home);
        }
        let long = "x".repeat(33);
        for text in [
            "",
            "-eu",
            "eu-",
            "eu.example/",
            "EU-CENTRAL-1",
            "eu central",
            &long,
        ] {
            assert!(Region::new(text).is_err(), "{text}");
        }
    }
}
