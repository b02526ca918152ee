//! The backend program.

use std::process::ExitCode;

use clap::Parser;
use fencepost::cli::{self, Cli};

fn main() -> ExitCode {
    cli::start(Cli::parse())
}
