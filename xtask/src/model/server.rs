//! The running server before the model, and what it counts of its calls.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde::Deserialize;

use super::set_up::{Model, node};
use crate::up::admin::{get, is_ready};
use crate::up::children::{Child, Events};
use crate::up::stage::{text, wait_until};

/// Loading the model takes a second or two on a machine that has nothing else to do.
const START_LIMIT: Duration = Duration::from_secs(120);

/// A started server.
pub(crate) struct Server {
    _child: Child,
    url: String,
}

/// One question that reached it. Of what it said nothing is kept.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Call {
    /// The call key under which it was asked.
    pub(crate) key: Option<String>,
    pub(crate) status: u16,
    /// How long it took, until the answer was there; nothing while it has none.
    pub(crate) milliseconds: Option<u64>,
}

#[derive(Deserialize)]
struct Calls {
    calls: Vec<Call>,
}

impl Server {
    /// Starts one on loopback, and waits until it can answer.
    pub(crate) fn start(
        model: &Model,
        listen: SocketAddr,
        folder: &Path,
        events: &Events,
    ) -> Result<Self> {
        let mut command = Command::new(node()?);
        command
            .arg(&model.main)
            .arg(&model.weights)
            .arg(listen.port().to_string());
        let child = Child::start("model", &mut command, folder, events)?;
        let url = text(&child.announced(START_LIMIT)?, "listening")?;
        let models = format!("{url}/v1/models");
        wait_until(events, START_LIMIT, "the model is not loaded", || {
            is_ready(&models)
        })?;
        Ok(Self { _child: child, url })
    }

    /// What goes into `base_url`.
    pub(crate) fn base_url(&self) -> String {
        format!("{}/v1", self.url)
    }

    /// Every question that reached it so far, the first one first.
    pub(crate) fn calls(&self) -> Result<Vec<Call>> {
        let Calls { calls } = get(&format!("{}/calls", self.url))?;
        Ok(calls)
    }
}
