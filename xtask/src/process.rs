//! Running other programs: announced, to the end, and never longer than they may take.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// How a program with a time limit ended.
pub(crate) enum Bounded {
    Exited(ExitStatus),
    /// It was stopped, because the time was over.
    TimedOut,
}

/// Program and arguments, as one would type them. Never the environment: secrets are there.
pub(crate) fn shown(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

/// Runs `command` with its output where ours goes; not succeeding is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    let status = command
        .status()
        .with_context(|| format!("can't start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// What `command` prints, without the white space at its ends. Its stderr goes where ours goes.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("can't start `{}`", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", shown(command), output.status);
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Runs `command` for at most `limit`. What it started itself is not stopped with it.
pub(crate) fn run_bounded(command: &mut Command, limit: Duration) -> Result<Bounded> {
    let mut child = command
        .spawn()
        .with_context(|| format!("can't start `{}`", shown(command)))?;
    let pid = Pid::from_child(&child);
    let (sender, exited) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait()));
    match exited.recv_timeout(limit) {
        Ok(status) => Ok(Bounded::Exited(status?)),
        Err(_) => {
            // It may have ended by itself just now; then there is nothing to stop.
            let _ = kill_process(pid, Signal::KILL);
            exited.recv()??;
            Ok(Bounded::TimedOut)
        }
    }
}

/// Whether `command` succeeds within `limit`, without a word.
pub(crate) fn succeeds(command: &mut Command, limit: Duration) -> bool {
    let silent = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    matches!(run_bounded(silent, limit), Ok(Bounded::Exited(status)) if status.success())
}

/// Where on PATH `program` stands.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let ended = run_bounded(Command::new("sleep").arg("600"), Duration::from_millis(50));
        assert!(matches!(ended, Ok(Bounded::TimedOut)));
    }

    #[test]
    fn a_program_in_time_tells_its_status() {
        let ended = run_bounded(&mut Command::new("false"), Duration::from_secs(60));
        assert!(matches!(ended, Ok(Bounded::Exited(status)) if status.code() == Some(1)));
    }

    #[test]
    fn the_environment_is_not_shown() {
        let mut command = Command::new("sh");
        command.args(["-c", "true"]).env("SECRET", "hunter2");
        assert_eq!(shown(&command), "sh -c true");
    }
}
