//! `chaos`: kills, suspensions and restarts of the database for as long as one likes.

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;

use crate::component::cargo;
use crate::install::Consent;
use crate::{postgres, process, programs};

/// What the two tests' names end with.
const ON_A_FILE: &str = "on_a_file";
const ON_A_SERVER: &str = "on_a_server";

/// Which database the program is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

/// What to do.
pub(crate) struct Chaos {
    /// How long in all.
    pub(crate) minutes: u32,
    /// Of the first round; none: another each time.
    pub(crate) seed: Option<u64>,
    /// None: each, half of the time.
    pub(crate) database: Option<Database>,
}

/// Builds the programs, and runs the tests that strike them. That one finds something is an error.
pub(crate) fn run(root: &Path, chaos: &Chaos, consent: Consent) -> Result<()> {
    let programs = programs::build_with_tests(root, consent)?;
    if chaos.database != Some(Database::Sqlite) {
        postgres::install(consent)?;
    }
    let mut command = cargo();
    command
        .current_dir(root)
        // Of the whole workspace, so that it shares what its dependencies were built with.
        .args(["test", "--workspace", "--test", "chaos", "--"])
        .args(["--nocapture", "--test-threads=1"])
        .args(filters(chaos.database))
        .env("FENCEPOST_COMPONENT", &programs.component)
        .env("FENCEPOST_BACKEND", &programs.backend)
        .env("FENCEPOST_HOST", &programs.host)
        .env("FENCEPOST_CHAOS_MINUTES", each(chaos).to_string());
    match chaos.seed {
        Some(seed) => command.env("FENCEPOST_SEED", seed.to_string()),
        None => command.env_remove("FENCEPOST_SEED"),
    };
    process::run(&mut command)
}

fn filters(database: Option<Database>) -> Vec<&'static str> {
    match database {
        Some(Database::Sqlite) => vec![ON_A_FILE],
        Some(Database::Postgres) => vec![ON_A_SERVER],
        None => vec![ON_A_FILE, ON_A_SERVER],
    }
}

/// The minutes that each database has.
fn each(chaos: &Chaos) -> f64 {
    let databases = u32::try_from(filters(chaos.database).len()).unwrap_or(1);
    f64::from(chaos.minutes) / f64::from(databases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_databases_share_the_time() {
        let minutes = |database| {
            each(&Chaos {
                minutes: 5,
                seed: None,
                database,
            })
        };
        assert!((minutes(None) - 2.5).abs() < 1e-9);
        assert!((minutes(Some(Database::Postgres)) - 5.0).abs() < 1e-9);
    }
}
