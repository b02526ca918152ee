//! The tables `extractor`: who is asked, and with which key.

#[cfg(feature = "bedrock")]
mod bedrock;
#[cfg(feature = "vertex")]
mod vertex;

use std::num::NonZeroU32;

use fencepost_identity::config::{Item, Section};

use super::{
    limits,
    price::{self, Price},
};
#[cfg(feature = "bedrock")]
use crate::extractor::bedrock::Region;
#[cfg(feature = "vertex")]
use crate::extractor::gemini::vertex::Place;
use crate::{
    extractor::{
        BaseUrl, Settings,
        anthropic::{self, Output},
        code_baseline, gemini,
        openai::Api,
    },
    store::CredentialName,
    worker::Limits,
};

const OUTPUT_TOKENS_DEFAULT: u64 = 1024;
const OUTPUT_TOKENS_MAX: u64 = 1_000_000;
const MODEL_BYTES_MAX: usize = 128;

/// Who is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtractorConfig {
    /// Nobody: phrase rules and a small statistical filter.
    Baseline,
    /// Nobody: patterns on the lines that a diff adds.
    CodeBaseline {
        /// The member of the input that holds the diff.
        diff: String,
    },
    /// A server that speaks Chat Completions, or Responses.
    OpenAi(ModelConfig, Api),
    /// A server that speaks Messages.
    Anthropic(ModelConfig, Output),
    /// A server that speaks `generateContent`.
    Gemini(ModelConfig),
    /// Models at Vertex AI, that speak `generateContent`, too.
    #[cfg(feature = "vertex")]
    Vertex(ModelConfig, Place),
    /// Models at Amazon Bedrock.
    #[cfg(feature = "bedrock")]
    Bedrock(ModelConfig, Region, Output),
}

/// How a model is asked over HTTP.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    /// What the extractor is told.
    pub settings: Settings,
    /// The variable that holds the key; absent for a server that wants none, and where credentials
    /// come from elsewhere.
    pub key_variable: Option<String>,
}

/// What differs from provider to provider.
struct Interface<'a> {
    /// Where the provider is; absent for an interface that many servers have.
    home: Option<&'a str>,
    key: Key,
    model: fn(&str) -> Result<String, &'static str>,
    temperature_max: u32,
}

/// Whether a key has to be named.
enum Key {
    /// The provider answers nobody without.
    Required,
    /// Some server of one's own wants none, or there are other credentials.
    Optional,
    /// There are other credentials, and none of this kind.
    #[cfg(feature = "vertex")]
    Unknown,
}

const OPENAI: Interface<'_> = Interface {
    home: None,
    key: Key::Optional,
    model,
    temperature_max: 2,
};
const ANTHROPIC: Interface<'_> = Interface {
    home: Some(anthropic::BASE_URL),
    key: Key::Required,
    model,
    temperature_max: 1,
};
const GEMINI: Interface<'_> = Interface {
    home: Some(gemini::BASE_URL),
    key: Key::Required,
    model: segment,
    temperature_max: 2,
};

impl ExtractorConfig {
    /// What there is in this version, as the file spells it.
    const KINDS: [&str; 6] = [
        "baseline",
        "code-baseline",
        "openai",
        "anthropic",
        "gemini",
        "bedrock",
    ];

    /// Reads one table of `extractor`, how much is asked, and what it costs; mistakes are noted in
    /// the document.
    pub(super) fn read(item: &Item<'_, '_>) -> Option<(Self, Limits, Option<Price>)> {
        let mut table = item.table()?;
        let kind = table.require("kind")?;
        let config = match kind.text()? {
            "baseline" => Some(Self::Baseline),
            "code-baseline" => {
                let diff = match table.get("diff") {
                    Some(item) => item.parse(member),
                    None => Some(code_baseline::DIFF_DEFAULT.to_owned()),
                };
                diff.map(|diff| Self::CodeBaseline { diff })
            }
            "openai" => {
                let model = ModelConfig::read(&mut table, &OPENAI);
                let api = match table.get("api") {
                    Some(item) => item.parse(api),
                    None => Some(Api::Chat),
                };
                model.zip(api).map(|(model, api)| Self::OpenAi(model, api))
            }
            "anthropic" => {
                let model = ModelConfig::read(&mut table, &ANTHROPIC);
                let output = match table.get("output") {
                    Some(item) => item.parse(output),
                    None => Some(Output::Schema),
                };
                model
                    .zip(output)
                    .map(|(model, output)| Self::Anthropic(model, output))
            }
            "gemini" => match table.get("api") {
                None => ModelConfig::read(&mut table, &GEMINI).map(Self::Gemini),
                Some(api) => match api.text()? {
                    "gemini" => ModelConfig::read(&mut table, &GEMINI).map(Self::Gemini),
                    #[cfg(feature = "vertex")]
                    "vertex" => vertex::read(&mut table),
                    #[cfg(not(feature = "vertex"))]
                    "vertex" => {
                        api.error(lacking("vertex"));
                        return None;
                    }
                    _ => {
                        api.error("this is `gemini` or `vertex`");
                        // What else stands in the table depends on it.
                        return None;
                    }
                },
            },
            #[cfg(feature = "bedrock")]
            "bedrock" => bedrock::read(&mut table),
            #[cfg(not(feature = "bedrock"))]
            "bedrock" => {
                kind.error(lacking("bedrock"));
                return None;
            }
            _ => {
                let known = Self::KINDS.join("`, `");
                kind.error(format!(
                    "this kind is not known in this version; there is `{known}`"
                ));
                // What else stands in the table depends on the kind.
                return None;
            }
        };
        let limits = limits::read(&mut table);
        let price = price::read(&mut table);
        table.finish();
        config.map(|config| (config, limits, price))
    }

    /// What the extractor of this name presents to whoever is asked.
    #[must_use]
    pub fn credential(&self, name: &str) -> CredentialName {
        CredentialName::of_extractor(name, self.key_variable())
    }

    /// Where whoever is asked is; nothing where nobody is.
    #[must_use]
    pub fn base_url(&self) -> Option<&BaseUrl> {
        self.model().map(|config| &config.settings.base_url)
    }

    /// Who looks for credentials, and where, as far as the file names none.
    #[must_use]
    pub fn found_credentials(&self) -> Option<&'static str> {
        match self {
            #[cfg(feature = "vertex")]
            Self::Vertex(..) => Some("Google"),
            #[cfg(feature = "bedrock")]
            Self::Bedrock(config, ..) if config.key_variable.is_none() => Some("AWS"),
            _ => None,
        }
    }

    /// The variable that holds the key of whoever is asked.
    pub(super) fn key_variable(&self) -> Option<&str> {
        self.model()?.key_variable.as_deref()
    }

    fn model(&self) -> Option<&ModelConfig> {
        match self {
            Self::Baseline | Self::CodeBaseline { .. } => None,
            Self::OpenAi(config, _) | Self::Anthropic(config, _) | Self::Gemini(config) => {
                Some(config)
            }
            #[cfg(feature = "vertex")]
            Self::Vertex(config, _) => Some(config),
            #[cfg(feature = "bedrock")]
            Self::Bedrock(config, ..) => Some(config),
        }
    }
}

impl ModelConfig {
    fn read(table: &mut Section<'_, '_>, interface: &Interface<'_>) -> Option<Self> {
        let model = table.require("model");
        let model = model.and_then(|item| item.parse(interface.model));
        let base_url = match interface.home {
            Some(home) => match table.get("base_url") {
                Some(item) => item.parse(BaseUrl::new),
                None => BaseUrl::new(home).ok(),
            },
            None => table
                .require("base_url")
                .and_then(|item| item.parse(BaseUrl::new)),
        };
        let key = match interface.key {
            Key::Required => table.require("api_key_env").map(Some),
            Key::Optional => Some(table.get("api_key_env")),
            #[cfg(feature = "vertex")]
            Key::Unknown => Some(None),
        };
        let key_variable = key.and_then(|item| match item {
            Some(item) => item.parse(variable).map(Some),
            None => Some(None),
        });
        let max_output_tokens = table
            .get("max_output_tokens")
            .map_or(Some(OUTPUT_TOKENS_DEFAULT), |item| {
                item.integer(1, OUTPUT_TOKENS_MAX)
            });
        let temperature = match table.get("temperature") {
            Some(item) => temperature(&item, interface.temperature_max).map(Some),
            None => Some(None),
        };
        Some(Self {
            settings: Settings {
                model: model?,
                base_url: base_url?,
                max_output_tokens: u32::try_from(max_output_tokens?)
                    .ok()
                    .and_then(NonZeroU32::new)?,
                temperature: temperature?,
            },
            key_variable: key_variable?,
        })
    }
}

#[cfg(not(all(feature = "bedrock", feature = "vertex")))]
fn lacking(feature: &str) -> String {
    format!(
        "this program was built without `{feature}`; build it with `--features {feature}`, or take \
         the container image, which has it"
    )
}

fn member(text: &str) -> Result<String, &'static str> {
    match text.is_empty() {
        true => Err("the name of a member of the input, such as \"diff\""),
        false => Ok(text.to_owned()),
    }
}

fn model(text: &str) -> Result<String, &'static str> {
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    if printable && (1..=MODEL_BYTES_MAX).contains(&text.len()) {
        return Ok(text.to_owned());
    }
    Err("a model is 1 to 128 printable characters of ASCII without spaces")
}

/// A name that stands in an address.
fn segment(text: &str) -> Result<String, &'static str> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if text.bytes().all(allowed) {
        return model(text);
    }
    Err("a model's name alone, such as `gemini-…`, without `models/` before it")
}

fn variable(text: &str) -> Result<String, &'static str> {
    let allowed = |byte: u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
    let starts_well = text
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    if starts_well && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    // Not repeated: somebody may have written the key itself.
    Err("the name of an environment variable such as \"OPENAI_API_KEY\", never the key itself")
}

fn temperature(item: &Item<'_, '_>, max: u32) -> Option<f64> {
    let temperature = item.number()?;
    if (0.0..=f64::from(max)).contains(&temperature) {
        return Some(temperature);
    }
    item.error(format!("this must be a number from 0 to {max}"));
    None
}

fn api(text: &str) -> Result<Api, &'static str> {
    match text {
        "chat" => Ok(Api::Chat),
        "responses" => Ok(Api::Responses),
        _ => Err("this is `chat` or `responses`"),
    }
}

fn output(text: &str) -> Result<Output, &'static str> {
    match text {
        "schema" => Ok(Output::Schema),
        "tool" => Ok(Output::Tool),
        _ => Err("this is `schema` or `tool`"),
    }
}
