//! The tables `pipeline`: what is made of a report.

mod files;
mod findings;
mod review;
mod terms;

use std::{path::Path, sync::Arc, time::Duration};

use fencepost_identity::{canonical, config::Item, json, pointer::Pointer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub use self::terms::RawAnswers;
use self::terms::{duration, keep_raw, seconds};
use super::policy;
use crate::{
    findings::RevisionForm,
    judge::{Judge, Kind, Rule},
    policy::Policy,
    schema::{Described, Schema},
    store::PipelineVersions,
};

const ATTEMPTS_DEFAULT: u64 = 3;
const ATTEMPTS_MAX: u64 = 100;
const LEASE_SECONDS_DEFAULT: u64 = 60;
const CALL_SECONDS_DEFAULT: u64 = 45;
const ELAPSED_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
const NAME_BYTES_MAX: usize = 128;

/// What is made of the reports of some sources.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// What an answer is made into.
    pub kind: Kind,
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

impl Pipeline {
    /// What its answers are judged by.
    #[must_use]
    pub fn judge(&self) -> Judge {
        Judge {
            kind: self.kind.clone(),
            schema: Arc::clone(&self.schema),
            prompt: self.prompt.clone(),
            policy: self.policy.clone(),
            review_when: self.review_when.clone(),
        }
    }

    /// Where the input of its reports holds the reviewed revision, if anywhere.
    #[must_use]
    pub fn revision(&self) -> Option<&RevisionForm> {
        match &self.kind {
            Kind::Classification => None,
            Kind::Findings(rules) => rules.location.as_ref().map(|it| &it.revision),
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
            schema_digest: self.schema_digest(),
        }
    }

    /// A record is what its schema says. Findings are also what the rules for their list say.
    pub fn schema_digest(&self) -> [u8; 32] {
        let digest = self.schema.digest();
        match &self.kind {
            Kind::Classification => digest,
            Kind::Findings(rules) => digest_of(&json!({
                "derivation": "fencepost/findings/1",
                "schema": digest,
                "findings": rules.fingerprint(),
            })),
        }
    }

    fn classifier_digest(&self, fingerprint: &Value) -> [u8; 32] {
        let mut document = json!({
            "derivation": "fencepost/classifier/1",
            "pipeline": self.name,
            "kind": self.kind.word(),
            "extractor": fingerprint,
            "prompt": self.prompt,
        });
        if let (Some(members), Some(policy)) = (document.as_object_mut(), self.policy.fingerprint())
        {
            members.insert("policy".to_owned(), policy);
        }
        digest_of(&document)
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
        let schema = table
            .require("schema")
            .and_then(|item| files::schema(&item, folder));
        let kind = findings::kind(&mut table, schema.as_deref());
        let schema_version = table
            .require("schema_version")
            .and_then(|item| version(&item));
        let prompt = table
            .require("prompt")
            .and_then(|item| files::prompt(&item, folder));
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
        let review_when = table.get("review_when").map_or(Some(Vec::new()), |item| {
            review::rules(&item, |pointer| {
                may_name(schema.as_deref(), kind.as_ref(), pointer)
            })
        });
        table.finish();
        Some(Self {
            name: name.to_owned(),
            kind: kind?,
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

/// Whether a rule of review may name this: where one of the two could not be read, that is what has
/// to be mended first.
fn may_name(schema: Option<&Schema>, kind: Option<&Kind>, pointer: &Pointer) -> bool {
    match (schema, kind) {
        (Some(schema), Some(Kind::Classification)) => schema.describes(pointer),
        (Some(schema), Some(Kind::Findings(rules))) => findings::item_of(schema, &rules.list)
            .is_none_or(|item| schema.described_in(item, pointer) != Described::NotListed),
        (None, _) | (_, None) => true,
    }
}

/// Canonical, so that the order in which members are written does not count.
fn digest_of(document: &Value) -> [u8; 32] {
    let document = document.to_string();
    // What serde_json writes the strict reader reads; a document too deep for it counts as it is.
    let parsed = json::parse(document.as_bytes());
    let canonical = parsed.and_then(|value| canonical::to_canonical(&value));
    Sha256::digest(canonical.unwrap_or(document).as_bytes()).into()
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
