//! What has to hold of every report, whatever the model said.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::reports::HIDDEN;
use crate::model::Call;

/// The server had no time for it: no call was made.
const BUSY: u16 = 503;
const ANSWERED: u16 = 200;
/// Below it, the shipped pipeline asks a person.
const CONFIDENCE_MIN: f64 = 0.7;

/// What a value is judged by: read from the schema here, and not by the code that is tried out.
pub(super) struct Rules {
    categories: Vec<Value>,
    attempts_max: u64,
}

/// What is told of one report.
pub(super) struct Story {
    pub(super) label: String,
    pub(super) report: Report,
    pub(super) attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Told {
    report: Report,
    attempts: Attempts,
}

#[derive(Deserialize)]
pub(super) struct Report {
    state: String,
    outcome: Option<String>,
    charged_count: String,
    pub(super) result: Option<Committed>,
    pub(super) review: Option<Review>,
}

#[derive(Deserialize)]
pub(super) struct Committed {
    pub(super) value: Value,
}

#[derive(Deserialize)]
pub(super) struct Review {
    pub(super) reason: String,
}

#[derive(Deserialize)]
struct Attempts {
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
pub(super) struct Attempt {
    charged: bool,
    pub(super) outcome: Option<String>,
    /// In fixed words and places.
    pub(super) reason: Option<String>,
    /// Under which its answer is kept.
    pub(super) call_key: Option<String>,
}

impl Rules {
    /// What the schema says of a category; the rest stands below.
    pub(super) fn read(schema: &Path, attempts_max: u64) -> Result<Self> {
        let schema: Value = serde_json::from_slice(&fs::read(schema)?)?;
        let categories = schema.pointer("/properties/category/enum");
        let categories = categories.and_then(Value::as_array);
        Ok(Self {
            categories: categories.context("the schema lists categories")?.clone(),
            attempts_max,
        })
    }
}

impl Story {
    /// `told` is what the backend says of it and of its attempts.
    pub(super) fn read(label: &str, told: &Value) -> Result<Self> {
        let Told { report, attempts } =
            Told::deserialize(told).with_context(|| format!("what is told of {label}"))?;
        Ok(Self {
            label: label.to_owned(),
            report,
            attempts: attempts.attempts,
        })
    }

    /// One valid record, or one question to a person, after no more grants than there may be.
    pub(super) fn judge(&self, rules: &Rules) -> Result<()> {
        let state = self.report.state.as_str();
        let charged = self.charged();
        ensure!(
            charged <= rules.attempts_max,
            "it had {charged} charged attempts"
        );
        let counted = &self.report.charged_count;
        ensure!(
            *counted == charged.to_string(),
            "{counted} attempts are counted, and {charged} are charged"
        );
        let ended = self.attempts.iter().all(|it| it.outcome.is_some());
        ensure!(ended, "an attempt has no end");
        if self.is_superseded() {
            return Ok(());
        }
        let committed = self.attempts.iter().filter(|it| it.is("committed")).count();
        let person = self.report.review.as_ref().map(|it| it.reason.as_str());
        let Some(Committed { value }) = &self.report.result else {
            ensure!(committed == 0, "what was committed is not there");
            ensure!(
                state == "ready_for_review" && person.is_some(),
                "it came to nothing ({state})"
            );
            return Ok(());
        };
        ensure!(committed == 1, "it was committed {committed} times");
        let wanted = rules.person_wanted(value)? || self.label == HIDDEN;
        let expected = if wanted {
            ("ready_for_review", Some("policy"))
        } else {
            ("terminal", None)
        };
        let is = (state, person);
        ensure!(is == expected, "it is {is:?} and has to be {expected:?}");
        Ok(())
    }

    /// A newer version of the same report took its place.
    pub(super) fn is_superseded(&self) -> bool {
        self.report.outcome.as_deref() == Some("superseded")
    }

    fn charged(&self) -> u64 {
        self.attempts.iter().map(|it| u64::from(it.charged)).sum()
    }
}

impl Attempt {
    fn is(&self, outcome: &str) -> bool {
        self.outcome.as_deref() == Some(outcome)
    }
}

impl Rules {
    /// Whether a value, which has to be valid, needs a person.
    fn person_wanted(&self, value: &Value) -> Result<bool> {
        let members = value.as_object().context("the value is no object")?;
        let category = members.get("category").context("no `category`")?;
        ensure!(self.categories.contains(category), "another category");
        let confidence = members.get("confidence").and_then(Value::as_f64);
        let confidence = confidence.context("`confidence` is no number")?;
        ensure!((0.0..=1.0).contains(&confidence), "confidence out of range");
        let asks = members.get("needsHumanReview").and_then(Value::as_bool);
        let asks = asks.context("`needsHumanReview` is not true or false")?;
        ensure!(members.len() == 3, "the value has another member");
        Ok(asks || confidence < CONFIDENCE_MIN || category == "self_harm")
    }
}

/// Each answer that is kept came of a call, and there are no more calls than charged grants: an
/// answer that nobody waited for any more was called for by a grant of its own.
pub(super) fn calls_match(stories: &[Story], calls: &[Call]) -> Result<()> {
    let mut made = 0;
    let mut answered = BTreeSet::new();
    for call in calls.iter().filter(|call| call.status != BUSY) {
        let key = call.key.as_deref().context("a call without a call key")?;
        made += 1;
        if call.status == ANSWERED {
            answered.insert(key);
        }
    }
    let attempts = || stories.iter().flat_map(|story| &story.attempts);
    for key in attempts().filter_map(|it| it.call_key.as_deref()) {
        ensure!(answered.contains(key), "an answer under {key} and no call");
    }
    let grants = attempts().filter(|attempt| attempt.charged).count();
    ensure!(made <= grants, "{made} calls, and {grants} charged grants");
    Ok(())
}

#[cfg(test)]
mod tests;
