//! The backend program with points where the environment can make it die: for tests, and nobody
//! else.

use std::process::ExitCode;

use clap::Parser;
use fencepost::{
    cli::{self, Cli},
    failpoint::{self, Armed},
};

fn main() -> ExitCode {
    match failpoint::arm() {
        Armed::Runs => cli::start(Cli::parse()),
        Armed::Ends(code) => code,
    }
}
