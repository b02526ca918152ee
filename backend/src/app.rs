//! The one place that sees all: puts store, worker and listeners together, and ends them in order.

mod extractors;
mod fit;
mod pipelines;
mod process;
mod sources;

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use axum::{
    Router,
    serve::{Listener as _, ListenerExt as _},
};
use tokio::{
    net::TcpListener,
    sync::Notify,
    task::{JoinHandle, JoinSet},
};

pub use self::{
    extractors::Unusable,
    fit::misfits,
    pipelines::{pipeline, unbound},
    sources::Unfetchable,
};
use self::{pipelines::pipelines, process::worker_id};
use crate::{
    clock::UnixMillis,
    config::{Config, Project, Role},
    http::{
        AdminApi, Arrival, Health, IngestApi, IngestLimits, IngestParts, Judged, Versions,
        admin_router, ingest_router,
    },
    retry::Backoff,
    store::{Keeping, PipelineVersions, Store, StoreError, VersionConflict},
    worker::{self, Expiry, Pace, Stop, StopSignal, Worker, WorkerParts},
};

/// How late an idle worker may learn of what another process stored.
const POLL: Duration = Duration::from_secs(1);
/// Waits after failures: from one second on, up to five minutes.
const BACKOFF: Backoff = Backoff {
    first: Duration::from_secs(1),
    longest: Duration::from_secs(5 * 60),
};
/// How long it may take after the calls' time to give back what was claimed.
const HALT: Duration = Duration::from_secs(2);

/// How long it may take to leave the database in one file.
const CLOSE: Duration = Duration::from_secs(1);

/// Why a process does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database does not do it.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// An extractor can't be used.
    #[error("extractor `{name}`: {error}")]
    Extractor {
        /// Its name.
        name: String,
        /// Why.
        error: Unusable,
    },
    /// The content of a source can't be fetched.
    #[error("source `{name}`: {error}")]
    Source {
        /// Its name.
        name: String,
        /// Why.
        error: Unfetchable,
    },
    /// An address can't be listened on.
    #[error("{address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
}

/// Bound listeners: a connection that is made from now on waits for the application to start.
#[derive(Debug)]
pub struct Listeners {
    ingest: Option<TcpListener>,
    admin: TcpListener,
}

/// Where a process listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Absent for a mere worker.
    pub ingest: Option<SocketAddr>,
    /// The admin listener.
    pub admin: SocketAddr,
}

impl Listeners {
    /// Binds what the configuration names.
    ///
    /// # Errors
    /// [`StartError::Listen`]
    pub async fn bind(config: &Config) -> Result<Self, StartError> {
        let ingest = match &config.ingest {
            Some(ingest) => Some(bind(ingest.listen).await?),
            None => None,
        };
        Ok(Self {
            ingest,
            admin: bind(config.admin.listen).await?,
        })
    }

    /// Where they listen; with port 0 in the configuration, what the system chose.
    ///
    /// # Errors
    /// The system does not say.
    pub fn addresses(&self) -> std::io::Result<Addresses> {
        let ingest = self
            .ingest
            .as_ref()
            .map(TcpListener::local_addr)
            .transpose()?;
        Ok(Addresses {
            ingest,
            admin: self.admin.local_addr()?,
        })
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address)
        .await
        .map_err(|error| StartError::Listen { address, error })
}

/// A running process.
pub struct App {
    store: Arc<dyn Store>,
    health: Arc<Health>,
    stop: Stop,
    servers: JoinSet<std::io::Result<()>>,
    worker: Option<JoinHandle<()>>,
    /// How long calls may go on once the end was asked for.
    drain: Duration,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("health", &self.health)
            .finish_non_exhaustive()
    }
}

impl App {
    /// Binds the versions of pipelines, begins to work and to answer.
    ///
    /// # Errors
    /// [`StartError`]; nothing runs then.
    pub async fn start(
        config: Config,
        store: Arc<dyn Store>,
        listeners: Listeners,
    ) -> Result<Self, StartError> {
        let (stop, signal) = worker::stop();
        let wake = Arc::new(Notify::new());
        let sources = config.project.sources.iter();
        let sources = sources.map(|source| (source.name.clone(), Arrival::from(source)));
        let sources = sources.collect();
        let limits = IngestLimits::for_bodies(config.project.body_bytes_max());
        let how = config.project.worker;
        let keepings = keepings(&config.project);
        let file = config.project.file.clone();
        let judged = config.project.pipelines.iter().map(Judged::from).collect();
        let (pipelines, bound) = match config.role {
            Role::All | Role::Worker => {
                let pipelines = pipelines(config.project, &config.keys, &wake)?;
                let bindings = worker::bind(&*store, pipelines).await?;
                tell(&bindings.conflicts, &file);
                (bindings.claimable, Versions::Bound(bindings.conflicts))
            }
            Role::Api => (
                Vec::new(),
                Versions::BoundByOthers(stand_for(&config.project)?),
            ),
        };
        let health = Arc::new(Health::new(Arc::clone(&store), bound, &file, config.role));
        let mut servers = JoinSet::new();
        if let (Some(listener), Some(ingest)) = (listeners.ingest, config.ingest) {
            let api = IngestApi::new(IngestParts {
                store: Arc::clone(&store),
                secrets: ingest.secrets,
                sources,
                clock: UnixMillis::of_this_machine,
                wake: Arc::clone(&wake),
                limits,
            });
            let router = ingest_router(api, Arc::clone(&health));
            servers.spawn(serve(listener, router, signal.clone()));
        }
        let api = AdminApi::new(Arc::clone(&store), judged);
        let router = admin_router(api, config.admin.token, Arc::clone(&health));
        servers.spawn(serve(listeners.admin, router, signal.clone()));
        let pace = Pace {
            concurrency: how.concurrency,
            poll: POLL,
        };
        let parts = WorkerParts {
            id: worker_id(),
            store: Arc::clone(&store),
            pipelines,
            backoff: BACKOFF,
            timer: Arc::new(worker::TokioTimer),
            wake,
            stop: signal,
        };
        let worker = match config.role {
            Role::Api => None,
            Role::All | Role::Worker => Some(work(parts, pace, keepings)),
        };
        Ok(Self {
            store,
            health,
            stop,
            servers,
            worker,
            drain: how.drain,
        })
    }

    /// Ends in order: takes nothing new, lets what is under way end, then gives the rest back and
    /// closes the database. What does not end in time is left to the next start: nothing is lost,
    /// since a lease runs out and the database reads its log.
    pub async fn stop(mut self) {
        self.end().await;
        let closed = tokio::time::timeout(CLOSE, self.store.close());
        if closed.await.is_err() {
            tracing::warn!("The database could not be closed in time: part of it is in its log");
        }
    }

    async fn end(&mut self) {
        self.health.drain();
        self.stop.drain();
        if tokio::time::timeout(self.drain, self.ended()).await.is_ok() {
            return;
        }
        tracing::warn!(
            "Calls are still under way after {} s: giving them up",
            self.drain.as_secs()
        );
        self.stop.halt();
        if tokio::time::timeout(HALT, self.ended()).await.is_err() {
            tracing::warn!("Not everything could be given back in time");
        }
    }

    async fn ended(&mut self) {
        if let Some(worker) = &mut self.worker
            && let Err(error) = worker.await
        {
            tracing::error!(%error, "A defect: the worker ended early");
        }
        self.worker = None;
        while let Some(server) = self.servers.join_next().await {
            match server {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::error!(%error, "A listener failed"),
                Err(error) => tracing::error!(%error, "A defect: a listener ended early"),
            }
        }
    }
}

/// Says in the log which versions stand for something else now, and what to write in which file.
fn tell(conflicts: &[VersionConflict], file: &Path) {
    for conflict in conflicts {
        tracing::error!("{}: {conflict}", file.display());
    }
}

/// Begins to work on reports, and to empty answers that were kept long enough.
fn work(parts: WorkerParts, pace: Pace, keepings: Vec<Keeping>) -> JoinHandle<()> {
    let expiry = Expiry {
        store: Arc::clone(&parts.store),
        keepings,
        timer: Arc::clone(&parts.timer),
        stop: parts.stop.clone(),
    };
    let work = worker::run(Arc::new(Worker::new(parts)), pace);
    tokio::spawn(async move {
        tokio::join!(work, expiry.run());
    })
}

async fn serve(listener: TcpListener, router: Router, signal: StopSignal) -> std::io::Result<()> {
    // Small answers must not wait for the other side's acknowledgement.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "Could not set TCP_NODELAY");
        }
    });
    tracing::debug!(address = ?listener.local_addr().ok(), "Listening");
    let stopping = async move { signal.stopping().await };
    axum::serve(listener, router)
        .with_graceful_shutdown(stopping)
        .await
}

/// What the versions of a configuration's pipelines stand for; nothing of it is bound by this, and
/// no key is needed for it.
///
/// # Errors
/// [`StartError::Extractor`]
pub fn stand_for(project: &Project) -> Result<Vec<PipelineVersions>, StartError> {
    let mut versions = Vec::new();
    for pipeline in &project.pipelines {
        let name = &pipeline.extractor;
        // Every pipeline's extractor is in the file, or the configuration would not have been read.
        let Some(config) = project.extractors.get(name) else {
            continue;
        };
        let fingerprint = extractors::fingerprint(config).map_err(|error| unusable(name, error))?;
        versions.push(pipeline.versions(&fingerprint));
    }
    Ok(versions)
}

/// How long answers are kept, of each pipeline that says so.
fn keepings(project: &Project) -> Vec<Keeping> {
    let pipelines = project.pipelines.iter();
    let keepings = pipelines.filter_map(|pipeline| {
        Some(Keeping {
            pipeline: pipeline.name.clone(),
            kept_for: pipeline.raw_answers.kept_for()?,
        })
    });
    keepings.collect()
}

fn unusable(name: &str, error: Unusable) -> StartError {
    StartError::Extractor {
        name: name.to_owned(),
        error,
    }
}
