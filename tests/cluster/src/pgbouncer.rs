//! PgBouncer.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::{
    account::Account,
    cluster::{Cluster, folder, url},
    error::{Error, to},
    port::Port,
    program::find_pgbouncer,
    server::{Recipe, Server},
};

/// How long a client keeps a connection to Postgres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolMode {
    /// As long as it stays.
    Session,
    /// For one transaction.
    Transaction,
}

/// A PgBouncer before a cluster, which it doesn't keep alive. Dropped, it ends at once.
#[derive(Debug)]
pub struct PgBouncer {
    port: Port,
    /// Before the folder, which is still there when it ends.
    _server: Server,
    folder: TempDir,
}

impl PgBouncer {
    /// Starts one before all databases of `cluster`, also those that are made later, and is back
    /// when it accepts connections.
    ///
    /// # Errors
    /// [`Error::Missing`] when PgBouncer is not installed; else what kept it from running.
    pub fn start(cluster: &Cluster, mode: PoolMode) -> Result<Self, Error> {
        let program = find_pgbouncer()?;
        let account = Account::unprivileged()?;
        let folder = folder("fencepost-pgbouncer-", account)?;
        let port = Port::reserve()?;
        let users = folder.path().join("users");
        let settings = folder.path().join("settings.ini");
        let text = configuration(
            cluster.port(),
            port.number(),
            mode,
            &users.to_string_lossy(),
        );
        fs::write(&users, "\"postgres\" \"\"\n").map_err(to("write a list of users"))?;
        fs::write(&settings, text).map_err(to("write a configuration"))?;
        account.owns(&users)?;
        account.owns(&settings)?;
        let recipe = Recipe {
            name: "pgbouncer",
            program,
            arguments: vec![settings.into()],
            ready: "process up",
            end_at_once: "KILL",
            account,
            folder: folder.path(),
        };
        Ok(Self {
            port,
            _server: recipe.start()?,
            folder,
        })
    }

    /// Where `database` is, by way of this.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        url(&self.port, database)
    }

    /// The folder with everything that it writes.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn configuration(postgres: u16, port: u16, mode: PoolMode, users: &str) -> String {
    let mode = match mode {
        PoolMode::Session => "session",
        PoolMode::Transaction => "transaction",
    };
    // The connection that was longest idle is lent first, so that a client seldom gets the same one
    // twice; and it is soon given back, as each test has a database of its own, and so a pool.
    format!(
        "[databases]\n\
         * = host=127.0.0.1 port={postgres}\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\n\
         listen_port = {port}\n\
         unix_socket_dir =\n\
         auth_type = trust\n\
         auth_file = {users}\n\
         pool_mode = {mode}\n\
         max_client_conn = 1000\n\
         default_pool_size = 10\n\
         server_round_robin = 1\n\
         server_idle_timeout = 5\n"
    )
}
