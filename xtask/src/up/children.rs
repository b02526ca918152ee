//! The started programs: their first word, their log, and their end, which comes in every case.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A backend gives its calls this long to end.
const STOP_LIMIT: Duration = Duration::from_secs(20);
/// How much of a log is shown when a program fails.
const LOG_LINES: usize = 20;

/// What happens by itself.
enum Event {
    Interrupted,
    Ended {
        name: &'static str,
        status: ExitStatus,
        log: PathBuf,
    },
}

/// Where everything that happens by itself arrives.
pub(crate) struct Events {
    sender: Sender<Event>,
    receiver: Receiver<Event>,
}

/// Where Ctrl-C goes at the moment.
static INTERRUPTED: Mutex<Option<Sender<Event>>> = Mutex::new(None);
static HANDLER: OnceLock<()> = OnceLock::new();

impl Events {
    /// From here on, Ctrl-C and SIGTERM arrive here instead of ending this process.
    pub(crate) fn new() -> Result<Self> {
        let (sender, receiver) = mpsc::channel();
        *INTERRUPTED.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender.clone());
        if HANDLER.set(()).is_ok() {
            ctrlc::set_handler(interrupt)?;
        }
        Ok(Self { sender, receiver })
    }

    /// Waits for `pause`; whatever happens meanwhile is an error.
    pub(crate) fn pause(&self, pause: Duration) -> Result<()> {
        match self.receiver.recv_timeout(pause) {
            Ok(Event::Interrupted) => bail!("interrupted"),
            Ok(Event::Ended { name, status, log }) => Err(ended(name, status, &log)),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => bail!("nothing can happen any more"),
        }
    }

    /// Waits for Ctrl-C; a program that ends before that is an error.
    pub(crate) fn until_interrupted(&self) -> Result<()> {
        match self.receiver.recv()? {
            Event::Interrupted => Ok(()),
            Event::Ended { name, status, log } => Err(ended(name, status, &log)),
        }
    }
}

fn interrupt() {
    let sender = INTERRUPTED.lock().unwrap_or_else(PoisonError::into_inner);
    let heard = sender
        .as_ref()
        .is_some_and(|sender| sender.send(Event::Interrupted).is_ok());
    if !heard {
        // Nothing was started that would have to be stopped.
        process::exit(130);
    }
}

fn ended(name: &str, status: ExitStatus, log: &Path) -> anyhow::Error {
    anyhow!(
        "{name} ended by itself ({status}); the end of its log:\n{}",
        tail(log)
    )
}

/// A started program. It is stopped when this goes out of scope, and waited for.
pub(crate) struct Child {
    name: &'static str,
    pid: Pid,
    first_line: Receiver<String>,
    exited: Receiver<()>,
    log: PathBuf,
}

impl Child {
    /// Starts `command`; all it says goes to `folder`/`name`.log.
    pub(crate) fn start(
        name: &'static str,
        command: &mut Command,
        folder: &Path,
        events: &Events,
    ) -> Result<Self> {
        let log = folder.join(format!("{name}.log"));
        let file = File::options().create(true).append(true).open(&log)?;
        let output = file.try_clone()?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file);
        let mut child = command
            .spawn()
            .with_context(|| format!("can't start the {name}"))?;
        let pid = Pid::from_child(&child);
        let stdout = child.stdout.take().context("stdout is piped")?;
        let first_line = read_stdout(stdout, output);
        let (exited_sender, exited) = mpsc::channel();
        let (sender, log_of_ended) = (events.sender.clone(), log.clone());
        thread::spawn(move || {
            let status = child.wait();
            // Either receiver may be gone: then nobody wants to know.
            let _ = exited_sender.send(());
            if let Ok(status) = status {
                let _ = sender.send(Event::Ended {
                    name,
                    status,
                    log: log_of_ended,
                });
            }
        });
        Ok(Self {
            name,
            pid,
            first_line,
            exited,
            log,
        })
    }

    /// The JSON document that the program says first.
    pub(crate) fn announced(&self, limit: Duration) -> Result<Value> {
        let log = || format!("the end of its log:\n{}", tail(&self.log));
        let line = self
            .first_line
            .recv_timeout(limit)
            .map_err(|_| anyhow!("the {} did not say that it runs; {}", self.name, log()))?;
        serde_json::from_str(&line).with_context(|| format!("the {} said first: {line}", self.name))
    }
}

/// Hands on the first line; the others are kept in the log.
fn read_stdout(stdout: process::ChildStdout, mut log: File) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut lines = BufReader::new(stdout);
        let mut first = String::new();
        if lines.read_line(&mut first).is_ok_and(|length| length > 0) {
            let _ = sender.send(first);
        }
        // Read to the end in any case: a program blocks when nobody reads what it says.
        let _ = io::copy(&mut lines, &mut log);
    });
    receiver
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LOG_LINES);
    lines.into_iter().skip(from).collect::<Vec<_>>().join("\n")
}

impl Drop for Child {
    fn drop(&mut self) {
        // While it has not been waited for, its number belongs to nobody else.
        if self.exited.try_recv().is_ok() {
            return;
        }
        let _ = kill_process(self.pid, Signal::TERM);
        if self.exited.recv_timeout(STOP_LIMIT).is_err() {
            println!("The {} does not stop; it is killed", self.name);
            let _ = kill_process(self.pid, Signal::KILL);
            let _ = self.exited.recv();
        }
    }
}
