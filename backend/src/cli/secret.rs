//! `secret`: what a tenant's sender has to sign with.

use clap::Args;
use fencepost_identity::config::{Secrets, Source};

use super::{CliError, Verdict, output, sign, time::Moment};
use crate::config::{Environment, Project, process_environment};

/// `secret`
#[derive(Debug, Args)]
pub(super) struct Secret {
    /// The tenant, as the route names it once it is percent-decoded.
    #[arg(long)]
    tenant: String,
    /// The source; needed where several derive their tenants' secrets.
    #[arg(long)]
    source: Option<String>,
}

impl Secret {
    /// Prints the secret alone, so that it can be handed on by a pipe.
    pub(super) fn run(self) -> Result<Verdict, CliError> {
        let mut environment = Environment::new(&process_environment);
        let project = Project::read(&mut environment);
        let project = std::mem::take(&mut environment.errors).or(project)?;
        let source = match &self.source {
            Some(name) => sign::source(&project.sources, name)?,
            None => only_deriving(&project)?,
        };
        if !derives(source) {
            return Err(CliError::Usage(format!(
                "the source `{}` derives no secret: its senders have the one in its variable",
                source.name
            )));
        }
        let now = Moment::or_now(None);
        output::line(&sign::secret(
            &mut environment,
            source,
            Some(&self.tenant),
            now,
        )?);
        Ok(Verdict::Done)
    }
}

fn derives(source: &Source) -> bool {
    matches!(source.secrets, Secrets::DerivedFrom(_))
}

fn only_deriving(project: &Project) -> Result<&Source, CliError> {
    let mut deriving = project.sources.iter().filter(|source| derives(source));
    match (deriving.next(), deriving.next()) {
        (Some(source), None) => Ok(source),
        (None, _) => Err(CliError::Usage(
            "no source derives its tenants' secrets (`secrets = { derive_from = … }`)".to_owned(),
        )),
        (Some(_), Some(_)) => Err(CliError::Usage(
            "several sources derive their tenants' secrets; choose one with `--source`".to_owned(),
        )),
    }
}
