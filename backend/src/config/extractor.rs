//! The tables `extractor`: who is asked, and with which key.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
};

use fencepost_identity::config::{Item, Section};

use super::{Environment, Project};
use crate::{
    extractor::openai::{BaseUrl, Settings},
    secret::Secret,
    store::CredentialName,
};

const OUTPUT_TOKENS_DEFAULT: u64 = 1024;
const OUTPUT_TOKENS_MAX: u64 = 1_000_000;
const TEMPERATURE_MAX: f64 = 2.0;
const MODEL_BYTES_MAX: usize = 128;

/// Who is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtractorConfig {
    /// Nobody: phrase rules and a small statistical filter.
    Baseline,
    /// A server that speaks Chat Completions.
    OpenAi(OpenAiConfig),
}

/// How a server that speaks Chat Completions is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenAiConfig {
    /// What the extractor is told.
    pub settings: Settings,
    /// The variable that holds the key; absent for a server that wants none.
    pub key_variable: Option<String>,
}

impl ExtractorConfig {
    /// What there is in this version, as the file spells it.
    const KINDS: [&str; 2] = ["baseline", "openai"];

    /// Reads one table of `extractor`; mistakes are noted in the document.
    pub(super) fn read(item: &Item<'_, '_>) -> Option<Self> {
        let mut table = item.table()?;
        let kind = table.require("kind")?;
        let config = match kind.text()? {
            "baseline" => Some(Self::Baseline),
            "openai" => OpenAiConfig::read(&mut table).map(Self::OpenAi),
            _ => {
                let known = Self::KINDS.join("`, `");
                kind.error(format!(
                    "this kind is not known in this version; there is `{known}`"
                ));
                // What else stands in the table depends on the kind.
                return None;
            }
        };
        table.finish();
        config
    }

    /// What the extractor of this name presents to whoever is asked.
    #[must_use]
    pub fn credential(&self, name: &str) -> CredentialName {
        CredentialName::of_extractor(name, self.key_variable())
    }

    /// The variable that holds the key of whoever is asked.
    fn key_variable(&self) -> Option<&str> {
        match self {
            Self::Baseline => None,
            Self::OpenAi(config) => config.key_variable.as_deref(),
        }
    }
}

impl OpenAiConfig {
    fn read(table: &mut Section<'_, '_>) -> Option<Self> {
        let model = table.require("model").and_then(|item| item.parse(model));
        let base_url = table
            .require("base_url")
            .and_then(|item| item.parse(BaseUrl::new));
        let key_variable = match table.get("api_key_env") {
            Some(item) => item.parse(variable).map(Some),
            None => Some(None),
        };
        let max_output_tokens = table
            .get("max_output_tokens")
            .map_or(Some(OUTPUT_TOKENS_DEFAULT), |item| {
                item.integer(1, OUTPUT_TOKENS_MAX)
            });
        let temperature = match table.get("temperature") {
            Some(item) => temperature(&item).map(Some),
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

fn model(text: &str) -> Result<String, &'static str> {
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    if printable && (1..=MODEL_BYTES_MAX).contains(&text.len()) {
        return Ok(text.to_owned());
    }
    Err("a model is 1 to 128 printable characters of ASCII without spaces")
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

fn temperature(item: &Item<'_, '_>) -> Option<f64> {
    let temperature = item.number()?;
    if (0.0..=TEMPERATURE_MAX).contains(&temperature) {
        return Some(temperature);
    }
    item.error("this must be a number from 0 to 2");
    None
}

/// The keys of those who are asked, by the variables that hold them. Its `Debug` shows none.
#[derive(Clone, Debug, Default)]
pub struct ProviderKeys(BTreeMap<String, Secret>);

impl ProviderKeys {
    /// Reads the keys of the extractors that a pipeline names; the others' are not needed.
    pub fn read(environment: &mut Environment<'_>, project: &Project) -> Self {
        let used: BTreeSet<&str> = project
            .pipelines
            .iter()
            .map(|pipeline| pipeline.extractor.as_str())
            .collect();
        let mut keys = BTreeMap::new();
        let mut read = BTreeSet::new();
        for name in used {
            let config = project.extractors.get(name);
            let Some(variable) = config.and_then(ExtractorConfig::key_variable) else {
                continue;
            };
            // One variable may serve several extractors, and is told once.
            if !read.insert(variable) {
                continue;
            }
            let purpose = format!(
                "extractor `{name}` presents it to its provider; set it, or take `api_key_env` out \
                 of [extractor.{name}] if the server wants no key"
            );
            if let Some(key) = environment.required_secret(variable, &purpose) {
                keys.insert(variable.to_owned(), key);
            }
        }
        Self(keys)
    }

    /// The key that a variable holds.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<&Secret> {
        self.0.get(variable)
    }
}
