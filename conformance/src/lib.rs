//! Signature cases as data, a second implementation that judges deliveries, and deliveries made by
//! damaging right ones.
//!
//! [`cases`] reads `cases.json`, which stands beside this crate and was computed by an independent
//! program. [`Reference`] says what the signature of any delivery is worth, sharing no code with
//! the product. [`generated`] makes as many further cases as one likes.
//!
//! Runners turn a [`Case`] into a delivery and compare what they see with its [`Expected`]. How a
//! case is read is said in this crate's README.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what tests read is embedded here; where it is wrong, they fail by panicking"
)]

mod case;
mod configuration;
mod generate;
mod outcome;
mod reference;

pub use case::{Case, Expected, Header, Origin, Verdict, cases};
pub use configuration::{
    Configuration, PIPELINE, configurations, refused_configurations, toml, variables,
};
pub use generate::generated;
pub use outcome::Outcome;
pub use reference::{Judgement, Reference};

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
