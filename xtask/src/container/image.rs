//! The images that the Containerfile starts from, and the one that it makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::process::geteuid;

use super::engine::Engine;
use crate::process::{on_path, run, stdout_of};

/// What the Containerfile names.
const BUILDER: &str = "docker.io/library/rust:1-bookworm";
const RUNTIME: &str = "docker.io/library/debian:bookworm-slim";
/// The same, made of Debian's packages where no registry of images can be reached.
const DEBIAN_BUILDER: &str = "localhost/fencepost-builder:bookworm";
const DEBIAN_RUNTIME: &str = "localhost/fencepost-runtime:bookworm";
/// Where the compiler of this machine stands in [`DEBIAN_BUILDER`].
const TOOLCHAIN: &str = "/opt/rust";
/// Time for the builder image, which is large; without a way to the registry it fails sooner.
const PULL_LIMIT: Duration = Duration::from_secs(300);

/// What an image is built from.
pub(super) enum Images {
    /// The ones of the Containerfile.
    Named,
    /// Debian's packages, and the compiler of this machine in the given folder.
    Debian { toolchain: PathBuf },
}

/// Whether there is anything to build from.
pub(super) enum Available {
    Yes(Images),
    /// Why not.
    No(String),
}

impl Images {
    /// The named ones if they are here or can be pulled, else Debian's.
    pub(super) fn get(engine: &Engine) -> Result<Available> {
        let named = [RUNTIME, BUILDER];
        let have_debian = [DEBIAN_BUILDER, DEBIAN_RUNTIME]
            .iter()
            .all(|image| engine.has(image));
        // Where Debian's were made, the registry could not be reached: it is not asked again.
        let gettable =
            |image: &&str| engine.has(image) || !have_debian && engine.pulls(image, PULL_LIMIT);
        if named.iter().all(gettable) {
            return Ok(Available::Yes(Self::Named));
        }
        let sysroot = stdout_of(Command::new("rustc").args(["--print", "sysroot"]))?;
        let toolchain = PathBuf::from(sysroot);
        if toolchain == Path::new("/usr") || !toolchain.join("bin/cargo").is_file() {
            let reason = "its images can't be pulled, and this compiler can't be lent to a build";
            return Ok(Available::No(reason.to_owned()));
        }
        if !have_debian {
            if on_path("debootstrap").is_none() || !geteuid().is_root() {
                let reason = "its images can't be pulled; making them takes root and debootstrap";
                return Ok(Available::No(reason.to_owned()));
            }
            make(engine)?;
        }
        Ok(Available::Yes(Self::Debian { toolchain }))
    }

    /// Builds deploy/Containerfile.
    pub(super) fn build(&self, engine: &Engine, root: &Path, image: &str) -> Result<()> {
        let mut command = engine.build_command();
        command
            .current_dir(root)
            .args(["--tag", image, "--file", "deploy/Containerfile"]);
        match self {
            Self::Named => {}
            Self::Debian { toolchain } => {
                let toolchain = toolchain.display();
                command
                    .args(["--pull=never", "--network", "host"])
                    .args(["--build-arg", &format!("BUILDER={DEBIAN_BUILDER}")])
                    .args(["--build-arg", &format!("RUNTIME={DEBIAN_RUNTIME}")])
                    .args(["--volume", &format!("{toolchain}:{TOOLCHAIN}:ro")]);
            }
        }
        run(command.arg("."))
    }
}

/// Makes both images of Debian's packages; the certificates are this machine's.
fn make(engine: &Engine) -> Result<()> {
    println!("The images can't be pulled: making them of Debian's packages (a few minutes)");
    let folder =
        stdout_of(Command::new("mktemp").args(["--directory", "--tmpdir", "fencepost.XXXXXX"]))?;
    let made = bootstrap(&folder, &["--variant=minbase"], "runtime").and_then(|runtime| {
        engine.import(&runtime, DEBIAN_RUNTIME, "ENV LANG=C.UTF-8")?;
        let include = "--include=gcc,libc6-dev,ca-certificates";
        let builder = bootstrap(&folder, &["--variant=minbase", include], "builder")?;
        let certificates = "/etc/ssl/certs/ca-certificates.crt";
        fs::copy(certificates, format!("{builder}{certificates}"))
            .with_context(|| format!("no {certificates}"))?;
        let path = format!("ENV PATH={TOOLCHAIN}/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        engine.import(&builder, DEBIAN_BUILDER, &path)
    });
    fs::remove_dir_all(&folder)?;
    made
}

fn bootstrap(folder: &str, options: &[&str], name: &str) -> Result<String> {
    let target = format!("{folder}/{name}");
    run(Command::new("debootstrap")
        .args(options)
        .args(["bookworm", &target]))?;
    Ok(target)
}
