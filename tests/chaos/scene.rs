//! The program with several processes on one database, and what is done to them.

use std::sync::Arc;

use fencepost_cluster::{Cluster, Ending};
use fencepost_tests::{DatabaseKind, Process, Setup, Stack, wait_until};

use crate::{
    deck::{Blow, Victim, workers},
    model::{self, Gates},
    tally::Tally,
};

/// The model's calls, beside what clients write down.
const CALLS: &str = "model.jsonl";

pub(crate) struct Scene<'a> {
    pub(crate) stack: Stack,
    pub(crate) tally: Tally,
    /// The workers' numbers in the stack.
    workers: Vec<usize>,
    gates: Gates,
    /// The server, where the database is on one.
    cluster: Option<&'a mut Cluster>,
}

impl<'a> Scene<'a> {
    pub(crate) async fn start(seed: u64, cluster: Option<&'a mut Cluster>) -> Self {
        let gates = Gates::new();
        let model = Arc::new(model::start(seed, &gates));
        let server = cluster.as_ref().map(|cluster| cluster.url("postgres"));
        let kind = match server {
            Some(_) => DatabaseKind::Postgres,
            None => DatabaseKind::Sqlite,
        };
        let setup = Setup {
            // A killed worker's lease has to run out before another takes over.
            config: vec![
                ("lease_seconds = 60", "lease_seconds = 1"),
                ("call_timeout_seconds = 45", "call_timeout_seconds = 1"),
            ],
            server,
            model: Some(Arc::clone(&model)),
            ..Setup::on(kind)
        };
        let mut stack = Stack::prepared(setup).await;
        model.record(&stack.project.path(CALLS));
        stack.start_backend().await;
        let mut numbers = Vec::new();
        for _ in 0..workers(kind) {
            numbers.push(stack.start_worker().await);
        }
        Self {
            stack,
            tally: Tally::round(),
            workers: numbers,
            gates,
            cluster,
        }
    }

    /// Back when everything runs again.
    pub(crate) async fn strike(&mut self, blow: Blow) {
        match blow {
            Blow::Kill(Victim::Ingest) => {
                self.stack.kill9().await;
                self.stack.start_backend().await;
            }
            Blow::Kill(Victim::Worker(worker)) => {
                self.stack.kill9_worker(self.workers[worker]);
                self.workers[worker] = self.stack.start_worker().await;
            }
            Blow::KillAll => self.kill_all().await,
            Blow::Suspend(victim) => self.suspend(victim).await,
            Blow::Restart(ending) => self.restart(ending),
        }
        self.tally.count(blow);
        self.gates.release();
    }

    async fn kill_all(&mut self) {
        for worker in &self.workers {
            self.stack.kill9_worker(*worker);
        }
        self.stack.kill9().await;
        self.stack.start_backend().await;
        for worker in &mut self.workers {
            *worker = self.stack.start_worker().await;
        }
    }

    /// Its leases run out while it stands still, so others go on with what it had; then it wakes up
    /// and knows nothing of that.
    async fn suspend(&mut self, victim: Victim) {
        let process = self.process(victim);
        let database = self.stack.db();
        let mut locked = 0;
        process.pause().await;
        while database.age_leases_if_unlocked().await.is_none() {
            // In the midst of a transaction: nobody else gets on before it does.
            locked += 1;
            process.resume();
            let free = async || database.age_leases_if_unlocked().await;
            wait_until("its transaction is over", free).await;
            process.pause().await;
        }
        wait_until("others have taken over", async || {
            let aged = "SELECT count(*) FROM job WHERE state = 'running' AND lease_until_ms = 1";
            (database.number(aged).await == 0).then_some(())
        })
        .await;
        process.resume();
        for _ in 0..locked {
            self.tally.count_locked();
        }
    }

    fn process(&self, victim: Victim) -> &Process {
        match victim {
            Victim::Ingest => self.stack.backend_process(),
            Victim::Worker(worker) => self.stack.worker(self.workers[worker]).process(),
        }
    }

    fn restart(&mut self, ending: Ending) {
        let cluster = self.cluster.as_mut().unwrap();
        tokio::task::block_in_place(|| cluster.restart(ending)).unwrap();
    }

    /// What is slow is slow no longer, and everything can be finished.
    pub(crate) fn calm(&self) {
        self.gates.release();
    }
}
