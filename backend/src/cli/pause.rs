//! `pause` and `resume`: a person keeps work back, or lets it go on.

use clap::Args;
use serde::Serialize;

use super::{
    CliError, Verdict,
    backup::actor,
    output::{self, Shape, ShapeFlag},
    read::open,
};
use crate::{
    config::{Environment, Project, process_environment},
    http::wire::{PauseWire, SubjectWire},
    store::{CredentialName, PauseReason, Paused, Resumed, Subject},
};

/// What is meant.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Named {
    /// A pipeline, by its name.
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
    /// All pipelines that present a credential, by the variable that holds it, or by `extractor
    /// NAME` or `source NAME` where no variable does.
    #[arg(long, value_name = "VARIABLE")]
    credential: Option<String>,
}

impl Named {
    fn subject(self) -> Result<Subject, CliError> {
        match (self.pipeline, self.credential) {
            (Some(pipeline), None) => Ok(Subject::Pipeline(pipeline)),
            (None, Some(name)) => Ok(Subject::Credential(CredentialName::new(name))),
            (Some(_), Some(_)) | (None, None) => Err(CliError::Usage(
                "name a pipeline or a credential".to_owned(),
            )),
        }
    }
}

/// `pause`
#[derive(Debug, Args)]
pub(super) struct Pause {
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    shape: ShapeFlag,
}

#[derive(Serialize)]
struct Begun {
    subject: SubjectWire,
    changed: bool,
    /// Why it had been paused before.
    before: Option<PauseReason>,
}

impl Pause {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let subject = self.named.subject()?;
        must_be_configured(&subject)?;
        let actor = actor(&Environment::new(&process_environment));
        let store = open().await?;
        let paused = store.pause(subject.clone(), actor).await;
        store.close().await;
        let (changed, before, text) = match paused? {
            Paused::Begun => (true, None, "paused until it is resumed".to_owned()),
            Paused::TakenOver { from } => {
                let text = format!("was paused ({from}), and is now until it is resumed");
                (true, Some(from), text)
            }
            Paused::Already => {
                let before = PauseReason::Operator;
                (false, Some(before), "is paused already".to_owned())
            }
        };
        match self.shape.shape() {
            Shape::Json => output::json(&Begun {
                subject: subject.into(),
                changed,
                before,
            }),
            Shape::Table => output::line(&format!("{subject}: {text}")),
        }
        Ok(Verdict::Done)
    }
}

/// A misspelt name would pause nothing, and nobody would be told.
fn must_be_configured(subject: &Subject) -> Result<(), CliError> {
    let mut environment = Environment::new(&process_environment);
    let project = Project::read(&mut environment);
    let project = environment.errors.or(project)?;
    let pipelines = project.pipelines.iter();
    let pipelines = pipelines.map(|pipeline| Subject::Pipeline(pipeline.name.clone()));
    let extractors = project.extractors.iter();
    let credentials = extractors.map(|(name, config)| config.credential(name));
    let fetched = project
        .fetched()
        .map(|(source, fetch)| CredentialName::of_source(source, fetch.token_variable.as_deref()));
    let credentials = credentials.chain(fetched);
    let known: Vec<_> = pipelines
        .chain(credentials.map(Subject::Credential))
        .collect();
    if known.contains(subject) {
        return Ok(());
    }
    let known: Vec<_> = known.iter().map(Subject::to_string).collect();
    let message = format!(
        "there is no {subject} in the configuration; there is: {}",
        known.join(", ")
    );
    Err(CliError::Usage(message))
}

/// `resume`
#[derive(Debug, Args)]
pub(super) struct Resume {
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    shape: ShapeFlag,
}

#[derive(Serialize)]
struct Ended {
    resumed: Option<PauseWire>,
}

impl Resume {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let subject = self.named.subject()?;
        let actor = actor(&Environment::new(&process_environment));
        let store = open().await?;
        let resumed = store.resume(subject.clone(), actor).await;
        store.close().await;
        let ended = match resumed? {
            Resumed::Ended(pause) => Some(pause),
            Resumed::NotPaused => None,
        };
        let verdict = match ended {
            Some(_) => Verdict::Done,
            None => Verdict::No,
        };
        match (self.shape.shape(), ended) {
            (Shape::Json, ended) => output::json(&Ended {
                resumed: ended.map(PauseWire::from),
            }),
            (Shape::Table, Some(pause)) => {
                let (reason, since) = (pause.reason, pause.since);
                output::line(&format!(
                    "{subject}: resumed; paused since {since} ({reason})"
                ));
            }
            (Shape::Table, None) => output::complain(&format!("{subject} is not paused")),
        }
        Ok(verdict)
    }
}
