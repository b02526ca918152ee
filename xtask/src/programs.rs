//! The three programs that a running fencepost consists of here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::component::{self, cargo};
use crate::install::{self, Consent};
use crate::process::{shown, stdout_of};

/// Where the built programs stand.
pub(crate) struct Programs {
    pub(crate) component: PathBuf,
    /// `fencepost`
    pub(crate) backend: PathBuf,
    /// `fencepost-edge`, which runs the component where Spin is not installed.
    pub(crate) host: PathBuf,
}

/// What is tested beside the default: the providers whose own libraries take their time to build.
/// Every step has the same ones, so that nothing is compiled twice.
pub(crate) const FEATURES: &str = "fencepost/bedrock,fencepost/vertex";

/// Builds what is missing or out of date, and no more than runs: not [`FEATURES`]. The two native
/// programs are built without optimisation: that is the shortest way to a first start, and fast
/// enough for trying out.
pub(crate) fn build(root: &Path, consent: Consent) -> Result<Programs> {
    let packages = ["--package", "fencepost", "--package", "fencepost-edge-host"];
    let mut command = cargo();
    command
        .arg("build")
        .args(packages)
        .args(["--bin", "fencepost", "--bin", "fencepost-edge"]);
    build_by(command, root, consent)
}

/// The same, and all tests: built together, they share their dependencies' features, so nothing is
/// compiled twice.
pub(crate) fn build_with_tests(root: &Path, consent: Consent) -> Result<Programs> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-run", "--features", FEATURES]);
    build_by(command, root, consent)
}

/// The backend with points where tests can make it die, as a program beside the one that ships.
/// Built of the whole workspace, so that it shares what its dependencies were built with.
pub(crate) fn build_with_failpoints(root: &Path) -> Result<PathBuf> {
    const PROGRAM: &str = "fencepost-failpoints";
    let mut command = cargo();
    command.args(["build", "--workspace", "--bin", PROGRAM]);
    command.args(["--features", "fencepost/failpoints", "--features", FEATURES]);
    let messages = messages(&mut command, root)?;
    executable(&messages, PROGRAM).with_context(|| format!("cargo built no `{PROGRAM}`"))
}

fn build_by(mut native: Command, root: &Path, consent: Consent) -> Result<Programs> {
    install::c_compiler(consent)?;
    let component = component::edge(root, consent)?;
    let messages = messages(&mut native, root)?;
    let built = |program: &str| {
        executable(&messages, program).with_context(|| format!("cargo built no `{program}`"))
    };
    Ok(Programs {
        component,
        backend: built("fencepost")?,
        host: built("fencepost-edge")?,
    })
}

fn messages(command: &mut Command, root: &Path) -> Result<String> {
    println!("$ {}", shown(command));
    command.current_dir(root).stdin(Stdio::null());
    stdout_of(command.arg("--message-format=json-render-diagnostics"))
}

/// What cargo says of one thing that it built.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Where cargo says that `program` stands, and not the tests of the same name.
fn executable(messages: &str, program: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        // Other messages have other members.
        let artifact: Artifact = serde_json::from_str(line).ok()?;
        let is_program = artifact.target.name == program && artifact.target.kind == ["bin"];
        if is_program && !artifact.profile.test {
            artifact.executable
        } else {
            None
        }
    })
}

impl Programs {
    /// `fencepost` with the configuration in this folder.
    pub(crate) fn fencepost(&self, project: &Path) -> Command {
        let mut command = Command::new(&self.backend);
        command
            .current_dir(project)
            .env("FENCEPOST_CONFIG", project.join("fencepost.toml"));
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(name: &str, kind: &str, test: bool, executable: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","target":{{"name":"{name}","kind":["{kind}"]}},
            "profile":{{"test":{test}}},"executable":{executable}}}"#
        )
        .replace('\n', "")
    }

    #[test]
    fn the_program_is_where_cargo_says() {
        let messages = [
            artifact("fencepost", "lib", false, "null"),
            artifact("fencepost", "bin", true, r#""/t/debug/deps/fencepost-1""#),
            artifact(
                "fencepost-edge",
                "bin",
                false,
                r#""/t/debug/fencepost-edge""#,
            ),
            artifact("fencepost", "bin", false, r#""/t/debug/fencepost""#),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ]
        .join("\n");
        let found = |program| executable(&messages, program);
        assert_eq!(
            found("fencepost"),
            Some(PathBuf::from("/t/debug/fencepost"))
        );
        assert_eq!(
            found("fencepost-edge"),
            Some(PathBuf::from("/t/debug/fencepost-edge"))
        );
        assert_eq!(found("fence"), None);
    }
}
