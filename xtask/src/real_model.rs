//! The whole chain with a real model: what has to hold however it answers.
//!
//! The model is too small to judge well. What is looked at is therefore never whether it is right.

mod numbers;
mod reports;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::model::{self, Call, Model};
use crate::programs::Programs;
use crate::up::admin::Admin;
use crate::up::children::Events;
use crate::up::deliver::{self, Courier, Parcel};
use crate::up::{self, Extractor, Options, Running, Then};
use verdict::{Rules, Story};

/// By report key: all that the backend tells of a report and its attempts.
type Told = BTreeMap<String, Value>;

/// What was delivered, and what it became.
struct Delivered {
    parcel: Parcel,
    keys: BTreeSet<String>,
}

/// Starts everything, delivers, and judges.
pub(crate) fn run(root: &Path, programs: &Programs, model: Model) -> Result<()> {
    let events = Events::new()?;
    let options = Options {
        then: Then::Stop,
        extractor: Extractor::Model(model),
        listen: None,
        spin: None,
    };
    let running = up::start(root, programs, &options, &events)?;
    prove(root, programs, &running, &events)
        .with_context(|| format!("database and logs stand in {}", running.folder.display()))?;
    running.clear_away()
}

fn prove(root: &Path, programs: &Programs, running: &Running, events: &Events) -> Result<()> {
    let server = running.model.as_ref().context("the model runs")?;
    let courier = running.courier(programs);
    let admin = running.admin();
    let mut keys = up::prove(root, programs, running, events)?;

    println!("Reports of two tenants, each delivered over and over; those of one are injections");
    let ordinary = deliver_new(&courier, reports::ordinary(), &mut keys)?;
    running.settle(&keys, events)?;
    let before = told(&admin, &keys)?;

    let victim = ordinary.first().and_then(|it| it.keys.first());
    let injected = reports::injected(victim.context("there is a victim")?);
    let injected = deliver_new(&courier, injected, &mut keys)?;
    running.settle(&keys, events)?;
    let mut after = told(&admin, &keys)?;
    unchanged(&before, &after).context("after reports that were written to the model")?;

    let calls = server.calls()?;
    deliver_again(&courier, root, ordinary.iter().chain(&injected), &keys)?;
    unchanged(&after, &told(&admin, &keys)?).context("after duplicates")?;
    ensure!(server.calls()? == calls, "a duplicate made another call");
    let count = admin.report_count()?;
    ensure!(count == keys.len(), "{count} records of {}", keys.len());

    let schema = root.join("backend/schemas/moderation-v3.json");
    let rules = Rules::read(&schema, up::ATTEMPTS_MAX)?;
    let mut stories = Vec::new();
    for delivered in ordinary.iter().chain(&injected) {
        for key in &delivered.keys {
            let story = after
                .remove(key)
                .context("a report that nobody asked for")?;
            stories.push(Story::read(&delivered.parcel.label, &story)?);
        }
    }
    // The others are the samples. Those of other pipelines keep their extractors.
    for (key, story) in after.iter().filter(|(_, told)| asks_model(told)) {
        stories.push(Story::read(&format!("sample {}", short(key)), story)?);
    }
    judge(&stories, &rules, &calls)
}

fn judge(stories: &[Story], rules: &Rules, calls: &[Call]) -> Result<()> {
    println!("\n{}\n", numbers::table(stories, calls));
    for story in stories {
        story.judge(rules).with_context(|| story.label.clone())?;
    }
    verdict::calls_match(stories, calls)?;
    println!("{}", numbers::summary(stories, calls));
    Ok(())
}

/// Delivers what is new: each becomes one report.
fn deliver_new(
    courier: &Courier<'_>,
    parcels: Vec<Parcel>,
    known: &mut BTreeSet<String>,
) -> Result<Vec<Delivered>> {
    let mut delivered = Vec::new();
    for parcel in parcels {
        let answers = courier.deliver(&parcel)?;
        let label = &parcel.label;
        let (accepted, keys) = (answers.accepted, answers.report_keys);
        ensure!(accepted == 1, "{label} was accepted {accepted} times");
        ensure!(keys.len() == 1, "{label} has {} keys", keys.len());
        let is_new = keys.iter().all(|key| known.insert(key.clone()));
        ensure!(is_new, "{label} has the key of another report");
        delivered.push(Delivered { parcel, keys });
    }
    Ok(delivered)
}

/// Delivers all of it again, with the samples: nothing is new.
fn deliver_again<'a>(
    courier: &Courier<'_>,
    root: &Path,
    delivered: impl Iterator<Item = &'a Delivered>,
    known: &BTreeSet<String>,
) -> Result<()> {
    let samples = deliver::samples(root)?;
    let samples = samples.iter().map(|sample| sample.parcel());
    let samples = samples.collect::<Result<Vec<_>>>()?;
    for parcel in samples.iter().chain(delivered.map(|it| &it.parcel)) {
        let answers = courier.deliver(parcel)?;
        let label = &parcel.label;
        let is_known = answers.report_keys.iter().all(|key| known.contains(key));
        ensure!(
            answers.accepted == 0 && is_known,
            "{label} became another report"
        );
    }
    Ok(())
}

fn told(admin: &Admin, keys: &BTreeSet<String>) -> Result<Told> {
    keys.iter()
        .map(|key| {
            let report: Value = admin.get(&format!("/v1/reports/{key}"))?;
            let attempts: Value = admin.get(&format!("/v1/reports/{key}/attempts"))?;
            Ok((
                key.clone(),
                json!({ "report": report, "attempts": attempts }),
            ))
        })
        .collect()
}

/// To the last member: no time, no count, no text may be another one.
fn unchanged(before: &Told, after: &Told) -> Result<()> {
    for (key, told) in before {
        let same = after.get(key) == Some(told);
        ensure!(same, "report {} is told otherwise", short(key));
    }
    Ok(())
}

/// Whether it is a report that the model is asked about.
fn asks_model(told: &Value) -> bool {
    let pipeline = told.pointer("/report/pipeline").and_then(Value::as_str);
    pipeline == Some(model::PIPELINE)
}

fn short(key: &str) -> String {
    key.chars().take(8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_other_pipelines_are_not_judged_by_this_one() {
        let told = |pipeline| json!({ "report": { "pipeline": pipeline }, "attempts": [] });
        assert!(asks_model(&told("moderation")));
        assert!(!asks_model(&told("another")));
        assert!(!asks_model(&json!({})));
    }
}
