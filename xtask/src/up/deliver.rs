//! The samples, delivered as their sender would, and over and over.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, anyhow, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::stage::Secrets;
use crate::programs::Programs;

/// How often the same bytes are delivered at once.
const TIMES: &str = "10";

/// One line of a deliveries.json in samples/.
#[derive(Deserialize)]
struct Line {
    file: String,
    source: String,
    /// Where the route names one.
    tenant: Option<String>,
    #[serde(default)]
    headers: Vec<String>,
    becomes: Becomes,
    findings: Option<Vec<String>>,
}

/// A payload with where it is delivered to.
pub(crate) struct Sample {
    /// As people are told of it.
    pub(crate) label: String,
    pub(crate) source: String,
    tenant: Option<String>,
    /// Beside the signature.
    headers: Vec<String>,
    /// Of the payload.
    path: PathBuf,
    pub(crate) becomes: Becomes,
    /// What its record lists, in the form of [`Report::findings`](super::admin::Report::findings);
    /// none where a record is no list.
    pub(crate) findings: Option<Vec<String>>,
}

/// What has to come of a delivery.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Becomes {
    /// A record of its own.
    Record,
    /// None: it is the same version of a report as an earlier sample.
    Known,
    /// None: the source's filter leaves it out.
    Nothing,
}

/// What a sender delivers.
pub(crate) struct Parcel {
    /// As people are told of it.
    pub(crate) label: String,
    source: String,
    /// What `fencepost send` is told besides.
    options: Vec<String>,
    payload: Vec<u8>,
}

/// What the edge answered to deliveries; `fencepost send --json` prints one.
#[derive(Default, Deserialize)]
pub(crate) struct Answers {
    pub(crate) deliveries: u64,
    pub(crate) accepted: u64,
    pub(crate) duplicates: u64,
    pub(crate) ignored: u64,
    pub(crate) report_keys: BTreeSet<String>,
}

/// Delivers to an edge.
pub(crate) struct Courier<'a> {
    /// The folder of the configuration that the edge reads.
    pub(crate) project: &'a Path,
    pub(crate) programs: &'a Programs,
    /// Those of the senders among them sign.
    pub(crate) secrets: &'a Secrets,
    pub(crate) edge: &'a str,
}

/// The samples of all senders, each sender's in the order in which they happened.
pub(crate) fn samples(root: &Path) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for sender in names_in(&root.join("samples"))? {
        let folder = root.join("samples").join(sender);
        let file = folder.join("deliveries.json");
        let text = fs::read(&file).with_context(|| format!("no {}", file.display()))?;
        let lines: Vec<Line> = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not as expected", file.display()))?;
        samples.extend(lines.into_iter().map(|line| Sample {
            label: format!("{}: {}", line.source, line.file.trim_end_matches(".json")),
            path: folder.join(line.file),
            source: line.source,
            tenant: line.tenant,
            headers: line.headers,
            becomes: line.becomes,
            findings: line.findings,
        }));
    }
    Ok(samples)
}

/// What stands in a folder, in the order of the names.
pub(crate) fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().into_string();
        names.push(name.map_err(|name| anyhow!("{} is not UTF-8", name.display()))?);
    }
    names.sort();
    Ok(names)
}

impl Sample {
    /// As its sender delivers it.
    pub(crate) fn parcel(&self) -> Result<Parcel> {
        let tenant = self.tenant.iter().map(|tenant| ("--tenant", tenant));
        let headers = self.headers.iter().map(|header| ("--header", header));
        Ok(Parcel {
            label: self.label.clone(),
            source: self.source.clone(),
            options: tenant
                .chain(headers)
                .flat_map(|(option, value)| [option.to_owned(), value.clone()])
                .collect(),
            payload: fs::read(&self.path)?,
        })
    }
}

impl Parcel {
    /// A report of a tenant's own program, as the source `reports` takes it.
    pub(crate) fn report(tenant: &str, id: &str, text: &str) -> Self {
        Self {
            label: id.to_owned(),
            source: "reports".to_owned(),
            options: vec!["--tenant".to_owned(), tenant.to_owned()],
            payload: json!({"id": id, "revision": 1, "text": text})
                .to_string()
                .into_bytes(),
        }
    }
}

impl Courier<'_> {
    /// It ten times at once, then once more with other headers and another member order.
    pub(crate) fn deliver(&self, parcel: &Parcel) -> Result<Answers> {
        let payload = &parcel.payload;
        let other = reordered(serde_json::from_slice(payload)?);
        let mut answers =
            self.send(parcel, payload, &["--times", TIMES, "--concurrency", TIMES])?;
        let headers = [
            "--header",
            "user-agent: somebody-else/1",
            "--header",
            "x-attempt: 11",
        ];
        let once_more = self.send(parcel, &serde_json::to_vec(&other)?, &headers)?;
        answers.add(once_more);
        Ok(answers)
    }

    fn send(&self, parcel: &Parcel, payload: &[u8], options: &[&str]) -> Result<Answers> {
        let mut fencepost = self.programs.fencepost(self.project);
        let mut child = fencepost
            .envs(self.secrets.senders.clone())
            .args([
                "send",
                "--json",
                "--url",
                self.edge,
                "--source",
                &parcel.source,
            ])
            .args(&parcel.options)
            .args(options)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        child
            .stdin
            .take()
            .context("stdin is piped")?
            .write_all(payload)?;
        let output = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!(
                "not every delivery of {} was answered with a 2xx: {said}",
                parcel.label
            );
        }
        serde_json::from_str(&said).with_context(|| format!("`fencepost send` said: {said}"))
    }
}

impl Answers {
    fn add(&mut self, others: Self) {
        self.deliveries += others.deliveries;
        self.accepted += others.accepted;
        self.duplicates += others.duplicates;
        self.ignored += others.ignored;
        self.report_keys.extend(others.report_keys);
    }
}

/// The same document with the members of every object in the opposite order.
fn reordered(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let back = members.into_iter().rev();
            Value::Object(back.map(|(name, value)| (name, reordered(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(reordered).collect()),
        scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => scalar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reordering_changes_the_bytes_and_not_the_document() {
        let text = r#"{"b":[{"y":1,"x":null}],"a":{"n":12345678901234567890,"s":"é"}}"#;
        let document: Value = serde_json::from_str(text).unwrap();
        let other = reordered(document.clone());
        assert_eq!(
            serde_json::to_string(&other).unwrap(),
            r#"{"a":{"s":"é","n":12345678901234567890},"b":[{"x":null,"y":1}]}"#
        );
        // Objects are compared without regard to the order of their members.
        assert_eq!(other, document);
    }

    #[test]
    fn every_sample_is_delivered_and_every_delivery_has_its_sample() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files = Vec::new();
        for sender in names_in(&root.join("samples")).unwrap() {
            let names = names_in(&root.join("samples").join(&sender)).unwrap();
            let payloads = names
                .iter()
                .filter(|name| name.ends_with(".json") && *name != "deliveries.json");
            let folder = root.join("samples").join(sender);
            files.extend(payloads.map(|name| folder.join(name)));
        }
        let samples = samples(root).unwrap();
        let mut named: Vec<_> = samples.into_iter().map(|sample| sample.path).collect();
        files.sort();
        named.sort();
        named.dedup(); // several sources may take in one payload
        assert_eq!(files, named);
    }
}
