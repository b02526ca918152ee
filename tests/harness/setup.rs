//! What is different from the example deployment.

use std::{process::Command, sync::Arc};

use fencepost_model::ModelServer;

use crate::{DatabaseKind, Program, Project};

/// What is different from the example deployment, for a whole test.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Texts of the configuration and what replaces them.
    pub config: Vec<(&'static str, &'static str)>,
    /// The environment of every backend beside the usual.
    pub environment: Vec<(&'static str, String)>,
    /// Which kind of database it uses.
    pub database: DatabaseKind,
    /// The server where a database is made; none: the one that `FENCEPOST_POSTGRES` names.
    pub server: Option<String>,
    /// What the first backend does.
    pub role: Role,
    /// What deliveries come in by.
    pub entrance: Entrance,
    /// The model that is asked; none: the baseline, which asks nobody.
    pub model: Option<Arc<ModelServer>>,
}

impl Setup {
    /// The example deployment on this kind of database.
    #[must_use]
    pub fn on(database: DatabaseKind) -> Self {
        Self {
            database,
            ..Self::default()
        }
    }

    /// Writes the differences into a project's configuration.
    pub(crate) fn configure(&self, project: &Project) {
        for (from, to) in &self.config {
            project.edit_config(from, to);
        }
        if let Some(model) = &self.model {
            project.edit_config("extractor = \"baseline\"", "extractor = \"model\"");
            let base_url = model.base_url();
            project.extend_config(&format!(
                "\n[extractor.model]\nkind = \"openai\"\nmodel = \"scripted\"\n\
                 base_url = \"{base_url}\"\n"
            ));
        }
    }
}

/// Which part of the work a backend does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// All.
    #[default]
    All,
    /// It takes reports in and answers questions.
    Api,
    /// It works on them.
    Worker,
}

impl Role {
    const fn argument(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Api => "api",
            Self::Worker => "worker",
        }
    }
}

/// What deliveries come in by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entrance {
    /// The component in its host.
    #[default]
    Edge,
    /// Nothing: the test seals envelopes itself, and posts them to the backend.
    Sealed,
}

/// What is different about one process.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: Program,
    /// Its environment beside that of all backends.
    pub environment: Vec<(&'static str, String)>,
}

impl Default for Launch {
    fn default() -> Self {
        Self {
            program: Program::Backend,
            environment: Vec::new(),
        }
    }
}

impl Launch {
    /// With one more variable.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// `serve`, in a role.
    pub(crate) fn serve(&self, role: Role) -> Command {
        let mut command = Command::new(self.program.path());
        command.args(["serve", "--role", role.argument()]);
        command
    }

    /// Gives a command the environment of the deployment, of the test, then of this process.
    pub(crate) fn prepare(&self, command: &mut Command, project: &Project, setup: &Setup) {
        project.prepare(command);
        let variables = setup.environment.iter().chain(&self.environment);
        command.envs(variables.map(|(name, value)| (name, value)));
    }
}
