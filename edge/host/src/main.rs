//! `fencepost-edge`: runs the edge component where Spin is not installed.

use anyhow::{Context as _, Result};
use clap::{Args, Parser, Subcommand};
use fencepost_edge_host::describe::describe;
use fencepost_edge_host::instance::{Grants, Loaded};
use fencepost_edge_host::keys::{self, Identity, Keys};
use fencepost_edge_host::manifest::Manifest;
use fencepost_edge_host::variables::Variables;
use fencepost_edge_host::vectors::Vectors;
use fencepost_edge_host::{pool, serve};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Runs the edge component from its spin.toml, for development and tests.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve HTTP as `spin up` does; prints {"listening":"http://…"} once it does.
    Serve(Serve),
    /// Derive a report key through the component's own export.
    Key {
        /// A file with {"tenant", "namespace", "report_id", "version"}.
        #[arg(long, value_name = "FILE")]
        identity: PathBuf,
        #[command(flatten)]
        source: Source,
    },
    /// Check the component against keys.json, payloads.json and inputs.json of a folder.
    Vectors {
        /// The folder.
        folder: PathBuf,
        #[command(flatten)]
        source: Source,
    },
    /// List the component's imports and exports.
    Describe {
        #[command(flatten)]
        source: Source,
    },
}

#[derive(Args)]
struct Source {
    /// The application.
    #[arg(long, value_name = "FILE", default_value = "spin.toml")]
    manifest: PathBuf,
    /// The component, instead of the one that the manifest names.
    #[arg(long, value_name = "FILE")]
    component: Option<PathBuf>,
}

#[derive(Args)]
struct Serve {
    #[command(flatten)]
    source: Source,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3000")]
    listen: SocketAddr,
    /// A variable's value, before SPIN_VARIABLE_NAME and the manifest's default.
    #[arg(long = "variable", value_name = "NAME=VALUE", value_parser = name_and_value)]
    variables: Vec<(String, String)>,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        // The text may hold a secret, so the message does not repeat it.
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// Whether the question was answered with yes; the exit code says so.
enum Verdict {
    Yes,
    No,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse().command).await {
        Ok(Verdict::Yes) => ExitCode::SUCCESS,
        Ok(Verdict::No) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "fencepost-edge: {error:#}");
            ExitCode::from(2)
        }
    }
}

async fn run(command: Command) -> Result<Verdict> {
    match command {
        Command::Serve(options) => serve(options).await,
        Command::Key { identity, source } => {
            let text = std::fs::read(&identity).with_context(|| identity.display().to_string())?;
            let identity: Identity =
                serde_json::from_slice(&text).with_context(|| identity.display().to_string())?;
            let answer = Keys::new(&source.load()?)
                .await?
                .report_key(&identity)
                .await?;
            print(&keys::report(&identity, &answer))?;
            Ok(if answer.is_ok() {
                Verdict::Yes
            } else {
                Verdict::No
            })
        }
        Command::Vectors { folder, source } => {
            let vectors = Vectors::read(&folder)?;
            let outcome = vectors
                .check(&mut Keys::new(&source.load()?).await?)
                .await?;
            outcome.failures.iter().try_for_each(print)?;
            print(&outcome.summary)?;
            Ok(if outcome.failures.is_empty() {
                Verdict::Yes
            } else {
                Verdict::No
            })
        }
        Command::Describe { source } => {
            std::io::stdout().write_all(describe(&source.load()?).as_bytes())?;
            Ok(Verdict::Yes)
        }
    }
}

impl Source {
    fn load(&self) -> Result<Loaded> {
        let file = match &self.component {
            Some(file) => file.clone(),
            None => self.read()?.component_file(),
        };
        Ok(Loaded::load(&file)?)
    }

    fn read(&self) -> Result<Manifest> {
        Ok(Manifest::read(&self.manifest)?)
    }
}

async fn serve(options: Serve) -> Result<Verdict> {
    let manifest = options.source.read()?;
    let given: BTreeMap<String, String> = options.variables.into_iter().collect();
    let variables = Variables::resolve(&manifest, &given, |name| std::env::var(name).ok())?;
    let grants = Grants::of(&manifest, variables)?;
    let file = options
        .source
        .component
        .unwrap_or_else(|| manifest.component_file());
    let handler = pool::handler(&Loaded::load(&file)?, grants)?;

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind(options.listen)
        .await
        .with_context(|| format!("cannot listen on {}", options.listen))?;
    print(&json!({ "listening": format!("http://{}", listener.local_addr()?) }))?;
    let stop = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    serve::serve(listener, handler, manifest.routes, stop).await;
    Ok(Verdict::Yes)
}

/// One line of JSON on stdout, at once: a test waits for it.
fn print(value: &Value) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{value}")?;
    Ok(stdout.flush()?)
}
