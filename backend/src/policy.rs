//! What a pipeline rules beyond its schema: how much of a report a model is shown, and what an
//! answer may not hold although it is valid.
//!
//! The reasons given here name places and numbers, and never a word of a report or an answer.

use std::collections::{BTreeSet, HashSet};

use fencepost_identity::key::CallKey;
use serde_json::{Map, Value, json};

use crate::{
    extractor::prompt,
    schema::{Schema, ValidReport},
};

/// Of what only the instructions hold, an answer may repeat so many characters in a row.
const REPEATED_MAX: usize = 200;

/// The rules of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The most characters of a report's texts that a model is shown.
    pub input_characters_max: usize,
    /// The most bytes of a report's input that a model is shown.
    pub input_bytes_max: usize,
    /// The most characters of one text of an answer.
    pub text_characters_max: usize,
    /// What follows from characters in a report that nobody sees.
    pub hidden: HiddenCharacters,
}

/// What follows from characters in a report that nobody sees. No model is shown them, either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenCharacters {
    /// A person looks at the report.
    Review,
    /// Nothing: some languages are written with them.
    Ignore,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            input_characters_max: 100_000,
            input_bytes_max: 512 * 1024,
            text_characters_max: 10_000,
            hidden: HiddenCharacters::Review,
        }
    }
}

/// A rule that an answer breaks, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer {fault} at {place}")]
pub struct Violation {
    fault: Fault,
    /// A pointer into the answer, in which only names of the schema stand.
    place: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("has a control character")]
    Control,
    #[error("has more than {0} characters")]
    TooLong(usize),
    #[error("repeats the code of its instructions")]
    Canary,
    #[error("repeats more than {REPEATED_MAX} characters of its instructions")]
    Instructions,
}

/// An answer, and the question that it is an answer to.
#[derive(Clone, Copy)]
pub(crate) struct Answered<'a> {
    pub(crate) report: &'a ValidReport,
    pub(crate) schema: &'a Schema,
    /// The pipeline's prompt.
    pub(crate) prompt: &'a str,
    pub(crate) call_key: CallKey,
}

impl Policy {
    /// What decides which answers are taken, where it is not as usual: a classifier of the usual
    /// rules stays what it was, whatever rules there will be.
    pub(crate) fn fingerprint(&self) -> Option<Value> {
        let usual = Self::default().text_characters_max;
        let changed = self.text_characters_max != usual;
        changed.then(|| json!({ "max_text_characters": self.text_characters_max }))
    }

    /// Why a report is too long to be shown to a model. It is never cut: what stands at its end
    /// would be judged by nobody.
    pub(crate) fn too_long(&self, input: &[u8]) -> Option<String> {
        let (bytes, max) = (input.len(), self.input_bytes_max);
        if bytes > max {
            return Some(format!("the input has {bytes} bytes, more than {max}"));
        }
        let (characters, max) = (prompt::measure(input).characters, self.input_characters_max);
        (characters > max)
            .then(|| format!("the input has {characters} characters, more than {max}"))
    }

    /// Why a person has to look at a report, whatever a model says of it.
    pub(crate) fn doubt(&self, input: &[u8]) -> Option<String> {
        match self.hidden {
            HiddenCharacters::Ignore => None,
            HiddenCharacters::Review => match prompt::measure(input).hidden {
                0 => None,
                1 => Some("the input has 1 hidden character".to_owned()),
                hidden => Some(format!("the input has {hidden} hidden characters")),
            },
        }
    }

    /// Looks at every text of an answer, names of members included.
    ///
    /// # Errors
    /// The first place at which it breaks a rule.
    pub(crate) fn check(&self, answered: Answered<'_>) -> Result<(), Violation> {
        let told = prompt::fixed(answered.prompt);
        let search = Search {
            policy: self,
            canary: prompt::canary(answered.call_key),
            told: runs(&told).collect(),
        };
        let Some((fault, path)) = search.first(answered.report.value()) else {
            return Ok(());
        };
        let mut known = BTreeSet::new();
        names(answered.schema.document(), &mut known);
        let place = path.iter().rev().fold(String::new(), |mut place, step| {
            match step {
                Step::Item(index) => {
                    place.push('/');
                    place.push_str(&index.to_string());
                }
                Step::Member(name) if known.contains(name) => {
                    place.push('/');
                    place.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                // A name of the model's own is as much its text as any other.
                Step::Member(_) => place.push_str("/*"),
            }
            place
        });
        Err(Violation { fault, place })
    }
}

/// A step from a value to what is in it.
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

/// The rules, as they are looked for.
struct Search<'a> {
    policy: &'a Policy,
    canary: String,
    /// Every run of the instructions that is too long to be repeated.
    told: HashSet<&'a str>,
}

impl Search<'_> {
    /// The first fault, with the way to it from its end.
    fn first<'v>(&self, value: &'v Value) -> Option<(Fault, Vec<Step<'v>>)> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
            Value::String(text) => Some((self.fault(text)?, Vec::new())),
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                let (fault, mut path) = self.first(item)?;
                path.push(Step::Item(index));
                Some((fault, path))
            }),
            Value::Object(members) => members.iter().find_map(|(name, value)| {
                let named = self.fault(name).map(|fault| (fault, Vec::new()));
                let (fault, mut path) = named.or_else(|| self.first(value))?;
                path.push(Step::Member(name));
                Some((fault, path))
            }),
        }
    }

    fn fault(&self, text: &str) -> Option<Fault> {
        // A text may have lines; nothing else that is not shown as itself.
        let is_bad = |found: char| found.is_control() && found != '\n' && found != '\t';
        let max = self.policy.text_characters_max;
        if text.contains(is_bad) {
            return Some(Fault::Control);
        }
        // Bytes first: there are never fewer of them.
        if text.len() > max && text.chars().count() > max {
            return Some(Fault::TooLong(max));
        }
        if text.to_ascii_lowercase().contains(&self.canary) {
            return Some(Fault::Canary);
        }
        runs(text)
            .any(|run| self.told.contains(run))
            .then_some(Fault::Instructions)
    }
}

/// Every run of one character more than may be repeated.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.char_indices().map(|(start, _)| start);
    let ends = starts.clone().chain([text.len()]).skip(REPEATED_MAX + 1);
    starts
        .zip(ends)
        .filter_map(|(start, end)| text.get(start..end))
}

/// The names of members that a schema speaks of, wherever it does.
fn names<'a>(schema: &'a Value, known: &mut BTreeSet<&'a str>) {
    match schema {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        Value::Array(items) => items.iter().for_each(|item| names(item, known)),
        Value::Object(members) => {
            let properties = members.get("properties").and_then(Value::as_object);
            known.extend(
                properties
                    .into_iter()
                    .flat_map(Map::keys)
                    .map(String::as_str),
            );
            members.values().for_each(|value| names(value, known));
        }
    }
}

#[cfg(test)]
mod tests;
