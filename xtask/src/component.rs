//! The edge component, at the path that spin.toml names, and the one that the host is tested with.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::install::Consent;
use crate::process::run;
use crate::toolchain::{self, TARGET, Toolchain};

/// Target folders of their own: two compilers' files never meet, and neither makes the other build
/// again. A finished component stands in the first, whichever compiler made it.
const FOLDER: &str = "target/component";
const DEBIAN_FOLDER: &str = "target/component-debian";

const PROFILE: &str = "component";

/// What is compiled to a component here.
struct Crate {
    package: &'static str,
    /// The profile's folder, and the file in it.
    file: &'static str,
}

/// spin.toml names where it stands when it is finished.
const EDGE: Crate = Crate {
    package: "fencepost-edge",
    file: "component/fencepost_edge.wasm",
};

const PROBE: Crate = Crate {
    package: "fencepost-edge-probe",
    file: "component/fencepost_edge_probe.wasm",
};

/// Builds the edge with whichever compiler this machine has, or can get, for it.
pub(crate) fn edge(root: &Path, consent: Consent) -> Result<PathBuf> {
    build(root, &EDGE, consent)
}

/// Builds the component that does what the edge never may.
pub(crate) fn probe(root: &Path, consent: Consent) -> Result<PathBuf> {
    build(root, &PROBE, consent)
}

fn build(root: &Path, what: &Crate, consent: Consent) -> Result<PathBuf> {
    let finished = root.join(FOLDER).join(TARGET).join(what.file);
    match toolchain::ensure(consent)? {
        Toolchain::Active => {
            run(cargo().current_dir(root).args(arguments(what, FOLDER)))?;
        }
        Toolchain::Debian => {
            run(&mut debian(root, what))?;
            let built = root.join(DEBIAN_FOLDER).join(TARGET).join(what.file);
            let parent = finished.parent().context("the component has a folder")?;
            fs::create_dir_all(parent)?;
            fs::copy(&built, &finished).with_context(|| format!("no {}", built.display()))?;
        }
    }
    let size = fs::metadata(&finished).with_context(|| format!("no {}", finished.display()))?;
    println!(
        "component: {} ({} KiB)",
        finished.display(),
        size.len() / 1024
    );
    Ok(finished)
}

/// The cargo that runs us.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn arguments(what: &Crate, folder: &'static str) -> [&'static str; 10] {
    [
        "build",
        "--locked",
        "--package",
        what.package,
        "--target",
        TARGET,
        "--profile",
        PROFILE,
        "--target-dir",
        folder,
    ]
}

/// Debian ships no standard library for the target, but its source, and a linker that makes a
/// component. Its older wasi-libc only lends symbols: the linker adapts what it imports.
fn debian(root: &Path, what: &Crate) -> Command {
    let mut command = Command::new("/usr/bin/cargo");
    command
        .current_dir(root)
        .args(arguments(what, DEBIAN_FOLDER))
        .arg("-Zbuild-std=std,panic_abort")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTFLAGS", "-L native=/usr/lib/wasm32-wasi");
    // What the active toolchain left for its children would mix it with Debian's.
    for name in [
        "CARGO",
        "LD_LIBRARY_PATH",
        "RUSTC_WRAPPER",
        "RUSTDOC",
        "RUSTUP_TOOLCHAIN",
    ] {
        command.env_remove(name);
    }
    command
}
