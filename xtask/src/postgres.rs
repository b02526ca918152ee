//! A throw-away Postgres and a PgBouncer before it, for tests and for those who run single ones.

use std::path::{Path, PathBuf};
use std::sync::mpsc;

use anyhow::Result;
use fencepost_cluster::{
    Cluster, Durability, Missing, PgBouncer, PoolMode, find_pgbouncer, find_postgres,
};

use crate::install::{self, Consent};

/// Running servers. They are gone when this is.
pub(crate) struct Servers {
    /// Before the cluster, whose connections it holds.
    pgbouncer: PgBouncer,
    cluster: Cluster,
}

/// Installs Postgres where it is missing.
pub(crate) fn install(consent: Consent) -> Result<()> {
    install_missing([find_postgres().err()], consent)
}

/// By what was found, as the programs can be there without Debian's packages.
fn install_missing<const N: usize>(missing: [Option<Missing>; N], consent: Consent) -> Result<()> {
    let packages: Vec<&str> = missing
        .iter()
        .flatten()
        .map(|missing| missing.package)
        .collect();
    if !packages.is_empty() {
        install::packages(&packages, "run the tests of the store", consent)?;
    }
    Ok(())
}

impl Servers {
    /// Installs what is missing, and starts them.
    pub(crate) fn start(consent: Consent) -> Result<Self> {
        install_missing([find_postgres().err(), find_pgbouncer().err()], consent)?;
        let cluster = Cluster::start(Durability::Fast)?;
        Ok(Self {
            pgbouncer: PgBouncer::start(&cluster, PoolMode::Transaction)?,
            cluster,
        })
    }

    /// Where the tests find them.
    pub(crate) fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("FENCEPOST_POSTGRES", self.cluster.url("postgres")),
            ("FENCEPOST_PGBOUNCER", self.pgbouncer.url("postgres")),
        ]
    }
}

/// The library with which a test gives a worker a wrong clock; installed where it is missing.
pub(crate) fn wrong_clock(consent: Consent) -> Result<PathBuf> {
    let library = Path::new("/usr/lib")
        .join(format!("{}-linux-gnu", std::env::consts::ARCH))
        .join("faketime/libfaketime.so.1");
    if !library.is_file() {
        install::packages(&["libfaketime"], "give a worker a wrong clock", consent)?;
    }
    Ok(library)
}

/// Starts the servers, says where they are, and stays until Ctrl-C.
pub(crate) fn stay(consent: Consent) -> Result<()> {
    // Before anything runs: whoever interrupts the start means the servers too.
    let (sender, interrupted) = mpsc::channel();
    ctrlc::set_handler(move || {
        // Nobody listens any more when this process is about to end.
        let _ = sender.send(());
    })?;
    let servers = Servers::start(consent)?;
    println!("# A Postgres and a PgBouncer for tests. They are there until Ctrl-C; nothing stays.");
    for (name, url) in servers.variables() {
        println!("export {name}={url}");
    }
    interrupted.recv()?;
    Ok(())
}
