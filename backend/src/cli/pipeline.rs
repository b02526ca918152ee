//! `pipeline`: an example of a pipeline of one's own, and one payload taken through it.

mod new;
mod trial;
mod walk;

use clap::Subcommand;

use super::{CliError, Verdict};

/// `pipeline`
#[derive(Debug, Subcommand)]
pub(super) enum PipelineCommand {
    /// Write a working example: schema, prompt, payload, and the tables of fencepost.toml. What is
    /// there already is never changed.
    New(new::New),
    /// Take one payload through a pipeline, show each step, and store nothing.
    Try(trial::Try),
}

impl PipelineCommand {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        match self {
            Self::New(new) => new.run(),
            Self::Try(trial) => trial.run().await,
        }
    }
}
