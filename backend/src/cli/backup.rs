//! Commands that act on the database: `migrate`, `backup`, `source rebind`.

use std::path::PathBuf;

use clap::Args;

use super::{
    CliError, Verdict,
    output::{self, Shape, ShapeFlag},
    read::open,
    sign::source,
};
use crate::{
    config::{DatabaseUrl, Environment, Project, process_environment},
    store::{self, Backup as Copied, Migrated, Rebound},
};

/// `backup`
#[derive(Debug, Args)]
pub(super) struct Backup {
    /// The file to write; it must not exist yet.
    file: PathBuf,
    #[command(flatten)]
    shape: ShapeFlag,
}

impl Backup {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let file = self.file.display();
        match open().await?.backup(&self.file).await? {
            Copied::Done { bytes } => {
                match self.shape.shape() {
                    Shape::Json => output::json(&serde_json::json!({
                        "file": file.to_string(), "bytes": bytes.to_string(),
                    })),
                    Shape::Table => output::line(&format!("{file}: {bytes} bytes")),
                }
                Ok(Verdict::Done)
            }
            Copied::FileExists => Err(CliError::Usage(format!(
                "{file} exists already; it was left alone"
            ))),
        }
    }
}

/// `migrate`, which is the one command that makes a database.
pub(super) async fn migrate(shape: Shape) -> Result<Verdict, CliError> {
    let mut environment = Environment::new(&process_environment);
    let database = DatabaseUrl::read(&mut environment);
    let database = environment.errors.or(database)?;
    let Migrated { from, to } = store::migrate(database.expose()).await?;
    match shape {
        Shape::Json => output::json(&serde_json::json!({"from": from, "to": to})),
        Shape::Table if from == to => output::line(&format!("the schema is {to} already")),
        Shape::Table => output::line(&format!("the schema was {from} and is {to} now")),
    }
    Ok(Verdict::Done)
}

/// `source rebind`
pub(super) async fn rebind(name: &str) -> Result<Verdict, CliError> {
    let mut environment = Environment::new(&process_environment);
    let project = Project::read(&mut environment);
    let project = environment.errors.or(project)?;
    let digest = source(&project.sources, name)?.mapping.digest();
    let actor = actor(&Environment::new(&process_environment));
    let store = open().await?;
    let rebound = store.rebind_source(name.to_owned(), digest, actor).await;
    store.close().await;
    let rebound = rebound?;
    output::line(&match rebound {
        Rebound::Changed { from } => {
            format!("{name}: bound to mapping {digest}, no longer to {from}")
        }
        Rebound::Same => format!("{name}: is bound to mapping {digest} already"),
        Rebound::First => format!("{name}: bound to mapping {digest}"),
    });
    Ok(Verdict::Done)
}

/// Who acts, for the audit: the account that the command runs under, as far as it says so.
pub(super) fn actor(environment: &Environment<'_>) -> String {
    let account = environment
        .text("SUDO_USER")
        .or_else(|| environment.text("USER"));
    format!(
        "command line: {}",
        account.as_deref().unwrap_or("unnamed account")
    )
}
