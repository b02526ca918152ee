//! `pipeline try`: one payload through a pipeline, with nothing stored.
//!
//! The steps are those of the edge and of a worker, taken by the same code: only what a signature,
//! a clock or a database decide is left out, and the answer says so.

use clap::Args;
use fencepost_identity::{
    admission::{Delivery, Entrance, Payload},
    config::Source,
    envelope::Envelope,
    key::{CallKey, ClaimKey, ResultKey},
    mapping::Input,
};

use super::walk::{Keys, Names, Walk};
use crate::{
    app,
    cli::{
        CliError, InputFile, Verdict,
        output::{Shape, ShapeFlag},
        sign::RouteTenant,
    },
    config::{Environment, Project, ProviderKeys, process_environment},
    worker,
};

/// `pipeline try`
#[derive(Debug, Args)]
pub(in crate::cli) struct Try {
    /// The pipeline's name.
    name: String,
    /// The payload, without a signature; `-` is stdin.
    file: InputFile,
    /// The source that the payload comes in by, where several lead to the pipeline.
    #[arg(long)]
    source: Option<String>,
    /// The tenant that the route names, for a source that takes it from there.
    #[arg(long)]
    tenant: Option<String>,
    /// Stop before the call: no model is asked, nothing is fetched, and no key is needed.
    #[arg(long)]
    no_call: bool,
    #[command(flatten)]
    shape: ShapeFlag,
}

/// Whether the model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    Asked,
    LeftOut,
}

impl Try {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let mut environment = Environment::new(&process_environment);
        let project = Project::read(&mut environment);
        let mut project = std::mem::take(&mut environment.errors).or(project)?;
        project
            .pipelines
            .retain(|pipeline| pipeline.name == self.name);
        let source = self.source(&project)?.clone();
        let asking = match self.no_call {
            true => Asking::LeftOut,
            false => Asking::Asked,
        };
        let keys = match asking {
            Asking::Asked => ProviderKeys::read(&mut environment, &project),
            Asking::LeftOut => ProviderKeys::default(),
        };
        let keys = environment.errors.or(Some(keys))?;
        let body = self.file.read()?;
        let mut walk = Walk::of(&self.name, &source);
        let segment = self.tenant.as_deref().map(RouteTenant::new);
        let mut path = format!("/hooks/{}", source.name);
        if let Some(tenant) = &segment {
            path = format!("{path}/{}", tenant.segment());
        }
        let delivery = Delivery {
            method: "POST",
            path: &path,
            query: None,
            headers: &[],
        };
        let payload = Entrance::find(&project.sources, &delivery)
            .and_then(|entrance| entrance.rehearse(&body));
        match payload {
            Err(refusal) => walk.refused(&refusal),
            Ok(Payload::Ignored) => walk.ignored(),
            Ok(Payload::Report(envelope)) => {
                let pipeline = app::pipeline(project, &self.name, &keys)?;
                let pipeline = pipeline.ok_or_else(|| unknown(&self.name))?;
                ask(&mut walk, &envelope, &pipeline, asking).await?;
            }
        }
        match self.shape.shape() {
            Shape::Json => walk.print_json(),
            Shape::Table => walk.print(),
        }
        Ok(walk.verdict())
    }

    /// The source that is meant: the only one that leads to the pipeline, or the one that is named.
    fn source<'p>(&self, project: &'p Project) -> Result<&'p Source, CliError> {
        if project.pipelines.is_empty() {
            return Err(unknown(&self.name));
        }
        let sources = project.sources.iter();
        let leading: Vec<&Source> = sources.filter(|it| it.pipeline == self.name).collect();
        let names: Vec<&str> = leading.iter().map(|it| it.name.as_str()).collect();
        let names = names.join(", ");
        let name = &self.name;
        match (&self.source, leading.as_slice()) {
            (Some(wanted), _) => {
                let found = leading.iter().find(|it| it.name == *wanted);
                found.copied().ok_or_else(|| {
                    CliError::Usage(format!(
                        "no source `{wanted}` leads to the pipeline `{name}`; these do: {names}"
                    ))
                })
            }
            (None, [only]) => Ok(only),
            (None, []) => Err(CliError::Usage(format!(
                "no source leads to the pipeline `{name}`"
            ))),
            (None, _) => Err(CliError::Usage(format!(
                "several sources lead to the pipeline `{name}`; choose by --source: {names}"
            ))),
        }
    }
}

/// From a report on: its keys, what a model would be asked, and what comes of asking.
async fn ask(
    walk: &mut Walk,
    envelope: &Envelope,
    pipeline: &worker::Pipeline,
    asking: Asking,
) -> Result<(), CliError> {
    let versions = &pipeline.versions;
    let report = envelope.identity.report_key();
    let claim = ClaimKey::of(&report, &versions.classifier_version);
    let call = CallKey::of(&claim, 1);
    let result = ResultKey::of(&report, &versions.schema_version);
    walk.report(
        envelope,
        versions,
        Keys {
            report,
            claim,
            call,
            result,
        },
    );
    let Some(input) = input(walk, envelope, pipeline, asking).await else {
        return Ok(());
    };
    walk.input(&input);
    let input = input.as_str().as_bytes();
    let question = pipeline.first_question(call, input);
    let sent = pipeline.extractor.sent_schema(question.schema);
    // A pipeline whose schema can't be sent was refused when it was put together.
    walk.question(
        &question,
        sent.map_err(|error| CliError::Usage(error.to_string()))?,
    );
    if let Some(refusal) = pipeline.judge.refuse(input) {
        walk.not_answerable(&refusal);
        return Ok(());
    }
    match asking {
        Asking::LeftOut => walk.not_asked(pipeline.judge.policy.doubt(input)),
        Asking::Asked => {
            let trial = pipeline.try_out(&question).await;
            let names = Names {
                identity: &envelope.identity,
                result,
                judge: &pipeline.judge,
            };
            walk.answered(trial, pipeline.max_attempts, &names);
        }
    }
    Ok(())
}

/// The input: forwarded, or fetched now. None where it is not there, which the walk tells.
async fn input(
    walk: &mut Walk,
    envelope: &Envelope,
    pipeline: &worker::Pipeline,
    asking: Asking,
) -> Option<Input> {
    if let Some(input) = &envelope.input {
        return Some(input.clone());
    }
    if asking == Asking::LeftOut {
        walk.not_fetched();
        return None;
    }
    let (identity, links) = (&envelope.identity, &envelope.links);
    let fetched = pipeline.try_fetch(&envelope.source, identity, links);
    match fetched.await? {
        Ok(input) => Some(input),
        Err(failed) => {
            walk.fetch_failed(&failed);
            None
        }
    }
}

fn unknown(name: &str) -> CliError {
    CliError::Usage(format!(
        "there is no table [pipeline.{name}] in the configuration"
    ))
}
