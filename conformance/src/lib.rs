//! Signature cases as data.
//!
//! [`cases`] reads `cases.json`, which stands beside this crate and was computed by an independent
//! program.
//!
//! Runners turn a [`Case`] into a delivery and compare what they see with its [`Expected`]. How a
//! case is read is said in this crate's README.

#![expect(
    clippy::panic,
    reason = "what tests read is embedded here; where it is wrong, they fail by panicking"
)]

mod case;
mod configuration;

pub use case::{Case, Expected, Header, Origin, Verdict, cases};
pub use configuration::{
    Configuration, PIPELINE, configurations, refused_configurations, toml, variables,
};

/// What `cases.json` is.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    configurations: std::collections::BTreeMap<String, Configuration>,
    refused_configurations: std::collections::BTreeMap<String, String>,
    left_out: Vec<LeftOut>,
    cases: Vec<Case>,
}

/// A published scheme that no configuration expresses.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Whose, and which.
    pub what: String,
    /// Why.
    pub why: String,
}

/// The schemes with published examples that are no cases, each with the reason.
///
/// # Panics
/// Where `cases.json` is malformed.
#[must_use]
pub fn left_out() -> Vec<LeftOut> {
    file().left_out
}

fn file() -> File {
    serde_json::from_str(include_str!("../cases.json"))
        .unwrap_or_else(|error| panic!("cases.json: {error}"))
}
