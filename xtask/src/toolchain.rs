//! Finding, or getting, a compiler that can build the component.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::install::{Consent, packages};
use crate::process::{Bounded, on_path, run_bounded, shown};

/// The component's target.
pub(crate) const TARGET: &str = "wasm32-wasip2";

/// Offline, rustup either fails at once or waits for a connection that never comes.
const RUSTUP_LIMIT: Duration = Duration::from_secs(60);

/// The compiler, its source for the standard library, and its linker. The linker's package has a
/// version in its name, see [`lld_package`].
const DEBIAN: [&str; 5] = [
    "rustc-web",
    "cargo-web",
    "rust-web-src",
    "rust-web-llvm",
    "wasi-libc",
];
const DEBIAN_LINKER: &str = "/usr/bin/rust-lld";
const WHY: &str = "compile the edge component (this machine's rustc has no wasm32-wasip2)";

/// A compiler that can build for [`TARGET`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The one that runs us: it has the target's standard library.
    Active,
    /// Debian's own, which builds the standard library from source.
    Debian,
}

/// The first of these that works: the active compiler has the target; rustup can add it; Debian's
/// packages.
pub(crate) fn ensure(consent: Consent) -> Result<Toolchain> {
    if active_has_target() {
        return Ok(Toolchain::Active);
    }
    if on_path("rustup").is_some() && consent == Consent::Install && rustup_adds_target()? {
        return Ok(Toolchain::Active);
    }
    if on_path("apt-get").is_none() {
        bail!(
            "this rustc can't compile for {TARGET}. `rustup target add {TARGET}` is the remedy; \
             with another distribution's compiler, its package for that target"
        );
    }
    debian(consent).with_context(|| format!("`rustup target add {TARGET}` is another way"))?;
    Ok(Toolchain::Debian)
}

/// Whether the active compiler has the target's standard library.
pub(crate) fn active_has_target() -> bool {
    let printed = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .stderr(Stdio::null())
        .output();
    let Ok(printed) = printed else { return false };
    let folder = PathBuf::from(String::from_utf8_lossy(&printed.stdout).trim());
    let Ok(files) = fs::read_dir(folder) else {
        return false;
    };
    files
        .flatten()
        .any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
}

fn rustup_adds_target() -> Result<bool> {
    println!(
        "Asking rustup for the target {TARGET}, which the edge component is compiled for \
         (at most {} s)",
        RUSTUP_LIMIT.as_secs()
    );
    let mut command = Command::new("rustup");
    command.args(["target", "add", TARGET]).stdin(Stdio::null());
    println!("$ {}", shown(&command));
    let reason = match run_bounded(&mut command, RUSTUP_LIMIT)? {
        Bounded::Exited(status) if status.success() && active_has_target() => return Ok(true),
        Bounded::Exited(_) => "it failed",
        Bounded::TimedOut => "it had no answer in time",
    };
    println!("rustup can't ({reason}); Debian's own compiler can do it instead");
    Ok(false)
}

fn debian(consent: Consent) -> Result<()> {
    // Which linker is wanted is only known from the compiler's own link, once that is installed.
    let known = linker();
    let mut wanted = DEBIAN.to_vec();
    wanted.extend(known.as_deref());
    let installed = packages(&wanted, WHY, consent);
    match known {
        Some(_) => installed?,
        None => installed.with_context(|| format!("and the lld-NN of {DEBIAN_LINKER}"))?,
    }
    let named = linker().with_context(|| format!("{DEBIAN_LINKER} links to no lld-NN"))?;
    packages(&[&named], WHY, consent)
}

fn linker() -> Option<String> {
    lld_package(&fs::read_link(DEBIAN_LINKER).ok()?)
}

/// The package of the linker that `rust-lld` links to: its file name, which has the version.
fn lld_package(link: &Path) -> Option<String> {
    let name = link.file_name()?.to_str()?;
    let version = name.strip_prefix("lld-")?;
    let is_number = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linker_is_the_version_that_the_link_names() {
        let package = |link: &str| lld_package(Path::new(link));
        assert_eq!(package("lld-22").as_deref(), Some("lld-22"));
        assert_eq!(package("lld-19").as_deref(), Some("lld-19"));
        assert_eq!(
            package("../lib/llvm-20/bin/lld-20").as_deref(),
            Some("lld-20")
        );
        assert_eq!(package("lld"), None);
        assert_eq!(package("lld-"), None);
        assert_eq!(package("lld-22; rm"), None);
    }
}
