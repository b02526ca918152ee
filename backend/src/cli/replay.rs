//! `replay`, straight on the database: it works while no server does.

use clap::Args;
use fencepost_identity::key::ReportKey;

use super::{
    CliError, Verdict,
    backup::actor,
    output::{self, Shape, ShapeFlag, printable},
    read::{open, parse_key},
};
use crate::{
    config::{Environment, Project, process_environment},
    http::{
        Judged,
        wire::{ReplayWire, ReplayWord, verdict_word},
    },
    judge::Judgement,
    replay::{self, Again},
    report::{AttemptOutcome, State},
    store::{PastVerdict, Replayed, ReviewStatus, ReviewView, Store},
};

/// How much of a value a table shows.
const VALUE_CHARACTERS_MAX: usize = 60;

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
        let Some(pipeline) = project.pipelines.iter().find(|p| p.name == *name) else {
            let file = project.file.display();
            return Err(CliError::Usage(format!(
                "{file} has no pipeline `{name}`, which the report is for"
            )));
        };
        let judged = Judged::from(pipeline);
        let who = actor(&Environment::new(&process_environment));
        let version = &judged.classifier_version;
        match replay::replay(store, report, judged.present(), who).await? {
            replay::Replay::Judged(again) => {
                self.tell_difference(*again, &judged);
                Ok(Verdict::Done)
            }
            replay::Replay::NothingKept { emptied } => {
                let why = match emptied {
                    Some(at) => format!("its answer was kept until {at}"),
                    None => "no answer of it is kept".to_owned(),
                };
                Ok(no(&format!(
                    "{key}: has been judged under {version}, and {why}. To have the model asked \
                     again, decide `retry` where a person is asked, or give the pipeline another \
                     classifier_version"
                )))
            }
            replay::Replay::Job(replayed) => Ok(self.tell_job(replayed, version)),
        }
    }

    fn tell_job(&self, replayed: Replayed, version: &str) -> Verdict {
        let key = self.key;
        let (word, state, text) = match replayed {
            Replayed::Made => (
                ReplayWord::Made,
                State::Accepted,
                format!("to be judged by a worker, which asks the model under {version}"),
            ),
            Replayed::Already { state } => (
                ReplayWord::Already,
                state,
                format!("has a job of {version} already, {}", state.as_str()),
            ),
            Replayed::Pending => (
                ReplayWord::Pending,
                State::Accepted,
                format!("was not begun yet, and will be under {version}"),
            ),
            Replayed::Erased => return no(&format!("{key} was erased")),
            Replayed::Superseded => {
                return no(&format!("{key} is not the current version any more"));
            }
            Replayed::Unknown => return unknown(key),
        };
        match self.shape.shape() {
            Shape::Json => output::json(&ReplayWire::new(key, version.to_owned(), word, state)),
            Shape::Table => output::line(&format!("{key}: {text}")),
        }
        Verdict::Done
    }

    fn tell_difference(&self, again: Again, judged: &Judged) {
        let version = &judged.classifier_version;
        match self.shape.shape() {
            Shape::Json => {
                let schema_version = &judged.schema_version;
                let document = ReplayWire::judged(self.key, version.clone(), again, schema_version);
                output::json(&document);
            }
            Shape::Table => {
                output::line(&format!(
                    "{}: the answer of attempt {} under {version}, judged again. No call was made \
                     and nothing was written.",
                    self.key, again.attempt
                ));
                print(&again, &judged.schema_version);
            }
        }
    }
}

fn no(why: &str) -> Verdict {
    output::complain(&why);
    Verdict::No
}

fn unknown(key: ReportKey) -> Verdict {
    no(&format!("no report has the key {key}"))
}

fn print(again: &Again, schema_version: &str) {
    let then = again.then.as_ref();
    let (outcome, reason, doubt) = match &again.now {
        Judgement::Valid { doubt, remark, .. } => (
            AttemptOutcome::Committed,
            remark.as_deref(),
            Some(doubt.as_deref()),
        ),
        Judgement::Invalid { outcome, reason } => (*outcome, Some(reason.as_str()), None),
    };
    let row = |name: &str, then: String, now: String| vec![name.to_owned(), then, now];
    let past = |read: fn(&PastVerdict) -> Option<String>| then.and_then(read).unwrap_or_default();
    let verdict = then.map_or("not judged", |then| verdict_word(then.outcome));
    output::table(
        &["", "then", "now"],
        &[
            row(
                "answer",
                verdict.to_owned(),
                verdict_word(outcome).to_owned(),
            ),
            row(
                "reason",
                printable(&past(|then| then.reason.clone())),
                printable(reason.unwrap_or_default()),
            ),
            row(
                "schema",
                past(|then| Some(then.schema_version.clone())),
                schema_version.to_owned(),
            ),
            row(
                "person",
                asked(again.review.as_ref()),
                would_be_asked(doubt),
            ),
        ],
    );
    let value = |value: &Option<String>| value.as_deref().map(short).unwrap_or_default();
    let changes: Vec<_> = again
        .changes
        .iter()
        .map(|change| {
            let (then, now) = (value(&change.then), value(&change.now));
            vec![change.word().to_owned(), short(&change.pointer), then, now]
        })
        .collect();
    match (&again.now, changes.is_empty()) {
        (_, false) => output::table(&["change", "member", "result then", "value now"], &changes),
        (Judgement::Valid { .. }, true) => output::line("the result has this value"),
        (Judgement::Invalid { .. }, true) => {}
    }
}

/// Whether a person is or was asked.
fn asked(review: Option<&ReviewView>) -> String {
    let Some(review) = review else {
        return "not asked".to_owned();
    };
    let status = match review.status {
        ReviewStatus::Open => "is asked",
        ReviewStatus::Closed => "was asked",
    };
    let note = review.note.as_deref().map(|note| format!(", {note}"));
    let note = note.unwrap_or_default();
    printable(&format!("{status}: {}{note}", review.reason))
}

/// Whether a person would be; nothing is known of that where the answer would not be taken.
fn would_be_asked(doubt: Option<Option<&str>>) -> String {
    match doubt {
        Some(Some(note)) => printable(&format!("would be asked: policy, {note}")),
        Some(None) => "would not be asked".to_owned(),
        None => "the answer would not be taken".to_owned(),
    }
}

/// As much of a text as a table shows, fit for a terminal.
fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(VALUE_CHARACTERS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    printable(&shown)
}
