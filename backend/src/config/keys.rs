//! The keys of those who are asked and fetched from.

use std::collections::{BTreeMap, BTreeSet};

use super::{Environment, ExtractorConfig, Project};
use crate::secret::Secret;

/// The keys of those who are asked and fetched from, by the variables that hold them. Its `Debug`
/// shows none.
#[derive(Clone, Debug, Default)]
pub struct ProviderKeys(BTreeMap<String, Secret>);

impl ProviderKeys {
    /// Reads the keys of the extractors that a pipeline names, and the tokens of the sources that
    /// lead to one; the others' are not needed.
    pub fn read(environment: &mut Environment<'_>, project: &Project) -> Self {
        let mut keys = Self::of_extractors(environment, project);
        keys.add_tokens(environment, project);
        keys
    }

    /// Reads the keys of the extractors that a pipeline names, for whoever fetches nothing.
    pub fn of_extractors(environment: &mut Environment<'_>, project: &Project) -> Self {
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

    fn add_tokens(&mut self, environment: &mut Environment<'_>, project: &Project) {
        let mut read: BTreeSet<&str> = BTreeSet::new();
        for (source, fetch) in project.fetched() {
            let Some(variable) = fetch.token_variable.as_deref() else {
                continue;
            };
            if self.0.contains_key(variable) || !read.insert(variable) {
                continue;
            }
            let purpose = format!(
                "source `{source}` fetches its content with it; set it, or take `token_env` out of \
                 [source.{source}.fetch] if the server wants no token"
            );
            if let Some(key) = environment.required_secret(variable, &purpose) {
                self.0.insert(variable.to_owned(), key);
            }
        }
    }

    /// The key that a variable holds.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<&Secret> {
        self.0.get(variable)
    }
}
