//! The story of one report, short.

use std::fmt::Write as _;

use fencepost_identity::key::{CallKey, ClaimKey, ReportKey};

use crate::{
    check::questions,
    rows::{Attempt, History},
    words::FindingStatus,
};

/// What happened, in the order in which it did. What happened at the same time is told in the order
/// in which it was added.
struct Story(Vec<(i64, String)>);

impl Story {
    fn tell(&mut self, at_ms: i64, what: String) {
        self.0.push((at_ms, what));
    }
}

impl History {
    /// What is known of a report, in order: milliseconds since it was stored, and what happened;
    /// then where its jobs stand. What clients and the model saw is placed by their own clocks.
    #[must_use]
    pub fn describe(&self, report: &str) -> String {
        let row = self.reports.iter().find(|row| row.key == report);
        let mut story = Story(Vec::new());
        self.tell_of_clients(report, &mut story);
        self.tell_of_grants(report, &mut story);
        self.tell_of_results(report, &mut story);
        story.0.sort_by_key(|(at_ms, _)| *at_ms);
        let first = story.0.first().map_or(0, |(at_ms, _)| *at_ms);
        let zero = row.map_or(first, |row| row.received_ms);

        let mut lines = vec![match row {
            Some(row) => format!("report {report}: fence {}", row.fence),
            None => format!("report {report}: not there"),
        }];
        let told = story.0.into_iter();
        lines.extend(told.map(|(at_ms, what)| format!("  {:>8} ms  {what}", at_ms - zero)));
        for job in self.jobs.iter().filter(|job| job.report == report) {
            let mut line = format!("  job {}: {}", job.id, job.state);
            // Writing to a text can't fail.
            if let Some(ending) = job.ending {
                let _ = write!(line, " ({ending})");
            }
            let (grants, charged, back) = (job.grants, job.charged, job.given_back);
            let _ = write!(
                line,
                ", {grants} grants, {charged} charged, {back} given back"
            );
            if job.set_aside.is_some() {
                line.push_str(", set aside");
            }
            lines.push(line);
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn tell_of_clients(&self, report: &str, story: &mut Story) {
        for ack in self.acknowledgements.iter().filter(|ack| ack.key == report) {
            story.tell(ack.at_ms, format!("a client is answered {}", ack.status));
        }
    }

    fn tell_of_grants(&self, report: &str, story: &mut Story) {
        let of_report = self.attempts.iter().filter(|it| it.report == report);
        let mut attempts: Vec<&Attempt> = of_report.collect();
        attempts.sort_by_key(|attempt| attempt.number);
        for attempt in &attempts {
            let Attempt {
                number, job, token, ..
            } = attempt;
            let granted = format!("attempt {number}: job {job} granted under token {token}");
            story.tell(attempt.started_ms, granted);
            if let (Some(at_ms), Some(outcome)) = (attempt.ended_ms, attempt.outcome) {
                let charge = if attempt.charged { "" } else { ", given back" };
                story.tell(at_ms, format!("attempt {number}: {outcome}{charge}"));
            }
        }
        let Ok(key) = report.parse::<ReportKey>() else {
            return;
        };
        for job in self.jobs.iter().filter(|job| job.report == report) {
            let mut told = 0;
            let of_job = attempts.iter().copied().filter(|it| it.job == job.id);
            for (attempt, n) in questions(of_job) {
                if n == told {
                    continue;
                }
                told = n;
                let claim = ClaimKey::of(&key, &attempt.classifier_version);
                let call = CallKey::of(&claim, n).to_string();
                for asked in self.model_calls.iter().filter(|it| it.call_key == call) {
                    story.tell(asked.at_ms, format!("the model is asked question {n}"));
                }
                for answered in self.model_answers.iter().filter(|it| it.call_key == call) {
                    story.tell(answered.at_ms, format!("the model answers question {n}"));
                }
            }
        }
    }

    /// How many findings a result lists, and how many it does no longer.
    fn findings_of(&self, result: &str) -> (usize, usize) {
        let of_result = self.findings.iter().filter(|it| it.result == result);
        let (present, withdrawn): (Vec<_>, Vec<_>) =
            of_result.partition(|it| it.status == FindingStatus::Present);
        (present.len(), withdrawn.len())
    }

    fn tell_of_results(&self, report: &str, story: &mut Story) {
        for result in self.results.iter().filter(|it| it.report == report) {
            let (version, status) = (&result.schema_version, result.status);
            let token = result.token;
            let from = match result.attempt {
                Some(attempt) => format!("of attempt {attempt} under token {token}"),
                None => "of a person".to_owned(),
            };
            let listed = match self.findings_of(&result.key) {
                (0, 0) => String::new(),
                (present, withdrawn) => {
                    format!(", {present} findings and {withdrawn} withdrawn")
                }
            };
            story.tell(
                result.updated_ms,
                format!("result {version}, {status}, {from}{listed}"),
            );
        }
        for review in self.reviews.iter().filter(|it| it.report == report) {
            let revision = review.revision;
            story.tell(
                review.opened_ms,
                format!("review item opened, revision {revision}"),
            );
            if let Some(closed_ms) = review.closed_ms {
                story.tell(
                    closed_ms,
                    format!("review item closed, revision {revision}"),
                );
            }
        }
        for decision in self.decisions.iter().filter(|it| it.report == report) {
            let (number, kind, seen) = (decision.number, decision.kind, decision.revision_seen);
            story.tell(
                decision.decided_ms,
                format!("decision {number}: {kind}, of revision {seen}"),
            );
        }
        for event in self.events.iter().filter(|it| it.report == report) {
            let (sequence, kind) = (event.sequence, event.kind);
            story.tell(event.created_ms, format!("event {sequence}: {kind}"));
        }
    }
}
