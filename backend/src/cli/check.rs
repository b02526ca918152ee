//! `check`: whether configuration, secrets, manifest and database fit together, before anything
//! runs. It only looks: the database is neither made nor migrated, and nothing is bound.

mod models;
mod secrets;
mod warnings;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use self::{
    models::{Reach, check_models},
    secrets::check_secrets,
    warnings::{idle_limits, unattended, weaknesses},
};

use super::{
    CliError, Verdict,
    output::{self, Shape, ShapeFlag},
};
use crate::{
    app,
    config::{
        Config, ConfigErrors, DatabaseUrl, Environment, Project, Role, check_manifest,
        process_environment,
    },
    store::{self, Bindings, Looked},
};

/// `check`
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The edge's manifest, to be compared with the configuration.
    #[arg(long, value_name = "spin.toml")]
    spin: Option<PathBuf>,
    /// Which part of the work is meant, as for `serve`.
    #[arg(long, value_enum, default_value_t = Role::All)]
    role: Role,
    /// Try to connect to each model's server. Nothing is sent, so no key and no report either.
    #[arg(long)]
    online: bool,
    #[command(flatten)]
    shape: ShapeFlag,
}

#[derive(Serialize)]
struct Answer<'a> {
    ok: bool,
    errors: &'a [String],
    /// What the database has bound to something else, and what it can't be used for.
    conflicts: &'a [String],
    /// What can be taken on, and should be known of.
    warnings: &'a [String],
    /// What could not be checked here.
    unchecked: &'a [String],
}

/// What was found.
#[derive(Default)]
struct Findings {
    errors: ConfigErrors,
    conflicts: Vec<String>,
    warnings: Vec<String>,
    unchecked: Vec<String>,
}

impl Check {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let mut findings = Findings::default();
        if let Err(errors) = Config::from_lookup(&process_environment, self.role) {
            findings.errors = errors;
        }
        let mut environment = Environment::new(&process_environment);
        // Its errors are among those above already.
        if let Some(project) = Project::read(&mut environment) {
            let sources = project.sources.iter().flat_map(weaknesses);
            let pipelines = project.pipelines.iter().flat_map(unattended);
            let limits = idle_limits(&project);
            findings.warnings = sources.chain(pipelines).chain(limits).collect();
            check_secrets(&project, &mut findings);
            if let Some(manifest) = &self.spin {
                let errors = manifest_errors(manifest, &project)?;
                findings.errors.append(errors);
            }
            if self.role != Role::Api {
                let reach = if self.online {
                    Reach::Tried
                } else {
                    Reach::Untried
                };
                check_models(&project, reach, &mut findings).await;
            }
            check_database(&project, &mut findings).await;
        }
        match self.shape.shape() {
            Shape::Json => Ok(findings.document()),
            Shape::Table => findings.tell(),
        }
    }
}

impl Findings {
    fn verdict(&self) -> Verdict {
        match (self.errors.is_empty(), self.conflicts.is_empty()) {
            (true, true) => Verdict::Done,
            (true, false) => Verdict::No,
            (false, _) => Verdict::Misconfigured,
        }
    }

    fn document(&self) -> Verdict {
        let verdict = self.verdict();
        output::json(&Answer {
            ok: verdict == Verdict::Done,
            errors: self.errors.lines(),
            conflicts: &self.conflicts,
            warnings: &self.warnings,
            unchecked: &self.unchecked,
        });
        verdict
    }

    fn tell(self) -> Result<Verdict, CliError> {
        let verdict = self.verdict();
        for line in &self.unchecked {
            output::line(&format!("not checked: {line}"));
        }
        for line in &self.warnings {
            output::line(&format!("warning: {line}"));
        }
        for line in &self.conflicts {
            output::complain(line);
        }
        match verdict {
            Verdict::Done => output::line("the configuration is fine"),
            Verdict::No => {}
            Verdict::Misconfigured => return Err(CliError::Config(self.errors)),
        }
        Ok(verdict)
    }
}

/// Compares the configuration with what the database has bound, if it is there.
async fn check_database(project: &Project, findings: &mut Findings) {
    let mut environment = Environment::new(&process_environment);
    // What is wrong with the URL is among the errors already.
    let Some(database) = DatabaseUrl::read(&mut environment) else {
        return;
    };
    if let Some(file) = database.missing_file() {
        let line = format!("the database: {} is not there yet", file.display());
        findings.unchecked.push(line);
        return;
    }
    match store::look(database.expose()).await {
        Ok(Looked::Bindings(bindings)) => compare(project, &bindings, findings),
        Ok(Looked::OlderSchema { found, known }) => findings.unchecked.push(format!(
            "the database: it has schema {found}; `migrate` or the next start makes it {known}"
        )),
        Err(error) => findings.conflicts.push(format!("database: {error}")),
    }
}

fn compare(project: &Project, bindings: &Bindings, findings: &mut Findings) {
    match app::stand_for(project) {
        Ok(versions) => {
            let conflicts = versions
                .iter()
                .flat_map(|wanted| bindings.conflicts(wanted));
            let lines = conflicts.map(|conflict| format!("{}: {conflict}", project.file.display()));
            findings.conflicts.extend(lines);
        }
        Err(error) => findings.errors.push(error.to_string()),
    }
    for source in project.sources.iter() {
        let (name, digest) = (&source.name, source.mapping.digest());
        if bindings
            .sources
            .get(name)
            .is_some_and(|bound| *bound != digest)
        {
            findings.conflicts.push(format!(
                "source `{name}` takes nothing in: it is bound to another mapping; where other \
                 keys are meant for its reports, `fencepost source rebind {name}`"
            ));
        }
    }
}

fn manifest_errors(
    manifest: &std::path::Path,
    project: &Project,
) -> Result<ConfigErrors, CliError> {
    let text = std::fs::read_to_string(manifest)
        .map_err(|error| CliError::Usage(format!("{}: {error}", manifest.display())))?;
    let config = project
        .file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    Ok(check_manifest(&text, &project.secret_variables(), &config))
}
