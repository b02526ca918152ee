//! Debian's packages: what is missing is installed, with a word why, or refused by name.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use rustix::process::geteuid;

use crate::process::{on_path, run};

/// Whether this command may install anything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    Install,
    /// `--no-install`: what is missing is named, and nothing is done.
    Refuse,
}

/// Makes sure that Debian's `packages` are there. `why` completes "… is needed to ".
pub(crate) fn packages(packages: &[&str], why: &str, consent: Consent) -> Result<()> {
    let missing: Vec<&str> = packages
        .iter()
        .copied()
        .filter(|name| !is_installed(name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if consent == Consent::Refuse {
        bail!("--no-install: missing, to {why}: {names}");
    }
    if on_path("apt-get").is_none() {
        bail!("missing, to {why}: {names} (Debian's names; there is no apt-get here)");
    }
    println!("Installing from Debian's packages, to {why}: {names}");
    run(apt_get()?.arg("update").arg("-qq"))?;
    // Nothing of the machine's own may give way: better fail, and say what stands against it.
    let flags = [
        "install",
        "-y",
        "-qq",
        "--no-install-recommends",
        "--no-remove",
    ];
    run(apt_get()?.args(flags).args(missing))
}

/// SQLite is compiled from its C source as part of the backend.
pub(crate) fn c_compiler(consent: Consent) -> Result<()> {
    if on_path("cc").is_some() {
        return Ok(());
    }
    packages(
        &["gcc", "libc6-dev"],
        "compile SQLite, which is written in C",
        consent,
    )
}

fn is_installed(package: &str) -> bool {
    let query = Command::new("dpkg-query")
        .args(["--show", "--showformat=${db:Status-Status}", package])
        .stderr(Stdio::null())
        .output();
    query.is_ok_and(|output| output.stdout == b"installed")
}

fn apt_get() -> Result<Command> {
    let mut command = if geteuid().is_root() {
        Command::new("apt-get")
    } else if on_path("sudo").is_some() {
        let mut sudo = Command::new("sudo");
        sudo.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        sudo
    } else {
        bail!("installing needs root, and there is no sudo here");
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    Ok(command)
}
