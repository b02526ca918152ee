//! One kill: at a point, at a time, on a kind of database.

use std::{process::Command, sync::Arc};

use fencepost_model::{Content, ContentServer, Gate, ModelServer};
use fencepost_tests::{
    DatabaseKind, Entrance, Launch, Process, Program, Project, Sealed, Setup, Stack, wait_until,
};

use crate::{
    deed::Deed,
    model::{Manner, model},
};

/// As many as the latest time at which a point is tried.
pub(crate) const REPORTS: usize = 3;

/// What leads to a point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scene {
    /// Reports come in and are worked on.
    Reports(Manner),
    /// References come in, and what they refer to is fetched.
    Referred,
    /// There are reports whose worker is gone, and whose leases are over.
    Abandoned,
    /// People do something to reports that are finished.
    Deed(Deed),
    /// The database is brought to the program's schema.
    Migration,
}

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    kind: DatabaseKind,
    scene: Scene,
    point: String,
    time: u64,
}

/// Kills before and after something, at each of these times, all at once.
pub(crate) async fn run(kind: DatabaseKind, what: &str, scene: Scene, times: &[u64]) {
    let mut cells = Vec::new();
    for bound in ["before", "after"] {
        for &time in times {
            let point = format!("{what}.{bound}");
            let cell = Cell {
                kind,
                scene,
                point,
                time,
            };
            cells.push(cell.run());
        }
    }
    futures::future::join_all(cells).await;
}

impl Cell {
    async fn run(self) {
        println!("{self:?}");
        match self.scene {
            Scene::Migration => self.migrate().await,
            Scene::Deed(deed) => self.do_to_reports(deed).await,
            Scene::Reports(manner) => self.take_reports(manner).await,
            Scene::Referred => self.take_references().await,
            Scene::Abandoned => self.take_over().await,
        }
    }

    pub(crate) fn armed(&self) -> Launch {
        Launch {
            program: Program::Failpoints,
            ..Launch::default()
        }
        .with("FENCEPOST_KILL_AT", format!("{}:{}", self.point, self.time))
    }

    pub(crate) async fn prepare(&self, model: Option<Arc<ModelServer>>) -> Stack {
        let config = match self.scene {
            // Heartbeats come at each third of a lease.
            Scene::Reports(Manner::Slow) => vec![("lease_seconds = 60", "lease_seconds = 1")],
            Scene::Reports(_)
            | Scene::Referred
            | Scene::Abandoned
            | Scene::Deed(_)
            | Scene::Migration => Vec::new(),
        };
        Stack::prepared(Setup {
            config,
            entrance: Entrance::Sealed,
            model,
            ..Setup::on(self.kind)
        })
        .await
    }

    async fn take_reports(&self, manner: Manner) {
        let gate = Gate::closed();
        let mut stack = self.prepare(Some(Arc::new(model(&gate)))).await;
        let reports = reports(&stack, manner);
        stack.start_backend_with(&self.armed()).await;
        let mut acknowledged = 0;
        for report in &reports {
            // From the kill on, nobody answers.
            acknowledged += usize::from(stack.post(report).await.is_some());
        }
        stack.backend_dies().await;
        gate.open();
        self.recover(stack, &reports, acknowledged).await;
    }

    /// The content says how the model meets it, as a report's text does.
    async fn take_references(&self) {
        let content = ContentServer::start(|request| {
            let number = request.path.trim_start_matches("/n-").parse().unwrap();
            Content::Text(Manner::Sure.text(number))
        })
        .await;
        let gate = Gate::closed();
        let mut stack = self.prepare(Some(Arc::new(model(&gate)))).await;
        refer_to(&content, &stack.project);
        let reports = reports(&stack, Manner::Sure);
        stack.start_backend_with(&self.armed()).await;
        let mut acknowledged = 0;
        for report in &reports {
            // From the kill on, nobody answers.
            acknowledged += usize::from(stack.post(report).await.is_some());
        }
        stack.backend_dies().await;
        self.recover(stack, &reports, acknowledged).await;
        // Nothing is fetched again but what a killed process was fetching.
        let fetched = content.requests().len();
        assert!(
            (REPORTS..=2 * REPORTS).contains(&fetched),
            "{self:?}: {fetched} fetches"
        );
    }

    async fn take_over(&self) {
        let gate = Gate::closed();
        let model = Arc::new(model(&gate));
        let mut stack = self.prepare(Some(Arc::clone(&model))).await;
        let reports = reports(&stack, Manner::Slow);
        stack.start_backend().await;
        for report in &reports {
            stack.post(report).await.unwrap().assert_accepted();
        }
        model
            .wait_until("all are worked on", |calls| calls.len() == REPORTS)
            .await;
        stack.kill9().await;
        assert_eq!(stack.db().age_leases().await, REPORTS as u64);
        gate.open();
        // It takes over as soon as it runs, so it may die before it says where it listens.
        let mut command = Command::new(Program::Failpoints.path());
        command.arg("serve");
        stack.prepare_command(&mut command, &self.armed());
        Process::spawn("armed", &mut command, &stack.project.logs())
            .dies()
            .await;
        self.recover(stack, &reports, REPORTS).await;
    }

    /// Starts the program that ships, delivers everything again, and lets it finish.
    async fn recover(&self, mut stack: Stack, reports: &[Sealed], acknowledged: usize) {
        // Nobody waits for what a dead process had; its time is over.
        let database = stack.db();
        database.age_leases().await;
        database.make_due().await;
        stack.start_backend().await;
        for (number, report) in reports.iter().enumerate() {
            let answer = stack.post(report).await.unwrap();
            assert_eq!(answer.key(), report.key(), "{self:?}");
            let is_duplicate = answer.status == 200;
            assert!(
                number >= acknowledged || is_duplicate,
                "{self:?}: it was promised that report {number} is stored, and it was new"
            );
        }
        stack.settle().await;
        let stored = stack.db().keys("SELECT report_key FROM report").await;
        assert_eq!(stored.len(), REPORTS, "{self:?}");
        let (_, verdict) = stack.judge(fencepost_history::Finished::Expected).await;
        assert_eq!(verdict.counts.acknowledged, REPORTS, "{self:?}");
        stack.finish().await;
    }

    async fn migrate(&self) {
        let mut stack = self.prepare(None).await;
        let mut command = Command::new(Program::Failpoints.path());
        command.arg("migrate");
        stack.prepare_command(&mut command, &self.armed());
        Process::spawn("armed", &mut command, &stack.project.logs())
            .dies()
            .await;
        let again = stack.fencepost(&["migrate", "--json"]);
        assert_eq!(again.code, Some(0), "{self:?}: {again:?}");
        let migrated = again.json();
        let committed = self.point == "migrate.after";
        let found = if committed {
            migrated["to"].clone()
        } else {
            0.into()
        };
        assert_eq!(migrated["from"], found, "all of it, or nothing: {self:?}");
        stack.start_backend().await;
        let report = Sealed::note(&stack.project, "n-0", "LGTM");
        stack.post(&report).await.unwrap().assert_accepted();
        wait_until("it is worked on", async || {
            (stack.db().unfinished().await == 0).then_some(())
        })
        .await;
        stack.finish().await;
    }
}

/// Has the content of notes fetched from a server.
fn refer_to(content: &ContentServer, project: &Project) {
    project.edit_config(
        "[source.notes]\n",
        "[source.notes]\ninput = \"reference\"\n",
    );
    let fetch = format!(
        "[source.notes.fetch]\nurl = \"http://{}/{{report_id}}\"\n\
         allow_private = [\"127.0.0.1\"]\n",
        content.address()
    );
    project.edit_config("[source.notes.input]\ntext = \"/text\"\n", &fetch);
}

pub(crate) fn reports(stack: &Stack, manner: Manner) -> Vec<Sealed> {
    let report = |number| {
        let text = manner.text(number);
        Sealed::note(&stack.project, &format!("n-{number}"), &text)
    };
    (0..REPORTS).map(report).collect()
}
