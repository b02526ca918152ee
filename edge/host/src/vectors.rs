//! Checking the component's export against test vectors of another program.

use crate::keys::{Answer, Identity, Keys, KeysError, Mapping};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The vectors of a folder: `keys.json`, `payloads.json` and `inputs.json`.
pub struct Vectors {
    keys: Vec<KeyVector>,
    payloads: Vec<PayloadVector>,
    inputs: Vec<InputVector>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyVector {
    name: String,
    identity: Identity,
    report_key: String,
    classifier_version: String,
    claim_key: String,
    call: u32,
    call_key: String,
    event: (String, u64),
    event_key: String,
    schema_version: String,
    result_key: String,
    fingerprint: Vec<String>,
    finding_key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PayloadVector {
    name: String,
    mapping: Mapping,
    payload: Option<String>,
    payload_base64: Option<String>,
    route_tenant: Option<String>,
    identity: Option<Identity>,
    report_key: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputVector {
    name: String,
    input: String,
    #[serde(rename = "canonical")]
    _canonical: String,
    input_hash: String,
}

/// The vectors cannot be used, or the component not asked.
#[derive(Debug, Error)]
pub enum VectorsError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file has another form, or nothing in it.
    #[error("{}: {reason}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A payload vector that names neither or both forms of a payload or an outcome.
    #[error("payloads.json: {0:?} needs one payload, and an identity with its key or an error")]
    Payload(String),
    /// See [`KeysError`].
    #[error(transparent)]
    Keys(#[from] KeysError),
}

/// How the vectors came out.
#[derive(Debug)]
pub struct Outcome {
    /// One JSON object for each value that differs.
    pub failures: Vec<Value>,
    /// How many vectors of each kind were checked, and how many failed.
    pub summary: Value,
}

impl Vectors {
    /// Reads the three files. An empty one is an error: it would prove nothing.
    pub fn read(folder: &Path) -> Result<Self, VectorsError> {
        Ok(Self {
            keys: read(folder, "keys.json")?,
            payloads: read(folder, "payloads.json")?,
            inputs: read(folder, "inputs.json")?,
        })
    }

    /// Derives every value with the component and compares it.
    pub async fn check(&self, keys: &mut Keys) -> Result<Outcome, VectorsError> {
        let mut checks = Checks::default();
        for vector in &self.keys {
            checks.begin("keys", &vector.name);
            check_keys(vector, keys, &mut checks).await?;
        }
        for vector in &self.payloads {
            checks.begin("payloads", &vector.name);
            check_payload(vector, keys, &mut checks).await?;
        }
        for vector in &self.inputs {
            checks.begin("inputs", &vector.name);
            let hash = keys.input_hash(vector.input.as_bytes()).await?;
            checks.compare_keys("input_hash", &vector.input_hash, hash);
        }
        let summary = json!({
            "keys": self.keys.len(),
            "payloads": self.payloads.len(),
            "inputs": self.inputs.len(),
            "failed": checks.failed,
        });
        Ok(Outcome {
            failures: checks.failures,
            summary,
        })
    }
}

fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Vec<T>, VectorsError> {
    let path = folder.join(name);
    let form = |reason: String| VectorsError::Form {
        path: path.clone(),
        reason,
    };
    let text = std::fs::read(&path).map_err(|source| VectorsError::Read {
        path: path.clone(),
        source,
    })?;
    let vectors: Vec<T> = serde_json::from_slice(&text).map_err(|e| form(e.to_string()))?;
    if vectors.is_empty() {
        return Err(form("no vectors in it".to_owned()));
    }
    Ok(vectors)
}

/// Every key is derived from the expected one before it, so that one fault shows once.
async fn check_keys(
    vector: &KeyVector,
    keys: &mut Keys,
    checks: &mut Checks,
) -> Result<(), KeysError> {
    let report_key = keys.report_key(&vector.identity).await?;
    checks.compare_keys("report_key", &vector.report_key, report_key);
    let claim_key = keys
        .claim_key(&vector.report_key, &vector.classifier_version)
        .await?;
    checks.compare_keys("claim_key", &vector.claim_key, claim_key);
    let call_key = keys.call_key(&vector.claim_key, vector.call).await?;
    checks.compare_keys("call_key", &vector.call_key, call_key);
    let result_key = keys
        .result_key(&vector.report_key, &vector.schema_version)
        .await?;
    checks.compare_keys("result_key", &vector.result_key, result_key);
    let finding_key = keys
        .finding_key(&vector.result_key, &vector.fingerprint)
        .await?;
    checks.compare_keys("finding_key", &vector.finding_key, finding_key);
    let (kind, sequence) = &vector.event;
    let event_key = keys.event_key(&vector.report_key, kind, *sequence).await?;
    checks.compare_keys("event_key", &vector.event_key, event_key);
    Ok(())
}

async fn check_payload(
    vector: &PayloadVector,
    keys: &mut Keys,
    checks: &mut Checks,
) -> Result<(), VectorsError> {
    let malformed = || VectorsError::Payload(vector.name.clone());
    let payload = match (&vector.payload, &vector.payload_base64) {
        (Some(text), None) => text.clone().into_bytes(),
        (None, Some(base64)) => STANDARD.decode(base64).map_err(|_| malformed())?,
        (None, None) | (Some(_), Some(_)) => return Err(malformed()),
    };
    let expected = match (&vector.identity, &vector.report_key, &vector.error) {
        (Some(identity), Some(key), None) => json!({ "identity": identity, "report_key": key }),
        (None, None, Some(code)) => json!({ "error": code }),
        _ => return Err(malformed()),
    };
    let route_tenant = vector.route_tenant.as_deref();
    let got = match keys
        .identify(&payload, &vector.mapping, route_tenant)
        .await?
    {
        Ok((identity, key)) => json!({ "identity": identity, "report_key": key }),
        Err(refusal) => json!({ "error": refusal.code }),
    };
    checks.compare("identify", expected, got);
    Ok(())
}

#[derive(Default)]
struct Checks {
    file: &'static str,
    name: String,
    counted: bool,
    failed: usize,
    failures: Vec<Value>,
}

impl Checks {
    fn begin(&mut self, file: &'static str, name: &str) {
        self.file = file;
        self.name = name.to_owned();
        self.counted = false;
    }

    fn compare_keys(&mut self, what: &str, expected: &str, got: Answer<String>) {
        let got = match got {
            Ok(key) => Value::String(key),
            Err(refusal) => json!({ "error": refusal.code }),
        };
        self.compare(what, Value::String(expected.to_owned()), got);
    }

    fn compare(&mut self, what: &str, expected: Value, got: Value) {
        if expected == got {
            return;
        }
        // A vector fails once, however many of its values differ.
        if !self.counted {
            self.failed += 1;
            self.counted = true;
        }
        self.failures.push(json!({
            "file": self.file,
            "name": self.name,
            "what": what,
            "expected": expected,
            "got": got,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_fails_once() {
        let mut checks = Checks::default();
        checks.begin("keys", "first");
        checks.compare_keys("report_key", "a", Ok("b".to_owned()));
        checks.compare_keys("claim_key", "a", Ok("b".to_owned()));
        checks.begin("keys", "second");
        checks.compare_keys("report_key", "a", Ok("a".to_owned()));
        assert_eq!(checks.failed, 1);
        assert_eq!(checks.failures.len(), 2);
        assert_eq!(checks.failures[0]["name"], "first");
    }

    #[test]
    fn an_empty_file_proves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("keys.json"), "[]").unwrap();
        let error = read::<KeyVector>(folder.path(), "keys.json").err().unwrap();
        assert!(error.to_string().ends_with("keys.json: no vectors in it"));
    }
}
