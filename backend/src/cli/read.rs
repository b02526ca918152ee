//! `show` and `list`, straight from the database: they work while no server does.

use std::sync::Arc;

use clap::Args;
use fencepost_identity::key::ReportKey;
use serde::Serialize;

use super::{
    CliError, Verdict,
    output::{self, Shape, ShapeFlag, printable},
};
use crate::{
    config::{DatabaseUrl, Environment, process_environment},
    http::wire::{AttemptsWire, PageWire, ReportWire},
    report::{InputOrigin, StateWord},
    store::{
        self, AttemptView, Cursor, Filter, FindingView, FindingsView, Looked, ReportSummary,
        ReportView, Store,
    },
};

/// Opens the database of `FENCEPOST_DATABASE_URL`, which has to be there: a misspelt name must
/// not make an empty one.
pub(super) async fn open() -> Result<Arc<dyn Store>, CliError> {
    let mut environment = Environment::new(&process_environment);
    let database = DatabaseUrl::read(&mut environment);
    let database = environment.errors.or(database)?;
    if let Some(file) = database.missing_file() {
        let file = file.display();
        return Err(CliError::Usage(format!(
            "FENCEPOST_DATABASE_URL: there is no file {file}"
        )));
    }
    let empty = matches!(
        store::look(database.expose()).await?,
        Looked::OlderSchema { found: 0, .. }
    );
    if empty {
        return Err(CliError::Usage(
            "FENCEPOST_DATABASE_URL: the database is empty; `fencepost migrate` makes its tables"
                .to_owned(),
        ));
    }
    Ok(store::open(database.expose()).await?)
}

/// `show`
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The report's key: 64 hexadecimal digits.
    #[arg(value_parser = parse_key)]
    key: ReportKey,
    #[command(flatten)]
    shape: ShapeFlag,
}

pub(super) fn parse_key(text: &str) -> Result<ReportKey, String> {
    text.parse()
        .map_err(|error: fencepost_identity::key::NotAKey| error.to_string())
}

#[derive(Serialize)]
struct Shown {
    report: ReportWire,
    #[serde(flatten)]
    attempts: AttemptsWire,
}

impl Show {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let store = open().await?;
        let Some(report) = store.report(self.key).await? else {
            output::complain(&format!("no report has the key {}", self.key));
            return Ok(Verdict::No);
        };
        let attempts = store.attempts(self.key).await?;
        match self.shape.shape() {
            Shape::Json => {
                output::json(&Shown {
                    report: report.into(),
                    attempts: attempts.into(),
                });
            }
            Shape::Table => print(&report, &attempts),
        }
        Ok(Verdict::Done)
    }
}

fn print(report: &ReportView, attempts: &[AttemptView]) {
    let summary = &report.summary;
    let mut rows = vec![vec!["report".to_owned(), summary.key.to_string()]];
    if let Some(identity) = &summary.identity {
        rows.extend([
            vec!["tenant".to_owned(), printable(identity.tenant.as_str())],
            vec!["namespace".to_owned(), identity.namespace.to_string()],
            vec![
                "report id".to_owned(),
                printable(identity.report_id.as_str()),
            ],
            vec!["version".to_owned(), identity.version.to_string()],
        ]);
    }
    rows.extend([
        vec!["state".to_owned(), state(summary)],
        vec!["source".to_owned(), summary.source.clone()],
        vec!["pipeline".to_owned(), summary.pipeline.clone()],
        vec!["received".to_owned(), summary.received.to_string()],
        vec!["updated".to_owned(), summary.updated.to_string()],
        vec!["conflicts".to_owned(), report.conflicts.to_string()],
    ]);
    match report.input_from {
        InputOrigin::Forwarded => {}
        InputOrigin::Reference | InputOrigin::Fetched => {
            rows.push(vec!["input".to_owned(), report.input_from.to_string()]);
        }
    }
    if let Some(status) = report.version_status {
        rows.push(vec!["among versions".to_owned(), status.to_string()]);
    }
    if let Some(result) = &report.result {
        rows.push(vec!["result".to_owned(), printable(&result.value)]);
        rows.push(vec!["schema".to_owned(), result.schema_version.clone()]);
    }
    if let Some(review) = &report.review {
        let text = format!(
            "{} ({}), revision {}",
            review.status, review.reason, review.revision
        );
        rows.push(vec!["review".to_owned(), text]);
    }
    for (name, link) in &report.links {
        rows.push(vec![format!("link {}", printable(name)), printable(link)]);
    }
    output::table(&["", ""], &rows);
    if let Some(list) = &report.findings {
        print_findings(list);
    }
    let rows: Vec<_> = attempts.iter().map(attempt).collect();
    output::table(
        &[
            "attempt", "outcome", "charged", "token", "started", "took", "model",
        ],
        &rows,
    );
}

fn print_findings(list: &FindingsView) {
    let rows: Vec<_> = list.findings.iter().map(finding).collect();
    output::table(&["finding", "is", "collapsed", "value"], &rows);
    if list.more {
        output::line("there are more findings than are shown");
    }
    if let Some(version) = list.compared_with {
        let gone = list.gone.len();
        output::line(&format!("gone since the version before, {version}: {gone}"));
    }
}

fn finding(finding: &FindingView) -> Vec<String> {
    vec![
        finding.key.to_string(),
        finding
            .since
            .map_or_else(|| finding.status.to_string(), |since| since.to_string()),
        finding.collapsed.to_string(),
        printable(&finding.value),
    ]
}

fn attempt(attempt: &AttemptView) -> Vec<String> {
    let call = attempt.call.as_ref();
    let took = call.and_then(|call| call.latency_ms);
    let model = call.map(|call| printable(&call.model));
    vec![
        attempt.number.to_string(),
        attempt
            .outcome
            .map_or_else(|| "running".to_owned(), |outcome| outcome.to_string()),
        if attempt.charged {
            "yes".to_owned()
        } else {
            "no".to_owned()
        },
        attempt.token.to_string(),
        attempt.started.to_string(),
        took.map(|took| format!("{took} ms")).unwrap_or_default(),
        model.unwrap_or_default(),
    ]
}

/// `list`
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only reports in this state.
    #[arg(long, value_parser = parse_state)]
    state: Option<StateWord>,
    /// Only reports of this tenant.
    #[arg(long)]
    tenant: Option<String>,
    /// Only reports for this pipeline.
    #[arg(long)]
    pipeline: Option<String>,
    /// How many, at most 500.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Where to go on: what an earlier list named.
    #[arg(long, value_parser = parse_cursor)]
    cursor: Option<Cursor>,
    #[command(flatten)]
    shape: ShapeFlag,
}

fn parse_state(text: &str) -> Result<StateWord, String> {
    let words: Vec<_> = StateWord::ALL.iter().map(|word| word.as_str()).collect();
    text.parse()
        .map_err(|_| format!("one of {}", words.join(", ")))
}

fn parse_cursor(text: &str) -> Result<Cursor, String> {
    text.parse()
        .map_err(|error: store::NotACursor| error.to_string())
}

impl List {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let filter = Filter {
            state: self.state,
            tenant: self.tenant,
            pipeline: self.pipeline,
        };
        let page = open().await?.list(filter, self.cursor, self.limit).await?;
        if self.shape.shape() == Shape::Json {
            output::json(&PageWire::from(page));
            return Ok(Verdict::Done);
        }
        let rows: Vec<_> = page.reports.iter().map(summary).collect();
        output::table(
            &[
                "report",
                "state",
                "pipeline",
                "received",
                "tenant",
                "report id",
            ],
            &rows,
        );
        for row in &page.unreadable {
            output::complain(&format!("corrupt row: {row}"));
        }
        if let Some(next) = page.next {
            output::line(&format!("more with --cursor {next}"));
        }
        Ok(Verdict::Done)
    }
}

fn summary(summary: &ReportSummary) -> Vec<String> {
    // An erased report has none.
    let identity = summary.identity.as_ref();
    let text = |text: Option<&str>| text.map(printable).unwrap_or_default();
    vec![
        summary.key.to_string(),
        state(summary),
        summary.pipeline.clone(),
        summary.received.to_string(),
        text(identity.map(|identity| identity.tenant.as_str())),
        text(identity.map(|identity| identity.report_id.as_str())),
    ]
}

fn state(summary: &ReportSummary) -> String {
    match summary.state.outcome() {
        Some(outcome) => format!("{}: {outcome}", summary.state.as_str()),
        None => summary.state.as_str().to_owned(),
    }
}
