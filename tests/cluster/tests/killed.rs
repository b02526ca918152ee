//! A process that is killed takes its servers with it.
//!
//! This program runs itself, holds servers there, and kills that. Hence the `main` of its own.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking; the process to be killed prints what it holds"
)]

mod processes;

use std::{
    env, io,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use fencepost_cluster::{Cluster, Durability, PgBouncer, PoolMode};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{PidfdFlags, pidfd_open},
};

use processes::processes_of;

const HOLD: &str = "hold-servers";
/// Who reaches it waits in vain.
const PATIENCE: Timespec = Timespec {
    tv_sec: 60,
    tv_nsec: 0,
};

fn main() {
    if env::args().nth(1).as_deref() == Some(HOLD) {
        hold();
    } else {
        a_killed_process_leaves_nothing();
        println!("a killed process leaves neither servers nor folders: ok");
    }
}

/// Until it is killed.
fn hold() {
    let cluster = Cluster::start(Durability::Fast).unwrap();
    let pgbouncer = PgBouncer::start(&cluster, PoolMode::Transaction).unwrap();
    println!("{}", cluster.folder().display());
    println!("{}", pgbouncer.folder().display());
    io::stdout().flush().unwrap();
    io::copy(&mut io::stdin(), &mut io::sink()).unwrap();
}

fn a_killed_process_leaves_nothing() {
    let mut holder = Command::new(env::current_exe().unwrap())
        .arg(HOLD)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let folders: Vec<PathBuf> = lines.take(2).map(|line| line.unwrap().into()).collect();
    assert_eq!(folders.len(), 2, "two servers");
    let mut running = Vec::new();
    for folder in &folders {
        let found = processes_of(folder);
        // A server and its keeper.
        assert!(found.len() >= 2, "{found:?}");
        running.extend(
            found
                .iter()
                .map(|pid| pidfd_open(*pid, PidfdFlags::empty()).unwrap()),
        );
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    for process in &running {
        let mut ended = [PollFd::new(process, PollFlags::IN)];
        assert_eq!(poll(&mut ended, Some(&PATIENCE)), Ok(1), "it still runs");
    }
    for folder in &folders {
        assert!(processes_of(folder).is_empty());
        assert!(!Path::exists(folder), "{}", folder.display());
    }
}
