//! Postgres.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::{
    account::Account,
    error::{Error, to},
    port::Port,
    program::find_postgres,
    server::{Recipe, Server},
};

/// The only user, who may do everything.
const USER: &str = "postgres";
const CONNECTIONS_MAX: u32 = 200;

/// Whether the disk is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// As in production.
    Full,
    /// Never. What was committed outlives the server all the same, as the system's memory has it;
    /// it does not outlive the machine.
    Fast,
}

/// How the server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It cuts its connections and writes everything down, as at an operator's restart.
    Fast,
    /// It drops everything where it is, and recovers at the next start.
    Immediate,
    /// The same, by `kill -9`, and without a word to those that are connected.
    Killed,
}

/// A cluster of its own. Dropped, its server ends at once, and its folder is removed.
///
/// It has one user, `postgres`, whom it trusts, and the databases that every new cluster has.
#[derive(Debug)]
pub struct Cluster {
    durability: Durability,
    programs: PathBuf,
    account: Account,
    port: Port,
    /// Before the folder, which is still there when it ends.
    server: Option<Server>,
    folder: TempDir,
}

impl Cluster {
    /// Makes one, and is back when it accepts connections. This blocks for seconds.
    ///
    /// # Errors
    /// [`Error::Missing`] when Postgres is not installed; else what kept it from running.
    pub fn start(durability: Durability) -> Result<Self, Error> {
        let programs = find_postgres()?;
        let account = Account::unprivileged()?;
        let folder = folder("fencepost-postgres-", account)?;
        let mut cluster = Self {
            durability,
            programs,
            account,
            port: Port::reserve()?,
            server: None,
            folder,
        };
        cluster.init()?;
        cluster.start_again()?;
        Ok(cluster)
    }

    /// Where `database` is; whether there is one of that name is another matter.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        url(&self.port, database)
    }

    /// The port on 127.0.0.1, the same for the whole life.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// The folder with everything that it writes.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends the server, and is back when the last of its processes is gone. The data stays, and so
    /// does the port: nobody else gets it.
    ///
    /// # Errors
    /// [`Error::State`] when it is stopped already; [`Error::Late`] when it hangs.
    pub fn stop(&mut self, ending: Ending) -> Result<(), Error> {
        let stopped = Error::State {
            state: "is stopped already",
        };
        let signal = match ending {
            Ending::Fast => Signal::INT,
            Ending::Immediate => Signal::QUIT,
            Ending::Killed => Signal::KILL,
        };
        self.server.take().ok_or(stopped)?.stop(signal)
    }

    /// Starts the server after [`stop`](Self::stop), with the same data on the same port, and is
    /// back when it accepts connections.
    ///
    /// # Errors
    /// [`Error::State`] when it runs; else what kept it from running.
    pub fn start_again(&mut self) -> Result<(), Error> {
        if self.server.is_some() {
            return Err(Error::State { state: "runs" });
        }
        let recipe = Recipe {
            name: "postgres",
            program: self.programs.join("postgres"),
            arguments: self.settings(),
            ready: "database system is ready to accept connections",
            end_at_once: "QUIT",
            account: self.account,
            folder: self.folder(),
        };
        self.server = Some(recipe.start()?);
        Ok(())
    }

    /// [`stop`](Self::stop), and [`start_again`](Self::start_again).
    ///
    /// # Errors
    /// As for these two.
    pub fn restart(&mut self, ending: Ending) -> Result<(), Error> {
        self.stop(ending)?;
        self.start_again()
    }

    fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    fn init(&self) -> Result<(), Error> {
        let mut command = Command::new(self.programs.join("initdb"));
        command
            .args(["--username", USER, "--auth", "trust", "--no-sync"])
            .args(["--encoding", "UTF8", "--locale", "C", "--pgdata"])
            .arg(self.data())
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        self.account.runs(&mut command);
        let output = command.output().map_err(to("run initdb"))?;
        if output.status.success() {
            return Ok(());
        }
        let log = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let program = "initdb";
        Err(Error::Ended { program, log })
    }

    fn settings(&self) -> Vec<OsString> {
        let fsync = match self.durability {
            Durability::Full => "on",
            Durability::Fast => "off",
        };
        let settings = [
            "listen_addresses=127.0.0.1".to_owned(),
            // Sockets would stand in a folder that others use too.
            "unix_socket_directories=".to_owned(),
            format!("port={}", self.port.number()),
            format!("fsync={fsync}"),
            format!("max_connections={CONNECTIONS_MAX}"),
        ];
        let settings = settings
            .into_iter()
            .flat_map(|setting| ["-c".to_owned(), setting]);
        let mut arguments = vec!["-D".into(), self.data().into()];
        arguments.extend(settings.map(OsString::from));
        arguments
    }
}

/// A new one, which belongs to `account`.
pub(crate) fn folder(prefix: &str, account: Account) -> Result<TempDir, Error> {
    let folder = tempfile::Builder::new().prefix(prefix).tempdir();
    let folder = folder.map_err(to("make a temporary folder"))?;
    account.owns(folder.path())?;
    Ok(folder)
}

pub(crate) fn url(port: &Port, database: &str) -> String {
    format!("postgres://{USER}@127.0.0.1:{}/{database}", port.number())
}
