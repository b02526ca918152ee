//! The three programs that a running fencepost consists of here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

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

/// Builds what is missing or out of date. The two native programs are built as `cargo test` builds
/// them: that is the shortest way to a first start, and fast enough to try things out.
pub(crate) fn build(root: &Path, consent: Consent) -> Result<Programs> {
    install::c_compiler(consent)?;
    Ok(Programs {
        component: component::edge(root, consent)?,
        backend: built(root, "fencepost", "fencepost")?,
        host: built(root, "fencepost-edge-host", "fencepost-edge")?,
    })
}

/// Builds `program` of `package`; cargo itself says where it then stands.
fn built(root: &Path, package: &str, program: &str) -> Result<PathBuf> {
    let mut command = cargo();
    command
        .current_dir(root)
        .args(["build", "--package", package, "--bin", program]);
    println!("$ {}", shown(&command));
    command
        .arg("--message-format=json-render-diagnostics")
        .stdin(Stdio::null());
    let messages = stdout_of(&mut command)?;
    executable(&messages, program).with_context(|| format!("cargo built no `{program}`"))
}

/// The file that cargo's messages name as `program`.
fn executable(messages: &str, program: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let file = Path::new(message.get("executable")?.as_str()?);
        (file.file_stem()? == program).then(|| file.to_owned())
    })
}

impl Programs {
    /// `fencepost` with the configuration of the workspace.
    pub(crate) fn fencepost(&self, root: &Path) -> Command {
        let mut command = Command::new(&self.backend);
        command
            .current_dir(root)
            .env("FENCEPOST_CONFIG", root.join("fencepost.toml"));
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_where_cargo_says() {
        let messages = r#"{"reason":"compiler-artifact","executable":null}
            {"reason":"compiler-artifact","executable":"/t/debug/fencepost-edge"}
            {"reason":"compiler-artifact","executable":"/t/debug/fencepost"}
            {"reason":"build-finished","success":true}"#;
        let found = |program| executable(messages, program);
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
