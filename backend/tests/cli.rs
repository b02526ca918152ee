//! The program as a person starts it: what it prints, its exit codes, and what it never prints.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect ends there"
)]

#[cfg(feature = "bedrock")]
#[path = "cli/aws.rs"]
mod aws;
#[path = "cli/bindings.rs"]
mod bindings;
#[path = "cli/check.rs"]
mod check;
#[path = "cli/compared.rs"]
mod compared;
#[path = "cli/conformance.rs"]
mod conformance;
#[cfg(any(feature = "bedrock", feature = "vertex"))]
#[path = "cli/credentials.rs"]
mod credentials;
#[path = "cli/fetched.rs"]
mod fetched;
#[cfg(feature = "vertex")]
#[path = "cli/findings.rs"]
mod findings;
#[path = "cli/google.rs"]
mod google;
#[path = "cli/injection.rs"]
mod injection;
#[path = "cli/leaks.rs"]
mod leaks;
#[path = "cli/listed.rs"]
mod listed;
#[path = "cli/model.rs"]
mod model;
#[path = "cli/offline.rs"]
mod offline;
#[path = "cli/pause.rs"]
mod pause;
#[path = "cli/people.rs"]
mod people;
#[path = "cli/pipelines.rs"]
mod pipelines;
#[path = "cli/presets.rs"]
mod presets;
#[path = "cli/replay.rs"]
mod replay;
#[path = "cli/send.rs"]
mod send;
#[path = "cli/served.rs"]
mod served;
#[path = "cli/tried.rs"]
mod tried;
#[path = "cli/verify.rs"]
mod verify;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

const EDGE_SECRET: &str = "edge-canary-0123456789";
const ADMIN_TOKEN: &str = "admin-canary-0123456789";
const GITHUB_SECRET: &str = "github-canary-0123456789";

/// A folder with a database of its own, and the environment that a command runs in.
struct Place {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// What a command left behind.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn project_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = format!("sqlite://{}", folder.path().join("fencepost.db").display());
        let config = project_folder().join("fencepost.toml");
        let place = Self {
            folder,
            variables: Vec::new(),
        };
        place
            .with("FENCEPOST_DATABASE_URL", &database)
            .with("FENCEPOST_CONFIG", config.to_str().unwrap())
            .with("FENCEPOST_EDGE_SECRET", EDGE_SECRET)
            .with("FENCEPOST_ADMIN_TOKEN", ADMIN_TOKEN)
            .with("FENCEPOST_LISTEN", "127.0.0.1:0")
            .with("FENCEPOST_ADMIN_LISTEN", "127.0.0.1:0")
            .with("FENCEPOST_LOG", "json,trace")
            .with("SPIN_VARIABLE_GITHUB_SECRET", GITHUB_SECRET)
    }

    fn with(self, name: &str, value: &str) -> Self {
        let mut place = self.without(name);
        place.variables.push((name.to_owned(), value.to_owned()));
        place
    }

    fn without(mut self, name: &str) -> Self {
        self.variables.retain(|(other, _)| other != name);
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
        command.env_clear().current_dir(self.folder.path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end, with nothing on its standard input.
    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    fn run_with(&self, arguments: &[&str], stdin: &str) -> Ran {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that reads nothing closes its side, which is no failure of the test.
        drop(child.stdin.take().unwrap().write_all(stdin.as_bytes()));
        Ran::of(child.wait_with_output().unwrap())
    }
}

impl Ran {
    fn of(output: Output) -> Self {
        let ran = Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        for secret in [EDGE_SECRET, ADMIN_TOKEN, GITHUB_SECRET] {
            assert!(
                !ran.stdout.contains(secret) && !ran.stderr.contains(secret),
                "{ran:?}"
            );
        }
        ran
    }

    fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.document()
    }

    fn document(&self) -> Value {
        let document = serde_json::from_str(&self.stdout);
        assert!(document.is_ok(), "not JSON: {self:?}");
        document.unwrap()
    }
}
