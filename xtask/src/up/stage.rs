//! A backend and an edge on loopback, with secrets that nobody has seen.

use std::env;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;

use super::admin::{answers, is_ready};
use super::children::{Child, Events};
use super::manifest;
use crate::programs::Programs;

/// A component is compiled when its host starts, which takes seconds in a debug build.
const START_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(100);

/// The secrets of one run. They reach the programs through their environment alone.
pub(crate) struct Secrets {
    pub(crate) edge: String,
    pub(crate) admin_token: String,
    /// What senders sign with, as `fencepost send` and the edge look for it.
    pub(crate) senders: Vec<(String, String)>,
}

impl Secrets {
    /// Random ones for all that the manifest in this folder asks for; a sender's secret that is set
    /// already is kept, so that the caller can sign.
    pub(crate) fn of(project: &Path) -> Result<Self> {
        let mut senders = Vec::new();
        for name in manifest::senders_secrets(&fs::read_to_string(project.join("spin.toml"))?) {
            let variable = format!("SPIN_VARIABLE_{}", name.to_ascii_uppercase());
            let secret = env::var(&variable).or_else(|_| random())?;
            senders.push((variable, secret));
        }
        Ok(Self {
            edge: random()?,
            admin_token: random()?,
            senders,
        })
    }
}

/// 256 random bits in hexadecimal digits.
fn random() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("no random bytes: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A new folder for what one run leaves: database and logs.
pub(crate) fn new_folder(root: &Path, purpose: &str) -> Result<PathBuf> {
    let suffix: String = random()?.chars().take(8).collect();
    let folder = root.join(".fencepost").join(format!("{purpose}-{suffix}"));
    fs::create_dir_all(&folder).with_context(|| format!("can't make {}", folder.display()))?;
    Ok(folder)
}

/// What runs the component.
pub(crate) enum Runner {
    Spin(PathBuf),
    Bundled,
}

/// `wanted` if nobody listens there, else any free port, with a word about it.
pub(crate) fn free(wanted: SocketAddr) -> Result<SocketAddr> {
    if TcpListener::bind(wanted).is_ok() {
        return Ok(wanted);
    }
    let any = TcpListener::bind((wanted.ip(), 0))?.local_addr()?;
    println!("{wanted} is taken: {any} instead");
    Ok(any)
}

/// A started backend.
pub(crate) struct Backend {
    _child: Child,
    pub(crate) ingest: String,
    pub(crate) admin: String,
}

impl Backend {
    /// Starts one with an empty database in `folder`, and waits until it is ready.
    pub(crate) fn start(
        mut fencepost: Command,
        folder: &Path,
        secrets: &Secrets,
        (ingest, admin): (SocketAddr, SocketAddr),
        events: &Events,
    ) -> Result<Self> {
        fencepost
            .arg("serve")
            .env("FENCEPOST_DATABASE_URL", database_url(folder))
            .env("FENCEPOST_LISTEN", ingest.to_string())
            .env("FENCEPOST_ADMIN_LISTEN", admin.to_string())
            .env("FENCEPOST_EDGE_SECRET", &secrets.edge)
            .env("FENCEPOST_ADMIN_TOKEN", &secrets.admin_token);
        let child = Child::start("backend", &mut fencepost, folder, events)?;
        let said = child.announced(START_LIMIT)?;
        let backend = Self {
            _child: child,
            ingest: text(&said, "ingest")?,
            admin: text(&said, "admin")?,
        };
        let readyz = format!("{}/readyz", backend.admin);
        wait_until(events, START_LIMIT, "the backend is not ready", || {
            is_ready(&readyz)
        })?;
        Ok(backend)
    }
}

/// Where the database of a run stands.
pub(crate) fn database_url(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("fencepost.db").display())
}

/// A started edge.
pub(crate) struct Edge {
    _child: Child,
    pub(crate) url: String,
}

impl Edge {
    /// Starts one, as the manifest in the folder of the project has it, that forwards to `backend`,
    /// and waits until it answers.
    pub(crate) fn start(
        runner: &Runner,
        (project, programs): (&Path, &Programs),
        (folder, secrets): (&Path, &Secrets),
        (backend, listen): (&str, SocketAddr),
        events: &Events,
    ) -> Result<Self> {
        let mut command = match runner {
            Runner::Spin(spin) => {
                let mut command = Command::new(spin);
                command.args(["up", "--from", "spin.toml", "--state-dir"]);
                command.arg(folder.join("spin"));
                command
            }
            Runner::Bundled => {
                let mut command = Command::new(&programs.host);
                command.args(["serve", "--manifest", "spin.toml", "--component"]);
                command.arg(&programs.component);
                command
            }
        };
        command
            .current_dir(project)
            .args(["--listen", &listen.to_string()])
            .env("SPIN_VARIABLE_BACKEND_URL", backend)
            .env("SPIN_VARIABLE_EDGE_SECRET", &secrets.edge)
            .envs(secrets.senders.clone());
        let child = Child::start("edge", &mut command, folder, events)?;
        let url = match runner {
            Runner::Bundled => text(&child.announced(START_LIMIT)?, "listening")?,
            // Spin's words are for people: its port is the one that it was given.
            Runner::Spin(_) => format!("http://{listen}"),
        };
        wait_until(events, START_LIMIT, "the edge does not answer", || {
            answers(&url)
        })?;
        Ok(Self { _child: child, url })
    }
}

/// Polls `condition`, until `limit` is over or something else happens.
pub(crate) fn wait_until(
    events: &Events,
    limit: Duration,
    otherwise: &str,
    condition: impl Fn() -> bool,
) -> Result<()> {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > limit {
            bail!("{otherwise}, after {} s", limit.as_secs());
        }
        events.pause(POLL)?;
    }
    Ok(())
}

/// A member of what a program announced.
pub(crate) fn text(document: &Value, member: &str) -> Result<String> {
    let value = document.get(member).and_then(Value::as_str);
    Ok(value
        .with_context(|| format!("no `{member}` in {document}"))?
        .to_owned())
}
