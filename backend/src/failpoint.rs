//! Points where a build for tests can be made to die: before and after what reaches the disk, and
//! around what does not. Without the feature `failpoints` there is nothing of it in the program.
//!
//! Whoever writes something that has to last says so in its transaction, `durable!(tx, "…")`. The
//! transaction passes `….before` when all of it is written and nothing committed, `….after` when it
//! is committed and nobody answered; several points, where several things were written. What is
//! not done in a transaction of the store passes its points itself, `point!("….before")`.

/// Passes a point.
macro_rules! point {
    ($name:expr) => {
        #[cfg(feature = "failpoints")]
        $crate::failpoint::pass($name);
    };
}
pub(crate) use point;

/// Notes what a transaction writes.
macro_rules! durable {
    ($tx:expr, $what:expr) => {
        #[cfg(feature = "failpoints")]
        $tx.written.note($what);
    };
}
pub(crate) use durable;

/// What was written in a transaction; nothing is known of it in what ships.
#[derive(Debug, Default)]
pub(crate) struct Written {
    #[cfg(feature = "failpoints")]
    what: Vec<&'static str>,
}

#[cfg(not(feature = "failpoints"))]
impl Written {
    pub(crate) fn add(&mut self, _: Self) {}
    pub(crate) fn before_commit(&self) {}
    pub(crate) fn after_commit(&self) {}
}

#[cfg(feature = "failpoints")]
impl Written {
    pub(crate) fn note(&mut self, what: &'static str) {
        self.what.push(what);
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.what.extend(other.what);
    }

    pub(crate) fn before_commit(&self) {
        self.pass("before");
    }

    pub(crate) fn after_commit(&self) {
        self.pass("after");
    }

    fn pass(&self, bound: &str) {
        for what in &self.what {
            pass(&format!("{what}.{bound}"));
        }
    }
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::{
        process::ExitCode,
        sync::atomic::{AtomicU64, Ordering},
    };

    use rustix::process::{Signal, getpid, kill_process};

    /// What has a point before it and one after it.
    const WHAT: [&str; 13] = [
        "ingest",
        "claim",
        "takeover",
        "call",
        "heartbeat",
        "raw",
        "judged",
        "commit",
        "reject",
        "release",
        "review",
        "migrate.step",
        "migrate",
    ];

    /// Where to die: `POINT:N` is the N-th time that this process passes the point. `list` lists
    /// the points.
    const VARIABLE: &str = "FENCEPOST_KILL_AT";

    /// What a program does that was told where to die.
    #[derive(Debug)]
    pub enum Armed {
        /// Its work, until it passes the point.
        Runs,
        /// Nothing more.
        Ends(ExitCode),
    }

    /// Does what the environment says.
    #[expect(
        clippy::print_stderr,
        clippy::print_stdout,
        reason = "speaks to a test before anything else of the program runs"
    )]
    pub fn arm() -> Armed {
        let Ok(order) = std::env::var(VARIABLE) else {
            return Armed::Runs;
        };
        if order == "list" {
            points().for_each(|point| println!("{point}"));
            return Armed::Ends(ExitCode::SUCCESS);
        }
        match understood(&order) {
            Some((point, time)) => kill_at(point, time),
            None => {
                eprintln!("{VARIABLE}: `{order}` is neither `list` nor a point and a number");
                Armed::Ends(ExitCode::from(2))
            }
        }
    }

    fn points() -> impl Iterator<Item = String> {
        let around = |what| ["before", "after"].map(|bound| format!("{what}.{bound}"));
        WHAT.into_iter().flat_map(around)
    }

    fn understood(order: &str) -> Option<(String, u64)> {
        let (point, time) = order.split_once(':')?;
        let time = time.parse().ok().filter(|time| *time > 0)?;
        Some((points().find(|known| known == point)?, time))
    }

    #[expect(clippy::print_stderr, reason = "as `arm`")]
    fn kill_at(point: String, time: u64) -> Armed {
        let passed = AtomicU64::new(0);
        let callback = move || {
            if passed.fetch_add(1, Ordering::Relaxed) + 1 == time {
                // A process may kill itself, always; this thread goes no further.
                kill_process(getpid(), Signal::KILL).ok();
            }
        };
        match fail::cfg_callback(point, callback) {
            Ok(()) => Armed::Runs,
            Err(error) => {
                eprintln!("{VARIABLE}: {error}");
                Armed::Ends(ExitCode::from(2))
            }
        }
    }

    /// Passes a point.
    pub(crate) fn pass(point: &str) {
        // A point that is in no list would be armed by no test.
        debug_assert!(
            points().any(|known| known == point),
            "no such point: {point}"
        );
        fail::fail_point!(point);
    }
}

#[cfg(feature = "failpoints")]
pub(crate) use armed::pass;
#[cfg(feature = "failpoints")]
pub use armed::{Armed, arm};
