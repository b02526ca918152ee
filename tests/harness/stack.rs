//! Sender, edge, wire, backends: started, killed and ended. How they are spoken to stands in
//! `stack/speak.rs`.

mod speak;

use std::{net::SocketAddr, process::Command, sync::Arc};

use fencepost_history::{Finished, History, ModelCall, Recorded, Recorder, Terms, Verdict, check};

use crate::{
    Backend, Database, Entrance, Launch, Mode, Output, Process, Project, Setup, Wire, run,
    setup::Role, wait_until,
};

pub use speak::{Cut, Target};

/// What clients write down, in the project's folder.
const ACKNOWLEDGED: &str = "acknowledged.jsonl";
/// The first backend's name, in logs.
const BACKEND: &str = "backend";

/// Everything, running.
#[derive(Debug)]
pub struct Stack {
    /// The folder.
    pub project: Project,
    /// What stands between edge and backend.
    pub wire: Wire,
    setup: Setup,
    backend: Option<Backend>,
    workers: Vec<Option<Backend>>,
    host: Option<Host>,
    acknowledged: Arc<Recorder>,
    finished: bool,
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
        let mut stack = Self::prepared(setup).await;
        stack.start_backend().await;
        stack
    }

    /// All of it but the backend.
    ///
    /// # Panics
    /// When a program doesn't start.
    pub async fn prepared(setup: Setup) -> Self {
        let project = Project::on(setup.database, setup.server.as_deref()).await;
        setup.configure(&project);
        let wire = Wire::start(Mode::Hangup).await;
        let acknowledged = Recorder::open(&project.path(ACKNOWLEDGED)).unwrap();
        let mut stack = Self {
            project,
            wire,
            setup,
            backend: None,
            workers: Vec::new(),
            host: None,
            acknowledged: Arc::new(acknowledged),
            finished: false,
        };
        if stack.setup.entrance == Entrance::Edge {
            stack.start_host().await;
        }
        stack
    }

    /// Starts the backend and leads the wire to it.
    ///
    /// # Panics
    /// When it doesn't start.
    pub async fn start_backend(&mut self) {
        self.start_backend_with(&Launch::default()).await;
    }

    /// Starts the backend, with differences.
    ///
    /// # Panics
    /// When it doesn't start.
    pub async fn start_backend_with(&mut self, launch: &Launch) {
        let command = launch.serve(self.setup.role);
        self.launch_backend(command, launch).await;
    }

    /// Starts the backend by another command, which gets the usual environment.
    ///
    /// # Panics
    /// When it doesn't start.
    pub async fn start_backend_as(&mut self, command: Command) {
        self.launch_backend(command, &Launch::default()).await;
    }

    async fn launch_backend(&mut self, mut command: Command, launch: &Launch) {
        assert!(self.backend.is_none(), "the backend runs already");
        launch.prepare(&mut command, &self.project, &self.setup);
        let logs = self.project.logs();
        self.backend = Some(Backend::start(BACKEND, &mut command, &logs).await);
        self.connect().await;
    }

    /// Gives a command the environment that a backend of this stack has.
    pub fn prepare_command(&self, command: &mut Command, launch: &Launch) {
        launch.prepare(command, &self.project, &self.setup);
    }

    /// Starts one more process that only works, on the same database; its number. It logs to
    /// `worker-NUMBER.stderr`.
    ///
    /// # Panics
    /// When it doesn't start.
    pub async fn start_worker(&mut self) -> usize {
        self.start_worker_with(&Launch::default()).await
    }

    /// The same, with differences.
    ///
    /// # Panics
    /// When it doesn't start.
    pub async fn start_worker_with(&mut self, launch: &Launch) -> usize {
        let number = self.workers.len();
        let mut command = launch.serve(Role::Worker);
        launch.prepare(&mut command, &self.project, &self.setup);
        let name = format!("worker-{number}");
        let worker = Backend::start(&name, &mut command, &self.project.logs()).await;
        self.workers.push(Some(worker));
        number
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
        self.backend.take().unwrap().into_process().kill9();
        self.wire.set(Mode::Hangup).await;
    }

    /// Waits until the backend has killed itself, as it was started to.
    ///
    /// # Panics
    /// When it doesn't.
    pub async fn backend_dies(&mut self) {
        self.backend.take().unwrap().into_process().dies().await;
        self.wire.set(Mode::Hangup).await;
    }

    /// Ends the backend in order.
    ///
    /// # Panics
    /// When it doesn't run, or doesn't end well.
    pub async fn stop_backend(&mut self) {
        self.wire.set(Mode::Hangup).await;
        self.backend.take().unwrap().into_process().stop().await;
    }

    /// Suspends a worker while it writes nothing: it goes on until then.
    ///
    /// # Panics
    /// When it is gone.
    pub async fn pause_worker(&self, number: usize) {
        let (worker, database) = (self.worker(number).process(), self.db());
        wait_until("a worker stands still that holds nothing", async || {
            worker.pause().await;
            if database.is_free().await {
                return Some(());
            }
            worker.resume();
            None
        })
        .await;
    }

    /// Kills a worker in the midst of what it does.
    ///
    /// # Panics
    /// When it doesn't run.
    pub fn kill9_worker(&mut self, number: usize) {
        self.workers[number].take().unwrap().into_process().kill9();
    }

    /// Waits until a worker has killed itself, as it was started to.
    ///
    /// # Panics
    /// When it doesn't.
    pub async fn worker_dies(&mut self, number: usize) {
        let worker = self.workers[number].take().unwrap();
        worker.into_process().dies().await;
    }

    /// Ends a worker in order.
    ///
    /// # Panics
    /// When it doesn't run, or doesn't end well.
    pub async fn stop_worker(&mut self, number: usize) {
        let worker = self.workers[number].take().unwrap();
        worker.into_process().stop().await;
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
        // A mere worker takes nothing in, so nothing leads to it.
        if self.setup.role == Role::Worker {
            return;
        }
        let address = self.backend().ingest_url().strip_prefix("http://").unwrap();
        let target: SocketAddr = address.parse().unwrap();
        self.wire.set(Mode::Forward(target)).await;
    }

    /// The backend's process.
    ///
    /// # Panics
    /// When it doesn't run.
    #[must_use]
    pub fn backend_process(&self) -> &Process {
        self.backend().process()
    }

    fn backend(&self) -> &Backend {
        self.backend.as_ref().expect("the backend doesn't run")
    }

    /// A worker, by the number that it was started with.
    ///
    /// # Panics
    /// When it doesn't run.
    #[must_use]
    pub fn worker(&self, number: usize) -> &Backend {
        self.workers[number].as_ref().expect("that worker is gone")
    }

    /// Where the edge listens.
    ///
    /// # Panics
    /// When it doesn't.
    #[must_use]
    pub fn edge_url(&self) -> &str {
        &self.host.as_ref().expect("the host doesn't run").url
    }

    /// Runs `fencepost` on the command line of the same deployment.
    #[must_use]
    pub fn fencepost(&self, arguments: &[&str]) -> Output {
        run(self.project.fencepost().args(arguments))
    }

    /// The database, past the program.
    #[must_use]
    pub fn db(&self) -> Database {
        self.project.database().clone()
    }

    /// A copy of a database file that `fencepost backup` made.
    ///
    /// # Panics
    /// When it made none.
    #[must_use]
    pub fn backup(&self, name: &str) -> Database {
        let file = self.project.path(name);
        let output = self.fencepost(&["backup", file.to_str().unwrap()]);
        assert_eq!(output.code, Some(0), "{output:?}");
        Database::Sqlite(file)
    }

    /// Waits until every report is finished: committed, or waiting for a person.
    pub async fn settle(&self) {
        let database = self.db();
        wait_until("every report is finished", async || {
            (database.unfinished().await == 0).then_some(())
        })
        .await;
    }

    /// What acknowledgements, the model's calls and rows are judged to be.
    ///
    /// # Panics
    /// When they can't be read.
    pub async fn judge(&self, finished: Finished) -> (History, Verdict) {
        let mut history = self.project.database().history().await.unwrap();
        history.add(Recorded::read(&self.project.path(ACKNOWLEDGED)).unwrap());
        for call in self.setup.model.iter().flat_map(|model| model.calls()) {
            let (call_key, at_ms) = (call.call_key, call.at_ms);
            history.model_calls.push(ModelCall { call_key, at_ms });
        }
        let terms = Terms {
            max_attempts: self.project.max_attempts(),
            finished,
        };
        let verdict = check(&history, &terms);
        (history, verdict)
    }

    /// # Panics
    /// When a file is damaged, or something does not hold that always should.
    pub async fn assert_sound(&self) {
        self.db().assert_undamaged().await;
        let (history, verdict) = self.judge(Finished::Expected).await;
        assert!(verdict.is_sound(), "{}", verdict.explain(&history, 3));
    }

    /// Ends everything in order and refuses leftovers.
    ///
    /// # Panics
    /// When a report is unfinished, a program doesn't end well, or what is left isn't sound.
    pub async fn finish(mut self) {
        self.settle().await;
        if self.host.is_some() {
            self.stop_host().await;
        }
        self.stop_backend().await;
        for number in 0..self.workers.len() {
            if self.workers[number].is_some() {
                self.stop_worker(number).await;
            }
        }
        self.assert_sound().await;
        let log = self.project.log("host.stderr");
        assert!(
            !log.contains("request_failed"),
            "the component failed a request"
        );
        let workers = (0..self.workers.len()).map(|number| format!("worker-{number}"));
        for name in workers.chain([BACKEND.to_owned()]) {
            let log = self.project.log(&format!("{name}.stderr"));
            assert!(!log.contains("panicked"), "{name} panicked");
        }
        self.db().remove().await;
        self.finished = true;
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // Killed and gone before the folder is: then the logs are complete.
        self.backend = None;
        self.workers.clear();
        self.host = None;
        if self.finished {
            return;
        }
        let folder = self.project.keep();
        eprintln!("logs and database of the failed test: {}", folder.display());
        eprintln!("its database: {}", self.project.database().url());
        assert!(std::thread::panicking(), "a test ends with `Stack::finish`");
    }
}
