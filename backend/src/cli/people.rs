//! `erase`, straight on the database: it works while no server does.

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
    config::{Environment, process_environment},
    store::{Cursor, Erasure, Filter, Store},
};

/// How many reports are looked up at a time.
const PAGE_LENGTH: u32 = 500;

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
