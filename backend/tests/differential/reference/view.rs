//! What people are shown.

use std::collections::BTreeMap;

use fencepost::{
    report::State,
    store::{
        AttemptView, Filter, ReportSummary, ReportView, ReviewStatus, StateCount, Stats,
        VersionCount,
    },
};
use fencepost_identity::key::ReportKey;

use super::{Job, Reference, Report};

impl Reference {
    fn summary(&self, key: ReportKey, report: &Report) -> ReportSummary {
        let job = &self.jobs[report.job];
        let charged = report.attempts.iter().filter(|a| a.view.charged);
        ReportSummary {
            key,
            identity: Some(report.new.identity.clone()),
            state: job.state,
            source: report.new.source.clone(),
            pipeline: report.new.pipeline.clone(),
            received: report.received,
            updated: job.updated,
            attempts: count(report.attempts.len()),
            charged: count(charged.count()),
        }
    }

    pub(crate) fn report(&self, key: ReportKey) -> Option<ReportView> {
        let report = self.reports.get(&key)?;
        let canonical = report.canonical.as_ref();
        Some(ReportView {
            summary: self.summary(key, report),
            input_from: report.input_from,
            links: report.new.links.clone(),
            order: report.new.order.clone(),
            version_status: report.version,
            classifier_version: self.jobs[report.job].classifier_version.clone(),
            token: report.fence,
            result: canonical.map(|version| report.results[version].clone()),
            findings: self.findings(key, report),
            review: report.review.clone(),
            conflicts: count(report.conflicts.len()),
        })
    }

    pub(crate) fn attempts(&self, key: ReportKey) -> Vec<AttemptView> {
        let attempts = self.reports.get(&key).map(|report| &report.attempts);
        let views = attempts.into_iter().flatten().map(|a| a.view.clone());
        views.collect()
    }

    /// All that a filter lets through, the newest first.
    pub(crate) fn list(&self, filter: &Filter) -> Vec<ReportSummary> {
        let all = self.reports.iter();
        let all = all.map(|(key, report)| self.summary(*key, report));
        let wanted = |line: &ReportSummary| {
            let identity = line.identity.as_ref();
            let tenant = identity.map(|identity| identity.tenant.as_str());
            filter.state.is_none_or(|state| line.state.word() == state)
                && filter
                    .tenant
                    .as_ref()
                    .is_none_or(|t| Some(t.as_str()) == tenant)
                && filter.pipeline.as_ref().is_none_or(|p| *p == line.pipeline)
        };
        let mut lines: Vec<_> = all.filter(wanted).collect();
        lines.sort_by_key(|line| std::cmp::Reverse((line.received, line.key)));
        lines
    }

    pub(crate) fn stats(&self) -> Stats {
        let attempts = || self.reports.values().flat_map(|report| &report.attempts);
        let reviews = self.reports.values().filter_map(|r| r.review.as_ref());
        let mut states: Vec<StateCount> = Vec::new();
        for report in self.reports.values() {
            let job = &self.jobs[report.job];
            let age = u64::try_from(self.now.since(job.updated).as_millis()).unwrap();
            match states.iter_mut().find(|line| line.state == job.state) {
                Some(line) => {
                    line.count += 1;
                    line.oldest_ms = line.oldest_ms.max(age);
                }
                None => states.push(StateCount {
                    state: job.state,
                    count: 1,
                    oldest_ms: age,
                }),
            }
        }
        let total = |of: fn(&Report) -> usize| self.reports.values().map(of).sum::<usize>();
        Stats {
            states,
            results: count(total(|report| report.results.len())),
            findings: count(self.listed()),
            charged: count(attempts().filter(|a| a.view.charged).count()),
            attempts: count(attempts().count()),
            reviews_open: count(reviews.filter(|r| r.status == ReviewStatus::Open).count()),
            conflicts: count(total(|report| report.conflicts.len())),
            undelivered: count(total(|report| report.events.len())),
            paused: 0,
            pauses: Vec::new(),
            set_aside: 0,
            unfinished: self.unfinished(),
        }
    }

    fn unfinished(&self) -> Vec<VersionCount> {
        let unfinished = self.jobs.iter().filter(|job| match job.state {
            State::Accepted | State::Running | State::ValidationRejected => true,
            State::ReadyForReview | State::Terminal(_) => false,
        });
        let mut counts = BTreeMap::new();
        for job in unfinished {
            *counts.entry(version_of(job)).or_default() += 1;
        }
        let lines = counts.into_iter();
        lines
            .map(|((pipeline, classifier_version), count)| VersionCount {
                pipeline,
                classifier_version,
                count,
            })
            .collect()
    }
}

fn version_of(job: &Job) -> (String, Option<String>) {
    (job.pipeline.clone(), job.classifier_version.clone())
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap()
}
