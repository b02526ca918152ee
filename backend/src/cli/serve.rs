//! `serve`: the process that takes reports in and works on them.

use clap::Args;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

use super::{CliError, Verdict, output};
use crate::{
    app::{App, Listeners, StartError},
    config::{Config, Role, process_environment},
    store::open,
};

/// `serve`
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Which part of the work this process does.
    #[arg(long, value_enum, default_value_t = Role::All)]
    role: Role,
}

/// The line on stdout that says where to connect to.
#[derive(Serialize)]
struct Ready {
    #[serde(skip_serializing_if = "Option::is_none")]
    ingest: Option<String>,
    admin: String,
}

impl Serve {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let config = Config::from_lookup(&process_environment, self.role)?;
        let failed = |error: std::io::Error| CliError::Failed(error.to_string());
        // Before anything is started: what comes from now on is waited for, not died of.
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let store = open(config.database.expose()).await?;
        let listeners = Listeners::bind(&config).await?;
        let addresses = listeners.addresses().map_err(failed)?;
        let app = App::start(config, store, listeners).await?;
        tracing::info!(
            role = ?self.role, admin.address = %addresses.admin,
            "fencepost {} is up", env!("CARGO_PKG_VERSION")
        );
        output::json(&Ready {
            ingest: addresses.ingest.map(|address| format!("http://{address}")),
            admin: format!("http://{}", addresses.admin),
        });
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("Ending: nothing new is begun");
        tokio::select! {
            () = app.stop() => {}
            // Asked twice: at once. What was claimed is taken over when its lease has run out.
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(Verdict::Done)
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Store(error) => Self::Store(error),
            StartError::Source { .. } | StartError::Extractor { .. } => {
                Self::Usage(error.to_string())
            }
            StartError::Listen { .. } => Self::Failed(error.to_string()),
        }
    }
}
