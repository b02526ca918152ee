//! The tables `pipeline`: what is made of a report.

use std::{path::Path, sync::Arc, time::Duration};

use fencepost_identity::{
    canonical,
    config::{Item, Section},
    json,
    pointer::Pointer,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::policy;
use crate::{
    judge::{Judge, Rule, Test},
    policy::Policy,
    schema::Schema,
    store::PipelineVersions,
};

const ATTEMPTS_DEFAULT: u64 = 3;
const ATTEMPTS_MAX: u64 = 100;
const LEASE_SECONDS_DEFAULT: u64 = 60;
const CALL_SECONDS_DEFAULT: u64 = 45;
const SECONDS_MAX: u64 = 24 * 60 * 60;
const ELAPSED_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
const NAME_BYTES_MAX: usize = 128;

/// What is made of the reports of some sources.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// What a result has to look like.
    pub schema: Arc<Schema>,
    /// What the schema is bound to.
    pub schema_version: String,
    /// What a model is told.
    pub prompt: String,
    /// What pipeline, extractor, model, parameters and prompt are bound to.
    pub classifier_version: String,
    /// The extractor's name.
    pub extractor: String,
    /// How many charged attempts a job has.
    pub max_attempts: u32,
    /// How long a worker may be silent.
    pub lease: Duration,
    /// How long one call may take.
    pub call_timeout: Duration,
    /// How long a job may take in all.
    pub max_elapsed: Duration,
    /// Whether answers are stored before they are judged, and how long they are kept.
    pub raw_answers: RawAnswers,
    /// What it rules beyond its schema.
    pub policy: Policy,
    /// What makes a valid value a person's matter.
    pub review_when: Vec<Rule>,
}

/// Whether answers are stored as they came, and how long they are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawAnswers {
    /// They are: a crash after the call costs nothing, and replay can judge them again.
    Kept,
    /// The same, until so long after the end of their attempt.
    KeptFor(Duration),
    /// They are not: a crash after the call means another call.
    Dropped,
}

impl RawAnswers {
    /// How long those are kept that have been judged; for ever, if nothing is said. Where none is
    /// stored any more, older ones go too.
    #[must_use]
    pub const fn kept_for(self) -> Option<Duration> {
        match self {
            Self::Kept => None,
            Self::KeptFor(time) => Some(time),
            Self::Dropped => Some(Duration::ZERO),
        }
    }
}

impl Pipeline {
    /// What its answers are judged by.
    #[must_use]
    pub fn judge(&self) -> Judge {
        Judge {
            schema: Arc::clone(&self.schema),
            prompt: self.prompt.clone(),
            policy: self.policy.clone(),
            review_when: self.review_when.clone(),
        }
    }

    /// The names of its versions and the digests of what they stand for. The extractor's
    /// fingerprint stands for model, parameters and built-in instructions; what only says how often
    /// is tried and when a person looks is no part of it.
    #[must_use]
    pub fn versions(&self, fingerprint: &Value) -> PipelineVersions {
        PipelineVersions {
            pipeline: self.name.clone(),
            classifier_version: self.classifier_version.clone(),
            classifier_digest: self.classifier_digest(fingerprint),
            schema_version: self.schema_version.clone(),
            schema_digest: self.schema.digest(),
        }
    }

    fn classifier_digest(&self, fingerprint: &Value) -> [u8; 32] {
        let mut document = json!({
            "derivation": "fencepost/classifier/1",
            "pipeline": self.name,
            "kind": "classification",
            "extractor": fingerprint,
            "prompt": self.prompt,
        });
        if let (Some(members), Some(policy)) = (document.as_object_mut(), self.policy.fingerprint())
        {
            members.insert("policy".to_owned(), policy);
        }
        let document = document.to_string();
        // Canonical, so that the order in which a fingerprint is written does not count. What
        // serde_json writes the strict reader reads; a fingerprint too deep for it counts as it is.
        let parsed = json::parse(document.as_bytes());
        let canonical = parsed.and_then(|value| canonical::to_canonical(&value));
        Sha256::digest(canonical.unwrap_or(document).as_bytes()).into()
    }

    /// Reads one table of `pipeline`; files are found from `folder` on. Mistakes are noted in the
    /// document.
    pub(super) fn read(
        name: &str,
        item: &Item<'_, '_>,
        folder: &Path,
        extractors: &[&str],
    ) -> Option<Self> {
        let mut table = item.table()?;
        if let Err(message) = check_name(name) {
            item.error(message);
        }
        let kind = table.require("kind").and_then(|kind| check_kind(&kind));
        let schema = table
            .require("schema")
            .and_then(|item| schema(&item, folder));
        let schema_version = table
            .require("schema_version")
            .and_then(|item| version(&item));
        let prompt = table
            .require("prompt")
            .and_then(|item| prompt(&item, folder));
        let classifier_version = table
            .require("classifier_version")
            .and_then(|item| version(&item));
        let extractor = table
            .require("extractor")
            .and_then(|item| known(&item, extractors));
        let max_attempts = table
            .get("max_attempts")
            .map_or(Some(ATTEMPTS_DEFAULT), |item| item.integer(1, ATTEMPTS_MAX));
        let lease = seconds(&mut table, "lease_seconds", LEASE_SECONDS_DEFAULT);
        let call_timeout = seconds(&mut table, "call_timeout_seconds", CALL_SECONDS_DEFAULT);
        let max_elapsed = table
            .get("max_elapsed")
            .map_or(Some(ELAPSED_DEFAULT), |item| item.parse(duration));
        let raw_answers = table
            .get("keep_raw")
            .map_or(Some(RawAnswers::Kept), |item| keep_raw(&item));
        let policy = table
            .get("policy")
            .map_or_else(|| Some(Policy::default()), |item| policy::read(&item));
        let review_when = table
            .get("review_when")
            .map_or(Some(Vec::new()), |item| rules(&item, schema.as_deref()));
        table.finish();
        kind?;
        Some(Self {
            name: name.to_owned(),
            schema: schema?,
            schema_version: schema_version?,
            prompt: prompt?,
            classifier_version: classifier_version?,
            extractor: extractor?,
            max_attempts: u32::try_from(max_attempts?).ok()?,
            lease: lease?,
            call_timeout: call_timeout?,
            max_elapsed: max_elapsed?,
            raw_answers: raw_answers?,
            policy: policy?,
            review_when: review_when?,
        })
    }
}

/// Names stand in logs, tables and labels.
///
/// # Errors
/// What a name is, where this is none.
pub fn check_name(name: &str) -> Result<(), &'static str> {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    Err("a name is 1 to 64 of a-z 0-9 - _")
}

fn check_kind(item: &Item<'_, '_>) -> Option<()> {
    match item.text()? {
        "classification" => Some(()),
        "findings" => {
            item.error("`findings` is not supported by this version; there is `classification`");
            None
        }
        _ => {
            item.error("this kind is not known; there is `classification`");
            None
        }
    }
}

fn version(item: &Item<'_, '_>) -> Option<String> {
    item.parse(|text| {
        let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
        if printable && (1..=NAME_BYTES_MAX).contains(&text.len()) {
            return Ok(text.to_owned());
        }
        Err("a version is 1 to 128 printable characters of ASCII without spaces")
    })
}

fn known(item: &Item<'_, '_>, extractors: &[&str]) -> Option<String> {
    item.parse(|text| {
        if extractors.contains(&text) {
            return Ok(text.to_owned());
        }
        Err(format!(
            "there is no table [extractor.{text}]; known: {}",
            extractors.join(", ")
        ))
    })
}

fn seconds(table: &mut Section<'_, '_>, key: &'static str, default: u64) -> Option<Duration> {
    let seconds = table
        .get(key)
        .map_or(Some(default), |item| item.integer(1, SECONDS_MAX));
    seconds.map(Duration::from_secs)
}

/// Yes, no, or how long.
fn keep_raw(item: &Item<'_, '_>) -> Option<RawAnswers> {
    if item.as_text().is_some() {
        return item.parse(duration).map(RawAnswers::KeptFor);
    }
    match item.as_scalar().as_deref() {
        Some("true") => Some(RawAnswers::Kept),
        Some("false") => Some(RawAnswers::Dropped),
        Some(_) | None => {
            item.error("this must be true, false, or how long, such as \"30d\"");
            None
        }
    }
}

/// A number and one of `s`, `m`, `h` and `d`, such as `24h`.
fn duration(text: &str) -> Result<Duration, &'static str> {
    const EXPECTED: &str = "a number and one of s, m, h and d, such as \"24h\"; up to a year";
    let split = text
        .find(|character: char| !character.is_ascii_digit())
        .ok_or(EXPECTED)?;
    let (number, unit) = text.split_at_checked(split).ok_or(EXPECTED)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(EXPECTED),
    };
    let number: u64 = number.parse().map_err(|_| EXPECTED)?;
    let seconds = number
        .checked_mul(unit)
        .filter(|s| (1..=366 * 24 * 60 * 60).contains(s));
    seconds.map(Duration::from_secs).ok_or(EXPECTED)
}

fn schema(item: &Item<'_, '_>, folder: &Path) -> Option<Arc<Schema>> {
    item.parse(|path| {
        let bytes = read(folder, path)?;
        Schema::compile(&bytes)
            .map(Arc::new)
            .map_err(|error| format!("{path}: {error}"))
    })
}

fn prompt(item: &Item<'_, '_>, folder: &Path) -> Option<String> {
    item.parse(|path| {
        let text = String::from_utf8(read(folder, path)?);
        let text = text.map_err(|_| format!("{path} is not UTF-8"))?;
        if text.trim().is_empty() {
            Err(format!("{path} is empty"))
        } else {
            Ok(text)
        }
    })
}

fn read(folder: &Path, path: &str) -> Result<Vec<u8>, String> {
    let file = folder.join(path);
    std::fs::read(&file).map_err(|error| format!("{} can't be read: {error}", file.display()))
}

fn rules(item: &Item<'_, '_>, schema: Option<&Schema>) -> Option<Vec<Rule>> {
    // All are read before the first bad one ends it, so that every mistake is told.
    let rules: Vec<_> = item
        .array()?
        .iter()
        .map(|item| rule(item, schema))
        .collect();
    rules.into_iter().collect()
}

fn rule(item: &Item<'_, '_>, schema: Option<&Schema>) -> Option<Rule> {
    let mut table = item.table()?;
    let pointer = table.require("pointer").and_then(|item| {
        let pointer = item.parse(|text| Pointer::new(text))?;
        if schema.is_some_and(|schema| !schema.describes(&pointer)) {
            item.error("the schema describes no such member, so the rule would never hold");
        }
        Some(pointer)
    });
    let tests = [
        table.get("is").map(|item| wanted(&item).map(Test::Is)),
        table
            .get("below")
            .map(|item| item.number().map(Test::Below)),
        table
            .get("above")
            .map(|item| item.number().map(Test::Above)),
    ];
    table.finish();
    let mut tests = tests.into_iter().flatten();
    match (tests.next(), tests.next()) {
        (Some(test), None) => Some(Rule {
            pointer: pointer?,
            test: test?,
        }),
        (None | Some(_), _) => {
            item.error("exactly one of `is`, `below` and `above`");
            None
        }
    }
}

fn wanted(item: &Item<'_, '_>) -> Option<Value> {
    if let Some(text) = item.as_text() {
        return Some(Value::String(text.to_owned()));
    }
    let scalar = item
        .as_scalar()
        .and_then(|scalar| serde_json::from_str(&scalar).ok());
    if scalar.is_none() {
        item.error("this must be a string, a decimal integer, true or false");
    }
    scalar
}

#[cfg(test)]
mod tests {
    use fencepost_identity::config::Document;

    use super::*;

    #[test]
    fn answers_are_kept_for_ever_for_a_time_or_not_at_all() {
        let read = |text: &str| {
            let document = Document::parse(text).unwrap();
            let mut root = document.root();
            let read = root.get("keep_raw").and_then(|item| keep_raw(&item));
            document.finish(read).map_err(|errors| errors.to_string())
        };
        let month = Duration::from_secs(30 * 24 * 60 * 60);
        assert_eq!(read("keep_raw = true"), Ok(RawAnswers::Kept));
        assert_eq!(read("keep_raw = false"), Ok(RawAnswers::Dropped));
        assert_eq!(read("keep_raw = \"30d\""), Ok(RawAnswers::KeptFor(month)));
        for (wrong, told) in [
            (
                "30",
                "this must be true, false, or how long, such as \"30d\"",
            ),
            (
                "[]",
                "this must be true, false, or how long, such as \"30d\"",
            ),
            (
                "\"30\"",
                "a number and one of s, m, h and d, such as \"24h\"; up to a year",
            ),
            (
                "\"true\"",
                "a number and one of s, m, h and d, such as \"24h\"; up to a year",
            ),
        ] {
            let expected = format!("line 1: `keep_raw`: {told}");
            assert_eq!(read(&format!("keep_raw = {wrong}")), Err(expected));
        }
        assert_eq!(RawAnswers::Kept.kept_for(), None);
        assert_eq!(RawAnswers::KeptFor(month).kept_for(), Some(month));
        assert_eq!(RawAnswers::Dropped.kept_for(), Some(Duration::ZERO));
    }

    #[test]
    fn durations_are_a_number_and_a_unit() {
        for (text, seconds) in [
            ("1s", 1),
            ("90m", 5400),
            ("24h", 86_400),
            ("366d", 31_622_400),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "0s",
            "24",
            "h",
            "-1h",
            "1.5h",
            "1 h",
            "1w",
            "367d",
            "99999999999999999h",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
