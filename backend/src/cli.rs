//! The command line: what each command is told, and what its exit code says.

mod backup;
mod check;
mod compare;
mod key;
mod output;
mod pause;
mod people;
mod pipeline;
mod probe;
mod read;
mod replay;
mod secret;
mod send;
mod serve;
mod sign;
mod time;
mod verify;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand};

use crate::{
    config::{ConfigErrors, process_environment},
    store::StoreError,
    telemetry::{self, LogSetting},
};

/// A webhook says that something was reported: makes one record of it, once.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Take reports in, work on them and answer questions.
    Serve(serve::Serve),
    /// Bring the database's schema up to this version's, and say from which to which.
    Migrate(output::ShapeFlag),
    /// Say whether configuration, secrets, manifest and database fit together.
    Check(check::Check),
    /// Derive the keys of a payload or of an identity.
    Key(key::Key),
    /// Print the headers that a source's sender would sign a payload with.
    Sign(sign::Sign),
    /// Say what the edge makes of a stored delivery, and which setting it would take instead.
    Verify(verify::Verify),
    /// Print the secret of a tenant's sender, where it is derived from a master secret.
    Secret(secret::Secret),
    /// Deliver a payload to the edge, signed as a source's sender would.
    Send(send::Send),
    /// Show a report, from the database.
    Show(read::Show),
    /// List reports, newest first, from the database.
    List(read::List),
    /// Judge a report's kept answer again, by its pipeline as it is now and without a call. Under a
    /// new classifier_version: have a worker ask the model again, once per version.
    Replay(replay::Replay),
    /// Ask several extractors about the same stored reports, and store nothing of it.
    Compare(compare::Compare),
    /// Empty a report, or all of a tenant, of everything that it says; its key stays.
    Erase(people::Erase),
    /// Copy a live SQLite database to a file that does not exist yet.
    Backup(backup::Backup),
    /// Say whether a running backend is ready; what a container's health check calls.
    Probe(probe::Probe),
    /// Have a pipeline, or all that present a credential, wait until they are resumed.
    Pause(pause::Pause),
    /// End a pause, whoever began it.
    Resume(pause::Resume),
    /// Begin a pipeline of one's own, or try one out.
    #[command(subcommand)]
    Pipeline(pipeline::PipelineCommand),
    /// Act on a source.
    #[command(subcommand)]
    Source(SourceCommand),
}

#[derive(Debug, Subcommand)]
enum SourceCommand {
    /// Bind a source to its present mapping: its reports get other keys from now on.
    Rebind(Rebind),
}

/// `source rebind`
#[derive(Debug, Args)]
struct Rebind {
    /// The source's name.
    source: String,
}

/// Where a payload or an identity is read from.
#[derive(Clone, Debug)]
struct InputFile(PathBuf);

impl From<PathBuf> for InputFile {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl std::str::FromStr for InputFile {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(PathBuf::from(text)))
    }
}

impl InputFile {
    /// All bytes of the file, or of the standard input for `-`.
    fn read(&self) -> Result<Vec<u8>, CliError> {
        let mut bytes = Vec::new();
        let read = match self.0.to_str() {
            Some("-") => std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map(drop),
            Some(_) | None => std::fs::read(&self.0).map(|read| bytes = read),
        };
        match read {
            Ok(()) => Ok(bytes),
            Err(error) => Err(CliError::Usage(format!("{}: {error}", self.0.display()))),
        }
    }
}

/// What a command that could do its work has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Exit code 0.
    Done,
    /// The answer is no: exit code 1.
    No,
    /// The answer is that the configuration is wrong: exit code 2.
    Misconfigured,
}

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// It was told something that can't be: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The configuration is wrong: exit code 2.
    #[error("the configuration is wrong:\n{0}")]
    Config(#[from] ConfigErrors),
    /// The database did not do it: exit code 1.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Something else did not do it: exit code 1.
    #[error("{0}")]
    Failed(String),
}

impl CliError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Config(_) => 2,
            Self::Store(_) | Self::Failed(_) => 1,
        }
    }
}

/// Runs the program to its exit code.
#[must_use]
pub fn start(cli: Cli) -> ExitCode {
    let done = log_setting().and_then(|setting| {
        telemetry::init(&setting).map_err(|error| CliError::Usage(error.to_string()))?;
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| CliError::Failed(format!("no threads to run on: {error}")))?
            .block_on(run(cli.command))
    });
    match done {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::No) => ExitCode::from(1),
        Ok(Verdict::Misconfigured) => ExitCode::from(2),
        Err(error) => {
            output::complain(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn log_setting() -> Result<LogSetting, CliError> {
    let text = process_environment("FENCEPOST_LOG").unwrap_or_default();
    text.parse()
        .map_err(|error: telemetry::BadLogSetting| CliError::Usage(error.to_string()))
}

async fn run(command: Command) -> Result<Verdict, CliError> {
    match command {
        Command::Serve(serve) => serve.run().await,
        Command::Migrate(flag) => backup::migrate(flag.shape()).await,
        Command::Check(check) => check.run().await,
        Command::Key(key) => key.run(),
        Command::Sign(sign) => sign.run(),
        Command::Verify(verify) => verify.run(),
        Command::Secret(secret) => secret.run(),
        Command::Send(send) => send.run().await,
        Command::Show(show) => show.run().await,
        Command::List(list) => list.run().await,
        Command::Replay(replay) => replay.run().await,
        Command::Compare(compare) => compare.run().await,
        Command::Erase(erase) => erase.run().await,
        Command::Backup(backup) => backup.run().await,
        Command::Pause(pause) => pause.run().await,
        Command::Resume(resume) => resume.run().await,
        Command::Probe(probe) => probe.run().await,
        Command::Pipeline(command) => command.run().await,
        Command::Source(SourceCommand::Rebind(rebind)) => backup::rebind(&rebind.source).await,
    }
}
