//! What people who build fencepost run: `cargo xtask up`, `cargo xtask test`, and their parts.
#![expect(
    clippy::print_stdout,
    reason = "a command line: what it prints is what it is for"
)]

mod chaos;
mod component;
mod container;
mod install;
mod model;
mod postgres;
mod process;
mod programs;
mod real_model;
mod test;
mod toolchain;
mod up;

use std::env;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Parser};

use chaos::{Chaos, Database};
use install::Consent;
use test::Ran;
use up::{Extractor, Options, Then};

/// Builds, tries out and tests fencepost.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    /// Start backend and edge, and show that a webhook becomes one record however often it comes
    Up {
        /// Stop after that instead of staying up
        #[arg(long)]
        exit: bool,
        /// Where the edge listens; 127.0.0.1:3000 if that is free
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<SocketAddr>,
        /// Ask a small model on this machine, which is got once (180 MB), and not the baseline
        #[arg(long)]
        real_model: bool,
        #[command(flatten)]
        install: Install,
    },
    /// Everything that CI runs
    Test {
        /// Run the end-to-end part under this Spin too
        #[arg(long, value_name = "PATH")]
        spin: Option<PathBuf>,
        /// Run, of all parts, the one alone that no CI runs: the whole chain with a small model on
        /// this machine, which is got once (180 MB)
        #[arg(long, conflicts_with = "spin")]
        real_model: bool,
        #[command(flatten)]
        install: Install,
    },
    /// Kill and suspend processes under load, and restart the database, for as long as asked
    Chaos {
        /// How long
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        minutes: u32,
        /// Repeat the choices of a round
        #[arg(long)]
        seed: Option<u64>,
        /// On one of the two; otherwise on each, half of the time
        #[arg(long)]
        database: Option<Database>,
        #[command(flatten)]
        install: Install,
    },
    /// Build the edge component
    Component {
        #[command(flatten)]
        install: Install,
    },
    /// Start a throw-away Postgres and PgBouncer, say where single tests find them, and stay
    Postgres {
        #[command(flatten)]
        install: Install,
    },
    /// Build the backend's container and try it out, with podman or docker
    Container {
        #[command(flatten)]
        install: Install,
    },
}

#[derive(Args)]
struct Install {
    /// Install nothing: name what is missing instead
    #[arg(long)]
    no_install: bool,
}

impl Install {
    fn consent(&self) -> Consent {
        if self.no_install {
            Consent::Refuse
        } else {
            Consent::Install
        }
    }
}

fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not by returning it: that adds a backtrace of our own calls, which says nothing.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let root = root()?;
    match command {
        Command::Up {
            exit,
            listen,
            real_model,
            install,
        } => {
            let extractor = if real_model {
                Extractor::Model(model::set_up(&root, install.consent())?)
            } else {
                Extractor::Baseline
            };
            let programs = programs::build(&root, install.consent())?;
            let options = Options {
                then: if exit { Then::Stop } else { Then::Stay },
                extractor,
                listen,
                spin: None,
            };
            up::run(&root, &programs, &options)
        }
        Command::Test {
            real_model: true,
            install,
            ..
        } => test::run_real_model(&root, install.consent()),
        Command::Test { spin, install, .. } => test::run_all(&root, spin, install.consent()),
        Command::Chaos {
            minutes,
            seed,
            database,
            install,
        } => {
            let chaos = Chaos {
                minutes,
                seed,
                database,
            };
            chaos::run(&root, &chaos, install.consent())
        }
        Command::Component { install } => {
            component::edge(&root, install.consent())?;
            Ok(())
        }
        Command::Postgres { install } => postgres::stay(install.consent()),
        Command::Container { install } => {
            let programs = programs::build(&root, install.consent())?;
            match container::run(&root, &programs)? {
                Ran::Done => Ok(()),
                Ran::Not(reason) => anyhow::bail!("container: NOT RUN ({reason})"),
            }
        }
    }
}

/// The workspace's folder.
fn root() -> Result<PathBuf> {
    // Cargo tells where the package stands now; where it stood when it was compiled may be gone.
    let package = env::var_os("CARGO_MANIFEST_DIR").context("run it as `cargo xtask`")?;
    let package = PathBuf::from(package);
    Ok(package
        .parent()
        .context("the package stands in the workspace")?
        .to_owned())
}
