//! `check`: whether configuration, secrets and manifest fit together, before anything runs.

use std::path::PathBuf;

use clap::Args;
use fencepost_identity::{
    config::{Secrets, Source},
    signature::{KeyError, SigningKey, derive_secret},
};
use serde::Serialize;

use super::{
    CliError, Verdict,
    output::{self, Shape, ShapeFlag},
};
use crate::config::{
    Config, ConfigErrors, Environment, Project, Role, check_manifest, process_environment,
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
    #[command(flatten)]
    shape: ShapeFlag,
}

#[derive(Serialize)]
struct Answer<'a> {
    ok: bool,
    errors: &'a [String],
    /// What could not be checked here.
    unchecked: &'a [String],
}

impl Check {
    pub(super) fn run(self) -> Result<Verdict, CliError> {
        let mut errors = match Config::from_lookup(&process_environment, self.role) {
            Ok(_) => ConfigErrors::default(),
            Err(errors) => errors,
        };
        let mut unchecked = Vec::new();
        let mut environment = Environment::new(&process_environment);
        // Its errors are among those above already.
        if let Some(project) = Project::read(&mut environment) {
            errors.append(check_secrets(&project, &mut unchecked));
            if let Some(manifest) = &self.spin {
                errors.append(manifest_errors(manifest, &project)?);
            }
        }
        match self.shape.shape() {
            Shape::Json => {
                let ok = errors.is_empty();
                output::json(&Answer {
                    ok,
                    errors: errors.lines(),
                    unchecked: &unchecked,
                });
            }
            Shape::Table => {
                for line in &unchecked {
                    output::line(&format!("not checked: {line}"));
                }
                if errors.is_empty() {
                    output::line("the configuration is fine");
                }
            }
        }
        match (errors.is_empty(), self.shape.shape()) {
            (true, _) => Ok(Verdict::Done),
            (false, Shape::Json) => Ok(Verdict::Misconfigured),
            (false, Shape::Table) => Err(CliError::Config(errors)),
        }
    }
}

/// Whether each secret that is given here, as the edge would get it, has the form of its preset.
fn check_secrets(project: &Project, unchecked: &mut Vec<String>) -> ConfigErrors {
    let mut environment = Environment::new(&process_environment);
    for variable in project.secret_variables() {
        let name = format!("SPIN_VARIABLE_{}", variable.to_ascii_uppercase());
        let errors = environment.errors.len();
        match environment.secret(&name) {
            Some(secret) => {
                let text = String::from_utf8_lossy(secret.expose()).into_owned();
                for source in project.sources.iter() {
                    if let Some(Err(error)) = check_secret(source, &variable, &text) {
                        let source = &source.name;
                        environment
                            .errors
                            .push(format!("{name}: source `{source}`: {error}"));
                    }
                }
            }
            None if environment.errors.len() == errors => {
                unchecked.push(format!("the secret `{variable}`: {name} is not set here"));
            }
            None => {}
        }
    }
    environment.errors
}

/// Whether a secret has the form that a source needs; nothing where the source does not use it.
fn check_secret(source: &Source, variable: &str, text: &str) -> Option<Result<(), KeyError>> {
    match &source.secrets {
        Secrets::Named(names) if names.iter().any(|name| name.variable == variable) => {
            Some(SigningKey::parse(source.verify, text).map(drop))
        }
        Secrets::DerivedFrom(master) if master == variable => {
            Some(derive_secret(source.verify, text, "tenant").map(drop))
        }
        Secrets::Named(_) | Secrets::DerivedFrom(_) | Secrets::PerTenant(_) => None,
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
