//! What people do to reports, done by a program that dies of it.

use std::{process::Command, sync::Arc};

use fencepost_model::Gate;
use fencepost_tests::{Process, Program, Sealed, Stack};
use serde_json::{Value, json};

use crate::{
    cell::{Cell, REPORTS, reports},
    model::{Manner, model},
};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// A reviewer accepts.
    Decide,
    /// A report is to be looked at by another version.
    Replay,
    /// All of a tenant is erased.
    Erase,
}

impl Deed {
    /// How the model met the reports before.
    fn manner(self) -> Manner {
        match self {
            Self::Decide => Manner::Unsure,
            Self::Replay | Self::Erase => Manner::Sure,
        }
    }

    /// Where it is asked for, and with what.
    fn request(self, key: &str) -> (String, Value) {
        match self {
            Self::Decide => (
                format!("/v1/reviews/{key}/decision"),
                json!({ "decision": "accept", "revision": 1, "why": "it is so" }),
            ),
            Self::Replay | Self::Erase => (format!("/v1/reports/{key}/replay"), json!({})),
        }
    }
}

impl Cell {
    /// Reports are finished; then the deed is done to all of them by a program that dies, and again
    /// by the one that ships.
    pub(crate) async fn do_to_reports(&self, deed: Deed) {
        let gate = Gate::closed();
        let mut stack = self.prepare(Some(Arc::new(model(&gate)))).await;
        let reports = reports(&stack, deed.manner());
        stack.start_backend().await;
        for report in &reports {
            stack.post(report).await.unwrap().assert_accepted();
        }
        stack.settle().await;
        stack.stop_backend().await;
        match deed {
            Deed::Erase => {
                self.erase(&stack).await;
                stack.start_backend().await;
            }
            Deed::Decide | Deed::Replay => self.ask(&mut stack, deed, &reports).await,
        }
        stack.settle().await;
        for report in &reports {
            stack.post(report).await.unwrap().assert_duplicate();
        }
        self.assert_done(&stack, deed).await;
        stack.finish().await;
    }

    async fn ask(&self, stack: &mut Stack, deed: Deed, reports: &[Sealed]) {
        if deed == Deed::Replay {
            let version = |number| format!("classifier_version = \"moderation-{number}\"");
            stack.project.edit_config(&version(7), &version(8));
        }
        stack.start_backend_with(&self.armed()).await;
        for report in reports {
            let (path, body) = deed.request(report.key());
            // From the kill on, nobody answers.
            drop(stack.command(&path, &[], &body).await);
        }
        stack.backend_dies().await;
        stack.db().age_leases().await;
        stack.start_backend().await;
        for report in reports {
            let (path, body) = deed.request(report.key());
            let answer = stack.command(&path, &[], &body).await.unwrap();
            // Done now, or found to be done: a decision is not made twice.
            let is_fine = match deed {
                Deed::Decide => [200, 409].contains(&answer.status),
                Deed::Replay | Deed::Erase => [200, 202].contains(&answer.status),
            };
            assert!(is_fine, "{self:?}: {answer:?}");
        }
    }

    async fn erase(&self, stack: &Stack) {
        let mut command = Command::new(Program::Failpoints.path());
        command.args(["erase", "--tenant", "acme"]);
        stack.prepare_command(&mut command, &self.armed());
        Process::spawn("armed", &mut command, &stack.project.logs())
            .dies()
            .await;
        let again = stack.fencepost(&["erase", "--tenant", "acme", "--json"]);
        // There was nothing left to erase, or the rest is erased now.
        assert!(matches!(again.code, Some(0 | 1)), "{self:?}: {again:?}");
    }

    async fn assert_done(&self, stack: &Stack, deed: Deed) {
        let reports = i64::try_from(REPORTS).unwrap();
        let each_once = match deed {
            Deed::Decide => [
                "SELECT count(*) FROM decision",
                "SELECT count(*) FROM job WHERE outcome = 'decided'",
                "SELECT count(*) FROM outbox WHERE kind = 'result.final'",
            ],
            Deed::Replay => [
                "SELECT count(*) FROM job WHERE classifier_version = 'moderation-8'",
                "SELECT count(*) FROM job WHERE classifier_version = 'moderation-7'",
                "SELECT count(*) FROM result",
            ],
            Deed::Erase => [
                "SELECT count(*) FROM job WHERE outcome = 'erased'",
                "SELECT count(*) FROM report WHERE tenant = '' AND report_id = ''",
                "SELECT count(*) FROM audit WHERE action = 'report.erase'",
            ],
        };
        for statement in each_once {
            let found = stack.db().number(statement).await;
            assert_eq!(found, reports, "{self:?}: {statement}");
        }
    }
}
