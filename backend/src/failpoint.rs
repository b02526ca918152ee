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
    ($tx:expr, $what:literal) => {
        #[cfg(feature = "failpoints")]
        $tx.written.note($crate::failpoint::around!($what));
    };
    ($tx:expr, if $so:expr => $what:literal, else $other:literal) => {
        #[cfg(feature = "failpoints")]
        if $so {
            $crate::failpoint::durable!($tx, $what);
        } else {
            $crate::failpoint::durable!($tx, $other);
        }
    };
}
pub(crate) use durable;

/// The points before and after something.
#[cfg(feature = "failpoints")]
macro_rules! around {
    ($what:literal) => {
        [concat!($what, ".before"), concat!($what, ".after")]
    };
}
#[cfg(feature = "failpoints")]
pub(crate) use around;

/// What was written in a transaction; nothing is known of it in what ships.
#[derive(Debug, Default)]
pub(crate) struct Written {
    #[cfg(feature = "failpoints")]
    around: Vec<[&'static str; 2]>,
}

#[cfg(not(feature = "failpoints"))]
impl Written {
    pub(crate) fn add(&mut self, _: Self) {}
    pub(crate) fn before_commit(&self) {}
    pub(crate) fn after_commit(&self) {}
}

#[cfg(feature = "failpoints")]
impl Written {
    pub(crate) fn note(&mut self, around: [&'static str; 2]) {
        self.around.push(around);
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.around.extend(other.around);
    }

    pub(crate) fn before_commit(&self) {
        self.around.iter().for_each(|[before, _]| pass(before));
    }

    pub(crate) fn after_commit(&self) {
        self.around.iter().for_each(|[_, after]| pass(after));
    }
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::{
        process::ExitCode,
        sync::atomic::{AtomicU64, Ordering},
    };

    use rustix::process::{Signal, getpid, kill_process};

    /// Every point there is.
    const POINTS: [[&str; 2]; 18] = [
        around!("ingest"),
        around!("claim"),
        around!("takeover"),
        around!("fetch"),
        around!("input"),
        around!("call"),
        around!("heartbeat"),
        around!("raw"),
        around!("judged"),
        around!("commit"),
        around!("reject"),
        around!("release"),
        around!("review"),
        around!("decision"),
        around!("replay"),
        around!("erase"),
        around!("migrate.step"),
        around!("migrate"),
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

    fn points() -> impl Iterator<Item = &'static str> {
        POINTS.into_iter().flatten()
    }

    fn understood(order: &str) -> Option<(&'static str, u64)> {
        let (point, time) = order.split_once(':')?;
        let time = time.parse().ok().filter(|time| *time > 0)?;
        Some((points().find(|known| *known == point)?, time))
    }

    #[expect(clippy::print_stderr, reason = "as `arm`")]
    fn kill_at(point: &str, time: u64) -> Armed {
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
