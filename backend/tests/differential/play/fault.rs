//! What happens to a database behind the store's back, and to the reference with it.

use std::time::Duration;

use fencepost::clock::UnixMillis;
use fencepost_identity::key::ReportKey;

use super::{
    super::{
        command::{self, HOUR, MAX_ELAPSED},
        engine::Engine,
    },
    Play,
};

/// All times that a database keeps.
const TIMES: &[(&str, &[&str])] = &[
    ("report", &["received_ms"]),
    (
        "job",
        &[
            "due_ms",
            "lease_until_ms",
            "elapsed_from_ms",
            "created_ms",
            "updated_ms",
        ],
    ),
    ("attempt", &["started_ms", "ended_ms"]),
    ("result", &["created_ms", "updated_ms"]),
    ("finding", &["created_ms", "updated_ms", "withdrawn_ms"]),
    ("review", &["opened_ms", "closed_ms"]),
];

impl<D: Engine> Play<'_, D> {
    /// Lets time pass: all that is kept becomes older. The database's own clock stays what it is.
    pub(super) async fn pass(&mut self, time: Duration) {
        let by = time.as_millis();
        let tables = TIMES.iter().map(|(table, columns)| {
            let older = columns
                .iter()
                .map(|column| format!("{column} = {column} - {by}"));
            let older: Vec<_> = older.collect();
            format!("UPDATE {table} SET {};\n", older.join(", "))
        });
        let all: String = tables.collect();
        self.db.execute(&format!("BEGIN;\n{all}COMMIT")).await;
        self.reference.pass(time);
    }

    pub(super) async fn age_leases(&mut self, by: Duration) {
        let nearer = by.as_millis();
        self.db
            .execute(&format!(
                "UPDATE job SET lease_until_ms = lease_until_ms - {nearer} WHERE state = 'running'"
            ))
            .await;
        self.reference.age_leases(by);
    }

    pub(super) async fn age_waits(&mut self, by: Duration) {
        let nearer = by.as_millis();
        self.db
            .execute(&format!(
                "UPDATE job SET due_ms = due_ms - {nearer} WHERE state <> 'running'"
            ))
            .await;
        self.reference.age_waits(by);
    }

    /// Uses up all the time that a report's jobs have, or will have.
    pub(super) async fn use_time(&mut self, key: ReportKey) {
        let (used, its) = (MAX_ELAPSED.as_millis(), self.db.bytes(key));
        self.db
            .execute(&format!(
                "UPDATE job SET elapsed_from_ms = elapsed_from_ms - {used} WHERE report_key = {its}"
            ))
            .await;
        self.reference.use_time(key, MAX_ELAPSED);
    }

    /// Brings the report of a lease back to what it was before its job was granted.
    pub(super) async fn set_back(&mut self, place: usize) {
        let key = self.leases[place].0.report();
        let its = self.db.bytes(key);
        self.db
            .execute(&format!(
                "UPDATE report SET fence = fence - 1 WHERE report_key IN
                   (SELECT report_key FROM job WHERE report_key = {its} AND state = 'running');
                 UPDATE job SET state = 'accepted', lease_until_ms = NULL
                  WHERE report_key = {its} AND state = 'running'"
            ))
            .await;
        self.reference.set_back(key);
    }

    /// Gives a job that waited for a person another round, so that another need may follow.
    pub(super) async fn ask_again(&mut self) {
        let Some(key) = self.reference.waits_for_a_person() else {
            return;
        };
        let (now, its) = (UnixMillis::of_this_machine().get(), self.db.bytes(key));
        self.db
            .execute(&format!(
                "UPDATE review SET status = 'closed', closed_ms = {now}
                  WHERE report_key = {its} AND status = 'open';
                 UPDATE job SET state = 'accepted', due_ms = {now}, rounds = rounds + 1,
                                updated_ms = {now}
                  WHERE report_key = {its} AND state = 'ready_for_review'"
            ))
            .await;
        self.reference.ask_again(key);
    }

    /// Adds a job for the other version of a report's pipeline, as a replay would.
    pub(super) async fn add_job(&mut self, key: ReportKey) {
        let (now, its) = (UnixMillis::of_this_machine().get(), self.db.bytes(key));
        let Some(view) = self.reference.report(key) else {
            return;
        };
        let version = format!("{}-2", view.summary.pipeline);
        self.db
            .execute(&format!(
                "INSERT INTO job (report_key, pipeline, tenant, kind, classifier_version, state,
                                  due_ms, elapsed_from_ms, created_ms, updated_ms)
                 SELECT report_key, pipeline, tenant, 'extract', '{version}', 'accepted', {now},
                        {now}, {now}, {now}
                   FROM report
                  WHERE report_key = {its} AND (is_current IS NULL OR is_current = 1)
                    AND NOT EXISTS (SELECT 1 FROM job
                                     WHERE job.report_key = report.report_key
                                       AND (classifier_version IS NULL
                                            OR classifier_version = '{version}'))"
            ))
            .await;
        self.reference.add_job(key, &version);
    }

    /// Does what a release does, and leaves its lease with a holder who was not told.
    pub(super) async fn lose_reply(&mut self, place: usize) {
        let (lease, hold) = &self.leases[place];
        if !self.reference.would_put_off(hold) {
            return;
        }
        let (now, its) = (UnixMillis::of_this_machine(), self.db.bytes(lease.report()));
        let (now, due) = (now.get(), now.plus(HOUR).get());
        self.db
            .execute(&format!(
                "UPDATE attempt SET outcome = 'released', ended_ms = {now}
                  WHERE report_key = {its} AND outcome IS NULL;
                 UPDATE job SET state = 'accepted', due_ms = {due}, lease_until_ms = NULL,
                                updated_ms = {now}
                  WHERE report_key = {its} AND state = 'running'"
            ))
            .await;
        self.reference.lose_reply(hold, command::unheard());
    }
}
