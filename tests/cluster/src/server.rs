//! A server as a child, which goes away with this process, however that goes.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    account::Account,
    error::{Error, to},
};

const KEEPER: &str = include_str!("keeper.sh");
/// Far longer than anything here takes on a slow machine: who reaches it waits in vain.
const PATIENCE: Duration = Duration::from_secs(120);
/// How much of a log an error shows.
const LOG_LINES: usize = 20;

/// How to start one.
#[derive(Clone, Debug)]
pub(crate) struct Recipe<'a> {
    pub(crate) name: &'static str,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// What it writes when it can be spoken to.
    pub(crate) ready: &'static str,
    /// The signal, by the shell's name, that ends it at once and all its processes with it.
    pub(crate) end_at_once: &'static str,
    pub(crate) account: Account,
    /// What is removed with it.
    pub(crate) folder: &'a Path,
}

/// It can be spoken to.
struct Ready;

/// One that runs. Dropped, it ends at once, and its folder goes with it.
#[derive(Debug)]
pub(crate) struct Server {
    name: &'static str,
    log: PathBuf,
    /// The server's, not the keeper's. The keeper does not take note of the server's end before it
    /// is told to, so the number is nobody else's.
    pid: Pid,
    keeper: Child,
    /// What the keeper listens to.
    line: Option<ChildStdin>,
    /// One message when it is ready; closed when each of its processes has ended.
    heard: Receiver<Ready>,
}

impl Recipe<'_> {
    /// Starts it, and is back when it is ready.
    pub(crate) fn start(&self) -> Result<Server, Error> {
        let log = self.folder.join("log");
        let file = File::options().create(true).append(true).open(&log);
        let file = file.map_err(to("open a server's log"))?;
        let mut command = Command::new("sh");
        command
            .args(["-c", KEEPER, "keeper", self.end_at_once])
            .arg(self.folder)
            .arg(&self.program)
            .args(&self.arguments)
            .env("LC_ALL", "C")
            // Ctrl-C is for this process, which ends the server in its own way.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        self.account.runs(&mut command);
        let mut keeper = command.spawn().map_err(to("start a server"))?;
        let line = keeper.stdin.take();
        let pid = pid(&mut keeper).map_err(to("start a server"))?;
        let (sender, heard) = mpsc::channel();
        if let Some(said) = keeper.stderr.take() {
            let ready = self.ready;
            thread::spawn(move || listen(said, file, ready, &sender));
        }
        let server = Server {
            name: self.name,
            log,
            pid,
            keeper,
            line,
            heard,
        };
        server.until_ready()
    }
}

/// The server's process id, which the keeper says first.
fn pid(keeper: &mut Child) -> io::Result<Pid> {
    let mut said = String::new();
    if let Some(stdout) = keeper.stdout.take() {
        BufReader::new(stdout).read_line(&mut said)?;
    }
    let number = said.trim().parse().ok().and_then(Pid::from_raw);
    number.ok_or_else(|| io::Error::other("the shell named no process"))
}

/// Keeps what the server writes, until it and all that it started are gone.
fn listen(said: ChildStderr, mut log: File, ready: &str, sender: &Sender<Ready>) {
    for line in BufReader::new(said).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        // A full disk is no reason for the server to block.
        let _ = writeln!(log, "{line}");
        if line.contains(ready) {
            // Nobody has to wait for it.
            let _ = sender.send(Ready);
        }
    }
}

impl Server {
    fn until_ready(self) -> Result<Self, Error> {
        let error = match self.heard.recv_timeout(PATIENCE) {
            Ok(Ready) => return Ok(self),
            Err(RecvTimeoutError::Disconnected) => Error::Ended {
                program: self.name,
                log: tail(&self.log),
            },
            Err(RecvTimeoutError::Timeout) => self.late("get ready"),
        };
        // What it leaves may be needed still: who drops the folder decides.
        self.stop(Signal::KILL)?;
        Err(error)
    }

    /// Sends it `signal`, and is back when it has ended with all that it started. What it wrote
    /// stays.
    pub(crate) fn stop(mut self, signal: Signal) -> Result<(), Error> {
        kill_process(self.pid, signal).map_err(to("signal a server"))?;
        let began = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(began.elapsed());
            match self.heard.recv_timeout(left) {
                Ok(Ready) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => return Err(self.late("end")),
            }
        }
        if let Some(line) = &mut self.line {
            writeln!(line).map_err(to("speak to a server's keeper"))?;
        }
        Ok(())
    }

    fn late(&self, what: &'static str) -> Error {
        Error::Late {
            program: self.name,
            what,
            within: PATIENCE,
            log: tail(&self.log),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.line = None;
        let _ = self.keeper.wait();
    }
}

fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LOG_LINES);
    lines.into_iter().skip(from).collect::<Vec<_>>().join("\n")
}
