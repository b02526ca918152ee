//! What a process is told: the environment and `fencepost.toml`. Everything is checked at once, and
//! everything that is wrong is told at once, with no secret's value in it.

mod database;
mod environment;
mod extractor;
mod keys;
mod limits;
mod manifest;
mod pipeline;
mod policy;
mod price;
mod project;
#[cfg(test)]
mod tests;
mod worker;

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use fencepost_identity::envelope::EdgeSecret;

pub use self::{
    database::DatabaseUrl,
    environment::{Environment, Lookup, process_environment, process_variables},
    extractor::{ExtractorConfig, ModelConfig},
    keys::ProviderKeys,
    manifest::check_manifest,
    pipeline::{Pipeline, RawAnswers, check_name},
    price::Price,
    project::{FILE_DEFAULT, Project},
    worker::WorkerConfig,
};
use crate::secret::Secret;

/// Where deliveries' envelopes arrive when nothing else is said.
pub const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);
/// Where people and programs read when nothing else is said.
pub const ADMIN_LISTEN_DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8081);

/// Everything that is wrong with a configuration, a line each.
#[derive(Clone, Default, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors(Vec<String>);

impl ConfigErrors {
    /// Notes one more. The line must not hold a secret's value.
    pub fn push(&mut self, line: impl Into<String>) {
        self.0.push(line.into());
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lines in the order in which they were found.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    /// Takes another's lines.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The value, unless something is wrong.
    ///
    /// # Errors
    /// These.
    pub fn or<T>(self, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if self.is_empty() => Ok(value),
            Some(_) | None => Err(self),
        }
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl fmt::Debug for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

/// Which part of the work a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Role {
    /// Take reports in, work on them, answer questions.
    All,
    /// Take reports in and answer questions.
    Api,
    /// Work on reports; the admin listener answers questions about it.
    Worker,
}

/// What the ingest listener needs.
#[derive(Clone, Debug)]
pub struct IngestConfig {
    /// Where to listen; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// The live secrets of the edge: the current one, and one that is going out of use.
    pub secrets: Vec<EdgeSecret>,
}

/// What the admin listener needs.
#[derive(Clone, Debug)]
pub struct AdminConfig {
    /// Where to listen; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// Who presents it may read.
    pub token: Secret,
}

/// What `serve` is told. Its `Debug` shows no secret.
#[derive(Debug)]
pub struct Config {
    /// Which part of the work this process does.
    pub role: Role,
    /// Where the reports are.
    pub database: DatabaseUrl,
    /// Absent for a mere worker.
    pub ingest: Option<IngestConfig>,
    /// How people and programs read.
    pub admin: AdminConfig,
    /// Sources, pipelines and extractors.
    pub project: Project,
    /// The keys of those who are asked; none where nobody is, as `api` asks nobody.
    pub keys: ProviderKeys,
}

impl Config {
    /// Reads all that `serve` needs for a role.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn from_lookup(lookup: Lookup<'_>, role: Role) -> Result<Self, ConfigErrors> {
        let mut environment = Environment::new(lookup);
        let database = DatabaseUrl::read(&mut environment);
        let ingest = match role {
            Role::All | Role::Api => Some(ingest(&mut environment)),
            Role::Worker => None,
        };
        let admin = admin(&mut environment);
        let project = Project::read(&mut environment);
        let keys = match (role, &project) {
            (Role::All | Role::Worker, Some(project)) => {
                ProviderKeys::read(&mut environment, project)
            }
            (Role::Api, _) | (_, None) => ProviderKeys::default(),
        };
        let parts = (database, admin, project);
        let config = match parts {
            (Some(database), Some(admin), Some(project)) => Some(Self {
                role,
                database,
                ingest,
                admin,
                project,
                keys,
            }),
            _ => None,
        };
        environment.errors.or(config)
    }
}

fn ingest(environment: &mut Environment<'_>) -> IngestConfig {
    let listen = environment.address("FENCEPOST_LISTEN", LISTEN_DEFAULT);
    let current = environment.required_secret(
        "FENCEPOST_EDGE_SECRET",
        "edge and backend share it, else anybody could hand in reports",
    );
    let previous = environment.secret("FENCEPOST_EDGE_SECRET_PREVIOUS");
    let mut secrets = Vec::new();
    for secret in [current, previous].into_iter().flatten() {
        match std::str::from_utf8(secret.expose()).map(EdgeSecret::new) {
            Ok(Ok(secret)) => secrets.push(secret),
            Ok(Err(error)) => environment.errors.push(error.to_string()),
            Err(_) => environment.errors.push("the edge secret is not UTF-8"),
        }
    }
    IngestConfig { listen, secrets }
}

fn admin(environment: &mut Environment<'_>) -> Option<AdminConfig> {
    let listen = environment.address("FENCEPOST_ADMIN_LISTEN", ADMIN_LISTEN_DEFAULT);
    let token = environment.required_secret(
        "FENCEPOST_ADMIN_TOKEN",
        "it protects the admin listener; choose one, such as the output of `openssl rand -hex 32`",
    )?;
    Some(AdminConfig { listen, token })
}
