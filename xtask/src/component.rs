//! The edge component, at the path that spin.toml names.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::install::Consent;
use crate::process::run;
use crate::toolchain::{self, TARGET, Toolchain};

/// Where the finished component stands, relative to the workspace. spin.toml names it too.
const FILE: &str = "target/component/wasm32-wasip2/component/fencepost_edge.wasm";

/// Builds the component with whichever compiler this machine has, or can get, for it.
pub(crate) fn build(root: &Path, consent: Consent) -> Result<PathBuf> {
    let toolchain = toolchain::ensure(consent)?;
    let finished = root.join(FILE);
    match toolchain {
        Toolchain::Active => {
            run(cargo()
                .current_dir(root)
                .args(arguments("target/component")))?;
        }
        Toolchain::Debian => {
            // A folder of its own: two compilers' files never meet, and neither rebuilds the
            // other's.
            let folder = "target/component-debian";
            run(&mut debian_build(root, folder))?;
            let built = root
                .join(folder)
                .join(TARGET)
                .join("component/fencepost_edge.wasm");
            let parent = finished.parent().context("the component has a folder")?;
            fs::create_dir_all(parent)?;
            fs::copy(&built, &finished).with_context(|| format!("no {}", built.display()))?;
        }
    }
    let size = fs::metadata(&finished)
        .with_context(|| format!("no {FILE}"))?
        .len();
    println!("component: {FILE} ({} KiB)", size / 1024);
    Ok(finished)
}

/// The cargo that runs us.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn arguments(target_folder: &str) -> [&str; 9] {
    [
        "build",
        "--package",
        "fencepost-edge",
        "--target",
        TARGET,
        "--profile",
        "component",
        "--target-dir",
        target_folder,
    ]
}

/// Debian ships no standard library for the target, but its source, and a linker that makes a
/// component. Its older wasi-libc only lends symbols: the linker adapts what it imports.
fn debian_build(root: &Path, target_folder: &str) -> Command {
    let mut command = Command::new("/usr/bin/cargo");
    command
        .current_dir(root)
        .args(arguments(target_folder))
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
