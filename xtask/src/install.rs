//! Debian's packages: what is missing is installed, with a word why, or refused by name.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use rustix::process::geteuid;

use crate::process::{on_path, run};

/// Runs its arguments, an installation, so that no service is started and no cluster is made.
const QUIET: &str = include_str!("install/quiet.sh");

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
    run(as_root("apt-get")?.args(["update", "-qq"]))?;
    // Nothing of the machine's own may give way: better fail, and say what stands against it.
    let flags = [
        "apt-get",
        "install",
        "-y",
        "-qq",
        "--no-install-recommends",
        "--no-remove",
    ];
    let mut quiet = as_root("sh")?;
    read_by(&mut quiet, QUIET)?;
    run(quiet.args(["-s", "/"]).args(flags).args(missing))
}

/// Makes `shell` read `script` from its standard input.
fn read_by(shell: &mut Command, script: &str) -> Result<()> {
    let (reader, mut writer) = io::pipe()?;
    // Less than a pipe holds, so nobody has to read meanwhile.
    writer.write_all(script.as_bytes())?;
    shell.stdin(reader);
    Ok(())
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

fn as_root(program: &str) -> Result<Command> {
    const QUESTIONS: (&str, &str) = ("DEBIAN_FRONTEND", "noninteractive");
    if geteuid().is_root() {
        let mut command = Command::new(program);
        command.env(QUESTIONS.0, QUESTIONS.1);
        Ok(command)
    } else if on_path("sudo").is_some() {
        let mut sudo = Command::new("sudo");
        sudo.arg(format!("{}={}", QUESTIONS.0, QUESTIONS.1))
            .arg(program);
        Ok(sudo)
    } else {
        bail!("installing needs root, and there is no sudo here")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    const POLICY: &str = "usr/sbin/policy-rc.d";
    const SETTING: &str = "etc/postgresql-common/createcluster.d/fencepost.conf";

    /// Runs `installation` by the script below another root; how it ends.
    fn quietly(root: &Path, installation: &str, package: &str) -> Option<i32> {
        let mut shell = Command::new("sh");
        read_by(&mut shell, QUIET).unwrap();
        shell.arg("-s").arg(root);
        // The package is `$0` to it.
        shell.args(["sh", "-c", installation, package]);
        shell.current_dir(root).status().unwrap().code()
    }

    fn a_root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("usr/sbin")).unwrap();
        root
    }

    #[test]
    fn services_and_clusters_are_kept_away_only_meanwhile() {
        let root = a_root();
        let look = format!("{POLICY} && exit 1; test $? = 101 && cat {SETTING} >seen; exit 7");
        assert_eq!(quietly(root.path(), &look, "postgresql"), Some(7));
        let seen = fs::read_to_string(root.path().join("seen")).unwrap();
        assert_eq!(seen, "create_main_cluster = false\n");
        assert!(!root.path().join(POLICY).exists());
        assert!(!root.path().join("etc").exists());
    }

    #[test]
    fn what_the_machine_says_itself_stays() {
        let root = a_root();
        fs::write(root.path().join(POLICY), "its own").unwrap();
        fs::create_dir(root.path().join("etc")).unwrap();
        fs::write(root.path().join("etc/passwd"), "").unwrap();
        assert_eq!(quietly(root.path(), "exit 0", "postgresql"), Some(0));
        let policy = fs::read_to_string(root.path().join(POLICY)).unwrap();
        assert_eq!(policy, "its own");
        assert!(root.path().join("etc/passwd").exists());
        assert!(!root.path().join("etc/postgresql-common").exists());
    }

    #[test]
    fn other_packages_leave_postgres_alone() {
        let root = a_root();
        let look = format!("test ! -e {SETTING}");
        assert_eq!(quietly(root.path(), &look, "gcc"), Some(0));
    }
}
