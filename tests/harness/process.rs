//! A program that runs, with all that it writes kept in files.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread::JoinHandle,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::wait_until;

/// A running program. It is killed when this goes away.
#[derive(Debug)]
pub struct Process {
    child: Child,
    name: String,
    lines: UnboundedReceiver<String>,
    log: PathBuf,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    /// Starts it. Its stdout and stderr are appended to `NAME.stdout` and `NAME.stderr`; through a
    /// pipe, so that a bound on the size of the program's own files doesn't silence it.
    ///
    /// # Panics
    /// When it can't be started.
    #[must_use]
    pub fn spawn(name: &str, command: &mut Command, logs: &Path) -> Self {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        let append = |stream: &str| {
            let path = logs.join(format!("{name}.{stream}"));
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .unwrap()
        };
        let (heard, lines) = unbounded_channel();
        let mut file = append("stdout");
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let read_lines = move || {
            for line in stdout.lines().map_while(Result::ok) {
                writeln!(file, "{line}").unwrap();
                // Nobody has to listen.
                drop(heard.send(line));
            }
        };
        let mut file = append("stderr");
        let mut stderr = child.stderr.take().unwrap();
        let read_log = move || copy(&mut stderr, &mut file);
        Self {
            child,
            name: name.to_owned(),
            lines,
            log: logs.join(format!("{name}.stderr")),
            readers: vec![std::thread::spawn(read_lines), std::thread::spawn(read_log)],
        }
    }

    /// The next line of JSON on stdout.
    ///
    /// # Panics
    /// When the program ends instead.
    pub async fn line(&mut self) -> Value {
        let Some(line) = self.lines.recv().await else {
            let status = self.ended().await;
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            panic!(
                "{} ended with {status} instead of being ready:\n{log}",
                self.name
            );
        };
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{}: no JSON: {line}", self.name))
    }

    /// The process's id.
    ///
    /// # Panics
    /// Never: a child has an id.
    #[must_use]
    pub fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Kills it in the midst of what it does, and is back when it is gone.
    ///
    /// # Panics
    /// When it ended by itself before.
    pub fn kill9(mut self) {
        let before = self.child.try_wait().unwrap();
        assert_eq!(before, None, "{} was gone before it was killed", self.name);
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it has died of SIGKILL, which it was made to send itself.
    ///
    /// # Panics
    /// When it doesn't die, or dies of something else.
    pub async fn dies(mut self) {
        let status = self.ended().await;
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        let log = || std::fs::read_to_string(&self.log).unwrap_or_default();
        let killed = Some(Signal::KILL.as_raw());
        assert_eq!(signal, killed, "{}: {status}\n{}", self.name, log());
    }

    /// Stops it where it is, as a virtual machine that is suspended; back when it stands still.
    ///
    /// # Panics
    /// When it is gone.
    pub async fn pause(&self) {
        kill_process(self.id(), Signal::STOP).unwrap();
        wait_until("the process stands still", async || {
            let file = format!("/proc/{}/stat", self.id().as_raw_nonzero());
            let stat = std::fs::read_to_string(file).unwrap();
            // The state follows on the name, which is in parentheses and may hold any.
            let (_, state) = stat.rsplit_once(')').unwrap();
            state.starts_with(" T").then_some(())
        })
        .await;
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// When it is gone.
    pub fn resume(&self) {
        kill_process(self.id(), Signal::CONT).unwrap();
    }

    /// Asks it to end, as an operator's system does, and waits for it.
    ///
    /// # Panics
    /// When it doesn't end well.
    pub async fn stop(mut self) {
        kill_process(self.id(), Signal::TERM).unwrap();
        self.resume();
        let status = self.ended().await;
        assert!(status.success(), "{} ended with {status}", self.name);
    }

    async fn ended(&mut self) -> ExitStatus {
        let what = format!("{} has ended", self.name);
        wait_until(&what, async || self.child.try_wait().unwrap()).await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails where it is gone already.
        drop(self.child.kill());
        drop(self.child.wait());
        for reader in self.readers.drain(..) {
            drop(reader.join());
        }
    }
}

fn copy(from: &mut impl std::io::Read, to: &mut File) {
    let mut buffer = [0; 8192];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        to.write_all(&buffer[..read]).unwrap();
    }
}

/// What a program that ran to its end has said.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its exit code.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

impl Output {
    /// The one JSON document that it printed.
    ///
    /// # Panics
    /// When it isn't one.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs a program to its end.
///
/// # Panics
/// When it can't be started, or prints what is not UTF-8.
#[must_use]
pub fn run(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap();
    Output {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
