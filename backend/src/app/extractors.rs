//! From what the file says of an extractor to one that can be asked.

use std::sync::Arc;

use serde_json::Value;

#[cfg(feature = "bedrock")]
use crate::extractor::bedrock::{self, Bedrock};
#[cfg(feature = "vertex")]
use crate::extractor::gemini::vertex::{self, Vertex};
use crate::{
    clock::UnixMillis,
    config::{ExtractorConfig, ModelConfig, ProviderKeys},
    extractor::{
        Extractor, SetupError, Unfit,
        anthropic::{self, Anthropic},
        baseline::{Baseline, bayes::CoefficientsError},
        code_baseline::CodeBaseline,
        gemini::{self, Gemini},
        openai::{self, OpenAi},
    },
    secret::Secret,
    tls::{self, TlsError},
};

/// Why an extractor can't be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// What it was trained to is damaged.
    #[error("{0}")]
    Coefficients(#[from] CoefficientsError),
    /// What it asks with can't be set up.
    #[error("{0}")]
    Setup(#[from] SetupError),
    /// Its connections can't be protected.
    #[error("{0}")]
    Tls(#[from] TlsError),
    /// What it looks for is damaged.
    #[error("{0}")]
    Patterns(#[from] regex::Error),
    /// It can't take the schema of the pipeline of this name.
    #[error("pipeline `{0}`: {1}")]
    Schema(String, Unfit),
}

/// What shapes its answers; no key is needed for it.
pub(super) fn fingerprint(config: &ExtractorConfig) -> Result<Value, Unusable> {
    Ok(match config {
        ExtractorConfig::Baseline => Baseline::new()?.fingerprint(),
        ExtractorConfig::CodeBaseline { diff } => CodeBaseline::fingerprint_of(diff),
        ExtractorConfig::OpenAi(config, api) => openai::fingerprint(&config.settings, *api),
        ExtractorConfig::Anthropic(config, output) => {
            anthropic::fingerprint(&config.settings, *output)
        }
        ExtractorConfig::Gemini(config) => gemini::fingerprint(&config.settings),
        #[cfg(feature = "vertex")]
        ExtractorConfig::Vertex(config, place) => vertex::fingerprint(&config.settings, place),
        #[cfg(feature = "bedrock")]
        ExtractorConfig::Bedrock(config, region, output) => {
            bedrock::fingerprint(&config.settings, region, *output)
        }
    })
}

/// The extractor itself. No connection is made yet.
pub(super) fn set_up(
    config: &ExtractorConfig,
    keys: &ProviderKeys,
) -> Result<Arc<dyn Extractor>, Unusable> {
    let clock = UnixMillis::of_this_machine;
    Ok(match config {
        ExtractorConfig::Baseline => Arc::new(Baseline::new()?),
        ExtractorConfig::CodeBaseline { diff } => Arc::new(CodeBaseline::new(diff)?),
        ExtractorConfig::OpenAi(config, api) => {
            let (settings, key) = (config.settings.clone(), key(config, keys));
            Arc::new(OpenAi::new(settings, *api, key, tls(config)?, clock)?)
        }
        ExtractorConfig::Anthropic(config, output) => {
            let (settings, key) = (config.settings.clone(), key(config, keys));
            Arc::new(Anthropic::new(settings, *output, key, tls(config)?, clock)?)
        }
        ExtractorConfig::Gemini(config) => {
            let settings = config.settings.clone();
            Arc::new(Gemini::new(
                settings,
                key(config, keys),
                tls(config)?,
                clock,
            )?)
        }
        #[cfg(feature = "vertex")]
        ExtractorConfig::Vertex(config, place) => {
            let (settings, place) = (config.settings.clone(), place.clone());
            Arc::new(Vertex::new(settings, place, tls(config)?, clock)?)
        }
        #[cfg(feature = "bedrock")]
        ExtractorConfig::Bedrock(config, region, output) => {
            let (settings, key) = (config.settings.clone(), key(config, keys));
            let (region, tls) = (region.clone(), tls(config)?);
            Arc::new(Bedrock::new(settings, region, *output, key, tls, clock)?)
        }
    })
}

fn key<'k>(config: &ModelConfig, keys: &'k ProviderKeys) -> Option<&'k Secret> {
    keys.get(config.key_variable.as_deref()?)
}

fn tls(config: &ModelConfig) -> Result<rustls::ClientConfig, TlsError> {
    tls::for_scheme(config.settings.base_url.scheme())
}
