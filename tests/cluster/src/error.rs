//! Why there is no server.

use std::{io, time::Duration};

use thiserror::Error as ThisError;

/// Why a server was not started, or not stopped.
#[derive(Debug, ThisError)]
pub enum Error {
    /// It is not installed.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// What the system refused.
    #[error("can't {what}: {source}")]
    System {
        /// What was to be done.
        what: &'static str,
        /// What kept it from being done.
        source: io::Error,
    },
    /// It ended by itself.
    #[error("{program} ended instead of being ready; the end of its log:\n{log}")]
    Ended {
        /// Which one.
        program: &'static str,
        /// Its last words.
        log: String,
    },
    /// It hangs.
    #[error("{program} did not {what} in {} s; the end of its log:\n{log}", within.as_secs())]
    Late {
        /// Which one.
        program: &'static str,
        /// What it was to do.
        what: &'static str,
        /// How long that was waited for.
        within: Duration,
        /// Its last words.
        log: String,
    },
    /// Something that runs was to be started, or something that doesn't was to be stopped.
    #[error("the cluster {state}")]
    State {
        /// What it does.
        state: &'static str,
    },
}

/// A program that is neither on PATH nor where Debian has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
#[error("{programs} not found on PATH or in {folder} (Debian's package {package} has it)")]
pub struct Missing {
    /// What was looked for.
    pub programs: &'static str,
    /// Where it was looked for, besides.
    pub folder: &'static str,
    /// Which package has it.
    pub package: &'static str,
}

/// What the system refused to do, in an [`Error`].
pub(crate) fn to<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::System {
        what,
        source: source.into(),
    }
}
