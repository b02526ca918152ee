//! The configurations that the cases are for, each as a source of one `fencepost.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use crate::file;

/// How the deliveries of one source are verified.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The keys of the source's table, as TOML. Those that are not there are added by [`toml`].
    pub source: String,
    /// The values of the variables that it names, and that are set.
    pub variables: BTreeMap<String, String>,
}

/// What [`toml`] adds for every source to point at. The paths of its files are relative to the
/// project's folder.
pub const PIPELINE: &str = r#"
[pipeline.moderation]
kind = "classification"
schema = "backend/schemas/moderation-v3.json"
schema_version = "moderation-v3"
prompt = "backend/prompts/moderation-7.md"
classifier_version = "moderation-7"
extractor = "baseline"

[extractor.baseline]
kind = "baseline"
"#;

/// Every configuration of `cases.json`, by the name of its source.
///
/// # Panics
/// Where `cases.json` is malformed.
#[must_use]
pub fn configurations() -> BTreeMap<String, Configuration> {
    file().configurations
}

/// Configurations that must not load: by what is wrong with each, a whole `fencepost.toml`.
///
/// # Panics
/// Where `cases.json` is malformed.
#[must_use]
pub fn refused_configurations() -> BTreeMap<String, String> {
    let refused = file().refused_configurations.into_iter();
    let whole = |(wrong, source)| {
        let variables = BTreeMap::new();
        let configuration = Configuration { source, variables };
        (
            wrong,
            toml(&BTreeMap::from([("refused".to_owned(), configuration)])),
        )
    };
    refused.map(whole).collect()
}

/// A whole `fencepost.toml` with one source per configuration.
///
/// # Panics
/// Where a configuration is no TOML.
#[must_use]
pub fn toml(configurations: &BTreeMap<String, Configuration>) -> String {
    let mut sources = Table::new();
    for (name, configuration) in configurations {
        sources.insert(name.clone(), Value::Table(source(configuration)));
    }
    let mut whole: Table = parse(PIPELINE);
    whole.insert("source".to_owned(), Value::Table(sources));
    toml::to_string(&whole).unwrap_or_else(|error| panic!("{error}"))
}

/// The variables of all configurations.
///
/// # Panics
/// Where two configurations want different values for one.
#[must_use]
pub fn variables(configurations: &BTreeMap<String, Configuration>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (name, value) in configurations.values().flat_map(|one| &one.variables) {
        let before = all.insert(name.clone(), value.clone());
        assert!(
            before.is_none_or(|before| before == *value),
            "two values for the variable {name}"
        );
    }
    all
}

/// The whole table of a source: what is said of it, and for the rest a fixed tenant, immutable
/// events and their id as the input.
pub(crate) fn source(configuration: &Configuration) -> Table {
    let mut table: Table = parse(&configuration.source);
    let identity = table
        .entry("identity")
        .or_insert_with(|| Value::Table(Table::new()));
    let Some(identity) = identity.as_table_mut() else {
        panic!("`identity` is a table");
    };
    let tenant = Table::from_iter([("value".to_owned(), Value::from("acme"))]);
    identity
        .entry("tenant")
        .or_insert_with(|| Value::Table(tenant));
    for (key, value) in [("report_id", "/id"), ("version", "event")] {
        identity.entry(key).or_insert_with(|| Value::from(value));
    }
    let input = Table::from_iter([("text".to_owned(), Value::from("/id"))]);
    table.entry("input").or_insert_with(|| Value::Table(input));
    table
        .entry("pipeline")
        .or_insert_with(|| Value::from("moderation"));
    table
}

fn parse(text: &str) -> Table {
    let table = text.parse();
    table.unwrap_or_else(|error| panic!("{error} in:\n{text}"))
}
