//! `replay` and `erase`, straight on the database: they work while no server does.

use std::sync::Arc;

use clap::Args;
use fencepost_identity::key::ReportKey;
use serde::Serialize;

use super::{
    CliError, Verdict,
    backup::actor,
    output::{self, Shape, ShapeFlag},
    read::{open, parse_key},
};
use crate::{
    config::{Environment, Project, process_environment},
    http::wire::{ReplayWire, ReplayWord},
    report::State,
    store::{Cursor, Erasure, Filter, Replayed, Store},
};

/// How many reports are looked up at a time.
const PAGE_LENGTH: u32 = 500;

/// `replay`
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// The report's key: 64 hexadecimal digits.
    #[arg(value_parser = parse_key)]
    key: ReportKey,
    #[command(flatten)]
    shape: ShapeFlag,
}

impl Replay {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let mut environment = Environment::new(&process_environment);
        let project = Project::read(&mut environment);
        let project = environment.errors.or(project)?;
        let store = open().await?;
        let done = self.replay(&*store, &project).await;
        store.close().await;
        done
    }

    async fn replay(&self, store: &dyn Store, project: &Project) -> Result<Verdict, CliError> {
        let key = self.key;
        let Some(report) = store.report(key).await? else {
            return Ok(unknown(key));
        };
        let name = &report.summary.pipeline;
        let versions = project.versions();
        let version = versions.iter().find(|(pipeline, _)| pipeline == name);
        let Some((_, version)) = version else {
            let file = project.file.display();
            return Err(CliError::Usage(format!(
                "{file} has no pipeline `{name}`, which the report is for"
            )));
        };
        let who = actor(&Environment::new(&process_environment));
        let (word, state) = match store.replay(key, version.clone(), who).await? {
            Replayed::Made => (ReplayWord::Made, State::Accepted),
            Replayed::Already { state } => (ReplayWord::Already, state),
            Replayed::Pending => (ReplayWord::Pending, State::Accepted),
            Replayed::Erased => return Ok(no(&format!("{key} was erased"))),
            Replayed::Superseded => {
                return Ok(no(&format!("{key} is not the current version any more")));
            }
            Replayed::Unknown => return Ok(unknown(key)),
        };
        match (self.shape.shape(), word) {
            (Shape::Json, _) => {
                output::json(&ReplayWire::new(key, version.clone(), word, state));
            }
            (Shape::Table, ReplayWord::Made) => {
                output::line(&format!("{key}: to be judged again under {version}"));
            }
            (Shape::Table, ReplayWord::Already) => {
                let state = state.as_str();
                output::line(&format!("{key}: has a job of {version} already, {state}"));
            }
            (Shape::Table, ReplayWord::Pending) => {
                output::line(&format!(
                    "{key}: was not begun yet, and will be under {version}"
                ));
            }
        }
        Ok(Verdict::Done)
    }
}

fn no(why: &str) -> Verdict {
    output::complain(&why);
    Verdict::No
}

fn unknown(key: ReportKey) -> Verdict {
    no(&format!("no report has the key {key}"))
}

/// `erase`
#[derive(Debug, Args)]
pub(super) struct Erase {
    /// The report's key: 64 hexadecimal digits.
    #[arg(value_parser = parse_key, required_unless_present = "tenant")]
    key: Option<ReportKey>,
    /// All reports of this tenant that there are now.
    #[arg(long, conflicts_with = "key")]
    tenant: Option<String>,
    #[command(flatten)]
    shape: ShapeFlag,
}

/// What was done, report by report.
#[derive(Default, Serialize)]
struct Done {
    erased: Vec<ReportKey>,
    already: Vec<ReportKey>,
    unknown: Vec<ReportKey>,
}

impl Erase {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let store = open().await?;
        let mut done = Done::default();
        let erased = self.erase(&store, &mut done).await;
        // Only what is no longer in the log is gone from SQLite's files.
        store.close().await;
        self.tell(&done);
        erased?;
        let any = !(done.erased.is_empty() && done.already.is_empty());
        Ok(if any { Verdict::Done } else { Verdict::No })
    }

    async fn erase(&self, store: &Arc<dyn Store>, done: &mut Done) -> Result<(), CliError> {
        let who = actor(&Environment::new(&process_environment));
        if let Some(key) = self.key {
            return one(&**store, key, &who, done).await;
        }
        let mut after: Option<Cursor> = None;
        loop {
            let filter = Filter {
                tenant: self.tenant.clone(),
                ..Filter::default()
            };
            let page = store.list(filter, after, PAGE_LENGTH).await?;
            let readable = page.reports.iter().map(|report| report.key);
            // A row that can't be understood is erased like any other.
            let others = page
                .unreadable
                .iter()
                .filter_map(|row| row.key.parse().ok());
            for key in readable.chain(others) {
                one(&**store, key, &who, done).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    fn tell(&self, done: &Done) {
        match self.shape.shape() {
            Shape::Json => output::json(done),
            Shape::Table => {
                for key in &done.erased {
                    output::line(&format!("{key}: erased"));
                }
                for key in &done.already {
                    output::line(&format!("{key}: was erased before"));
                }
            }
        }
        for key in &done.unknown {
            output::complain(&format!("no report has the key {key}"));
        }
        if self.tenant.is_some() && done.erased.is_empty() {
            output::complain(&"there is no report of this tenant");
        }
    }
}

async fn one(
    store: &dyn Store,
    key: ReportKey,
    who: &str,
    done: &mut Done,
) -> Result<(), CliError> {
    match store.erase(key, who.to_owned()).await? {
        Erasure::Erased => done.erased.push(key),
        Erasure::Already => done.already.push(key),
        Erasure::Unknown => done.unknown.push(key),
    }
    Ok(())
}
