//! `test`: everything that CI runs, step by step, until the first one that fails.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::component::{self, cargo};
use crate::install::Consent;
use crate::postgres::{self, Servers};
use crate::process::run;
use crate::programs::{self, Programs};
use crate::up::{self, Extractor, Options, Then};
use crate::{container, model, real_model, toolchain};

/// How a step ended, if it did not fail.
pub(crate) enum Ran {
    Done,
    /// Something that nobody is obliged to have is missing.
    Not(String),
}

enum Outcome {
    Ran(Ran),
    Failed,
}

/// What was run so far.
struct Report {
    steps: Vec<(&'static str, Outcome, Duration)>,
}

/// Runs every step; with `spin`, the end-to-end part under it as well.
pub(crate) fn run_all(root: &Path, spin: Option<PathBuf>, consent: Consent) -> Result<()> {
    let mut report = Report { steps: Vec::new() };
    let outcome = steps(root, spin, consent, &mut report);
    report.print();
    outcome
}

/// Runs the part alone that asks a real model.
pub(crate) fn run_real_model(root: &Path, consent: Consent) -> Result<()> {
    let mut report = Report { steps: Vec::new() };
    let outcome = report.step("real model", || {
        // First, since what is missing is then told before anything takes its time.
        let model = model::set_up(root, consent)?;
        model_server(root)?;
        let programs = programs::build(root, consent)?;
        real_model::run(root, &programs, model)?;
        Ok(Ran::Done)
    });
    report.print();
    outcome
}

fn steps(root: &Path, spin: Option<PathBuf>, consent: Consent, report: &mut Report) -> Result<()> {
    let command = |arguments: &[&str]| {
        run(cargo().current_dir(root).args(arguments))?;
        Ok(Ran::Done)
    };
    report.step("fmt", || command(&["fmt", "--all", "--check"]))?;
    report.step("clippy", || {
        let targets = ["clippy", "--workspace", "--all-targets"];
        let rest = ["--features", programs::FEATURES, "--", "-D", "warnings"];
        command(&[&targets[..], &rest[..]].concat())
    })?;
    // Also the one of the backend without the providers that not everybody has.
    report.step("clippy of the failpoints", || {
        let package = ["clippy", "--package", "fencepost", "--bins"];
        let features = ["--features", "failpoints", "--", "-D", "warnings"];
        command(&[&package[..], &features[..]].concat())
    })?;
    let mut programs = None;
    report.step("build", || {
        programs = Some(programs::build_with_tests(root, consent)?);
        Ok(Ran::Done)
    })?;
    let Some(programs) = programs else {
        bail!("nothing was built")
    };
    // After the build, which has got the target where it could be had.
    report.step("clippy of the component", || clippy_of_component(root))?;
    report.step("test", || tests(root, &programs, consent))?;
    let up = |spin| {
        up::run(
            root,
            &programs,
            &Options {
                then: Then::Stop,
                extractor: Extractor::Baseline,
                listen: None,
                spin,
            },
        )?;
        Ok(Ran::Done)
    };
    report.step("up", || up(None))?;
    report.step("container", || container::run(root, &programs))?;
    report.step("spin", || match spin {
        None => Ok(Ran::Not("no --spin PATH".to_owned())),
        Some(spin) => up(Some(spin)),
    })?;
    report.step("server of the real model", || model_server(root))?;
    report.step("real model", || Ok(Ran::Not("no --real-model".to_owned())))
}

/// The server without its model, which needs nothing but Node.
fn model_server(root: &Path) -> Result<Ran> {
    let node = match model::node() {
        Ok(node) => node,
        Err(missing) => return Ok(Ran::Not(missing.to_string())),
    };
    let folder = root.join("xtask/real-model");
    run(Command::new(node).current_dir(folder).arg("--test"))?;
    Ok(Ran::Done)
}

/// The file that knows Spin is compiled for the component's target alone.
fn clippy_of_component(root: &Path) -> Result<Ran> {
    if !toolchain::active_has_target() {
        return Ok(Ran::Not(
            "the compiler that has clippy lacks the component's target".to_owned(),
        ));
    }
    let arguments = [
        "clippy",
        "-p",
        "fencepost-edge",
        "--target",
        toolchain::TARGET,
    ];
    let folder = ["--target-dir", "target/component", "--", "-D", "warnings"];
    run(cargo().current_dir(root).args(arguments).args(folder))?;
    Ok(Ran::Done)
}

fn tests(root: &Path, programs: &Programs, consent: Consent) -> Result<Ran> {
    let probe = component::probe(root, consent)?;
    let failpoints = programs::build_with_failpoints(root)?;
    let servers = Servers::start(consent)?;
    let wrong_clock = postgres::wrong_clock(consent)?;
    let mut command = cargo();
    command
        .current_dir(root)
        .args([
            "test",
            "--workspace",
            "--no-fail-fast",
            "--features",
            programs::FEATURES,
        ])
        .env("FENCEPOST_COMPONENT", &programs.component)
        .env("FENCEPOST_BACKEND", &programs.backend)
        .env("FENCEPOST_HOST", &programs.host)
        .env("FENCEPOST_FAILPOINTS", failpoints)
        .env("FENCEPOST_FAKETIME", wrong_clock)
        .env("FENCEPOST_PROBE", probe)
        .envs(servers.variables());
    run(&mut command)?;
    Ok(Ran::Done)
}

impl Report {
    fn step(&mut self, name: &'static str, step: impl FnOnce() -> Result<Ran>) -> Result<()> {
        println!("\n== {name}");
        let start = Instant::now();
        let (outcome, result) = match step() {
            Ok(ran) => (Outcome::Ran(ran), Ok(())),
            Err(error) => (
                Outcome::Failed,
                Err(error.context(format!("step `{name}`"))),
            ),
        };
        self.steps.push((name, outcome, start.elapsed()));
        result
    }

    fn print(&self) {
        println!();
        for (name, outcome, took) in &self.steps {
            println!("{}", line(name, outcome, *took));
        }
    }
}

fn line(name: &str, outcome: &Outcome, took: Duration) -> String {
    match outcome {
        Outcome::Ran(Ran::Done) => format!("{name}: ok ({:.1} s)", took.as_secs_f64()),
        Outcome::Ran(Ran::Not(reason)) => format!("{name}: NOT RUN ({reason})"),
        Outcome::Failed => format!("{name}: FAILED ({:.1} s)", took.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failing_step_is_the_last_one() {
        let mut report = Report { steps: Vec::new() };
        assert!(report.step("a", || Ok(Ran::Done)).is_ok());
        assert!(report.step("b", || bail!("no")).is_err());
        let lines: Vec<_> = report
            .steps
            .iter()
            .map(|(name, how, _)| line(name, how, Duration::ZERO))
            .collect();
        assert_eq!(lines, ["a: ok (0.0 s)", "b: FAILED (0.0 s)"]);
        let not = Outcome::Ran(Ran::Not("no engine".to_owned()));
        assert_eq!(line("c", &not, Duration::ZERO), "c: NOT RUN (no engine)");
    }
}
