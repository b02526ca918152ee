//! Sender, edge, wire, backend: started, spoken to, killed and ended.

use std::{net::SocketAddr, process::Command, sync::Arc};

use http::Request;
use serde_json::Value;
use tokio::{sync::Barrier, task::JoinSet};

use crate::{
    Answer, Database, Delivery, Mode, Output, Process, Project, Wire,
    client::{Connection, Pieces, announce, send},
    project::ADMIN_TOKEN,
    run, wait_until,
};

/// What is different from the example deployment.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Texts of the configuration and what replaces them.
    pub config: Vec<(&'static str, &'static str)>,
    /// The backend's environment beside the usual.
    pub environment: Vec<(&'static str, String)>,
}

/// An edge to deliver to.
#[derive(Clone, Debug)]
pub struct Target(String);

impl Target {
    /// Delivers once.
    ///
    /// # Panics
    /// When there is no answer: an edge always answers.
    pub async fn deliver(&self, delivery: &Delivery) -> Answer {
        send(&self.0, delivery.request(&self.0)).await.unwrap()
    }
}

/// Everything, running.
#[derive(Debug)]
pub struct Stack {
    /// The folder.
    pub project: Project,
    /// What stands between edge and backend.
    pub wire: Wire,
    setup: Setup,
    backend: Option<Backend>,
    host: Option<Host>,
    finished: bool,
}

#[derive(Debug)]
struct Backend {
    process: Process,
    ingest: String,
    admin: String,
}

#[derive(Debug)]
struct Host {
    process: Process,
    url: String,
}

impl Stack {
    /// As the example configuration has it.
    pub async fn start() -> Self {
        Self::with(Setup::default()).await
    }

    /// With differences.
    ///
    /// # Panics
    /// When a program doesn't start.
    pub async fn with(setup: Setup) -> Self {
        let project = Project::create();
        for (from, to) in &setup.config {
            project.edit_config(from, to);
        }
        let wire = Wire::start(Mode::Hangup).await;
        let mut stack = Self {
            project,
            wire,
            setup,
            backend: None,
            host: None,
            finished: false,
        };
        stack.start_backend().await;
        stack.start_host().await;
        stack
    }

    /// Starts the backend and leads the wire to it.
    ///
    /// # Panics
    /// When it doesn't start.
    pub async fn start_backend(&mut self) {
        let mut command = self.project.fencepost();
        command.arg("serve");
        self.start_backend_as(command).await;
    }

    /// Starts the backend by another command, which gets the usual environment.
    ///
    /// # Panics
    /// When it doesn't start.
    pub async fn start_backend_as(&mut self, mut command: Command) {
        assert!(self.backend.is_none(), "the backend runs already");
        self.project.prepare(&mut command);
        command.envs(
            self.setup
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        );
        let mut process = Process::spawn("backend", &mut command, &self.project.logs());
        let line = process.line().await;
        let address = |name: &str| line[name].as_str().unwrap().to_owned();
        let (ingest, admin) = (address("ingest"), address("admin"));
        let target: SocketAddr = ingest.strip_prefix("http://").unwrap().parse().unwrap();
        self.wire.set(Mode::Forward(target)).await;
        self.backend = Some(Backend {
            process,
            ingest,
            admin,
        });
    }

    /// Starts the host with the component.
    ///
    /// # Panics
    /// When it doesn't start.
    pub async fn start_host(&mut self) {
        assert!(self.host.is_none(), "the host runs already");
        let mut command = self.project.edge(&self.wire.url());
        let mut process = Process::spawn("host", &mut command, &self.project.logs());
        let line = process.line().await;
        let url = line["listening"].as_str().unwrap().to_owned();
        self.host = Some(Host { process, url });
    }

    /// Kills the backend in the midst of what it does.
    ///
    /// # Panics
    /// When it doesn't run.
    pub async fn kill9(&mut self) {
        self.backend.take().unwrap().process.kill9();
        self.wire.set(Mode::Hangup).await;
    }

    /// Ends the backend in order.
    ///
    /// # Panics
    /// When it doesn't run, or doesn't end well.
    pub async fn stop_backend(&mut self) {
        self.wire.set(Mode::Hangup).await;
        self.backend.take().unwrap().process.stop().await;
    }

    /// Ends the host in order.
    ///
    /// # Panics
    /// When it doesn't run, or doesn't end well.
    pub async fn stop_host(&mut self) {
        self.host.take().unwrap().process.stop().await;
    }

    /// Leads the wire to the backend again.
    ///
    /// # Panics
    /// When it doesn't run.
    pub async fn connect(&self) {
        let address = self.backend().ingest.strip_prefix("http://").unwrap();
        self.wire.set(Mode::Forward(address.parse().unwrap())).await;
    }

    /// The backend's process.
    ///
    /// # Panics
    /// When it doesn't run.
    #[must_use]
    pub fn backend_process(&self) -> &Process {
        &self.backend().process
    }

    fn backend(&self) -> &Backend {
        self.backend.as_ref().expect("the backend doesn't run")
    }

    /// Where the edge listens.
    ///
    /// # Panics
    /// When it doesn't.
    #[must_use]
    pub fn edge_url(&self) -> &str {
        &self.host.as_ref().expect("the host doesn't run").url
    }

    /// The edge's address, for senders that go on while backends come and go.
    ///
    /// # Panics
    /// When the host doesn't run.
    #[must_use]
    pub fn target(&self) -> Target {
        Target(self.edge_url().to_owned())
    }

    /// Delivers once.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn deliver(&self, delivery: &Delivery) -> Answer {
        self.target().deliver(delivery).await
    }

    /// Delivers all of these at once: every connection is open before the first is used.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn deliver_at_once(&self, deliveries: Vec<Delivery>) -> Vec<Answer> {
        let start = Arc::new(Barrier::new(deliveries.len()));
        let mut under_way = JoinSet::new();
        for delivery in deliveries {
            let base = self.edge_url().to_owned();
            let start = Arc::clone(&start);
            under_way.spawn(async move {
                let connection = Connection::open(&base).await;
                start.wait().await;
                connection.send(delivery.request(&base)).await.unwrap()
            });
        }
        under_way.join_all().await
    }

    /// Posts to the backend's ingest listener, past the edge.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn ingest(&self, headers: &[(&str, String)], body: impl Into<Vec<u8>>) -> Answer {
        let mut delivery = Delivery::unsigned("/v1/reports", body);
        for (name, value) in headers {
            delivery = delivery.header(name, value);
        }
        let base = &self.backend().ingest;
        send(base, delivery.request(base)).await.unwrap()
    }

    /// Only announces a body of so many bytes to the ingest listener: who refuses that need not
    /// read it.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn announce(&self, bytes: usize) -> Answer {
        let base = &self.backend().ingest;
        announce(base, bytes).await
    }

    /// Asks the admin listener.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn admin(&self, path: &str) -> Answer {
        let base = &self.backend().admin;
        let request = Request::get(path)
            .header("host", base.strip_prefix("http://").unwrap())
            .header("authorization", format!("Bearer {ADMIN_TOKEN}"))
            .body(Pieces {
                pieces: [].into(),
                declared: Some(0),
            });
        send(base, request.unwrap()).await.unwrap()
    }

    /// A report, if there is one.
    ///
    /// # Panics
    /// When the backend doesn't say.
    pub async fn report(&self, key: &str) -> Option<Value> {
        let answer = self.admin(&format!("/v1/reports/{key}")).await;
        match answer.status {
            200 => Some(answer.json()),
            404 => None,
            _ => panic!("{answer:?}"),
        }
    }

    /// A report's attempts.
    ///
    /// # Panics
    /// When the backend doesn't say.
    pub async fn attempts(&self, key: &str) -> Vec<Value> {
        let answer = self.admin(&format!("/v1/reports/{key}/attempts")).await;
        let json = answer.json();
        json["attempts"]
            .as_array()
            .unwrap_or_else(|| panic!("{answer:?}"))
            .clone()
    }

    /// The counts.
    ///
    /// # Panics
    /// When the backend doesn't say.
    pub async fn stats(&self) -> Value {
        let answer = self.admin("/v1/stats").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// Runs `fencepost` on the command line of the same deployment.
    #[must_use]
    pub fn fencepost(&self, arguments: &[&str]) -> Output {
        run(self.project.fencepost().args(arguments))
    }

    /// The database file.
    #[must_use]
    pub fn db(&self) -> Database {
        Database::at(&self.project.database())
    }

    /// A copy that `fencepost backup` made.
    ///
    /// # Panics
    /// When it made none.
    #[must_use]
    pub fn backup(&self, name: &str) -> Database {
        let file = self.project.path(name);
        let output = self.fencepost(&["backup", file.to_str().unwrap()]);
        assert_eq!(output.code, Some(0), "{output:?}");
        Database::at(&file)
    }

    /// Waits until every report is finished: committed, or waiting for a person.
    pub async fn settle(&self) {
        let database = self.db();
        wait_until("every report is finished", async || {
            (database.unfinished().await == 0).then_some(())
        })
        .await;
    }

    /// The edge's log lines about deliveries that were refused.
    ///
    /// # Panics
    /// When one is no JSON.
    #[must_use]
    pub fn refusals(&self) -> Vec<Value> {
        let log = self.project.log("host.stderr");
        let lines = log
            .lines()
            .filter_map(|line| line.get(line.find("{\"event\":")?..));
        let events = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.filter(|event| event["event"] == "refused").collect()
    }

    /// The backend's log lines.
    ///
    /// # Panics
    /// When one is no JSON.
    #[must_use]
    pub fn backend_log(&self) -> Vec<Value> {
        let log = self.project.log("backend.stderr");
        let events = log.lines().map(|line| {
            let event = serde_json::from_str(line);
            event.unwrap_or_else(|error| panic!("the backend's log: {error}: {line}"))
        });
        events.collect()
    }

    /// Ends everything in order and refuses leftovers.
    ///
    /// # Panics
    /// When a report is unfinished, a program doesn't end well, or the database isn't sound.
    pub async fn finish(mut self) {
        self.settle().await;
        self.stop_host().await;
        self.stop_backend().await;
        self.db().assert_sound().await;
        let log = self.project.log("host.stderr");
        assert!(
            !log.contains("request_failed"),
            "the component failed a request"
        );
        let panicked = self.project.log("backend.stderr").contains("panicked");
        assert!(!panicked, "the backend panicked");
        self.finished = true;
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // Killed and gone before the folder is: then the logs are complete.
        self.backend = None;
        self.host = None;
        if self.finished {
            return;
        }
        let folder = self.project.keep();
        eprintln!("logs and database of the failed test: {}", folder.display());
        assert!(std::thread::panicking(), "a test ends with `Stack::finish`");
    }
}
