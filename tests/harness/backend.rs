//! A backend's process, and where it listens.

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::Process;

/// A backend that runs. It is killed when this goes away.
#[derive(Debug)]
pub struct Backend {
    process: Process,
    /// Absent for a mere worker.
    ingest: Option<String>,
    admin: String,
}

impl Backend {
    /// Starts it and waits until it says where it listens.
    pub(crate) async fn start(name: &str, command: &mut Command, logs: &Path) -> Self {
        let mut process = Process::spawn(name, command, logs);
        let line = process.line().await;
        Self::at(process, &line)
    }

    fn at(process: Process, line: &Value) -> Self {
        let address = |name: &str| line[name].as_str().map(str::to_owned);
        Self {
            process,
            ingest: address("ingest"),
            admin: address("admin").unwrap(),
        }
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Where it takes reports in.
    ///
    /// # Panics
    /// When it is a mere worker.
    #[must_use]
    pub fn ingest_url(&self) -> &str {
        self.ingest
            .as_ref()
            .expect("a mere worker takes nothing in")
    }

    /// Where it answers questions.
    #[must_use]
    pub fn admin_url(&self) -> &str {
        &self.admin
    }

    pub(crate) fn into_process(self) -> Process {
        self.process
    }
}
