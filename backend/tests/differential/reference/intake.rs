//! Rules 1, 9 and 14: what comes in, what is bound on first use, and which version is current.

use std::{cmp::Ordering, collections::BTreeMap};

use fencepost::{
    report::{FencingToken, InputOrigin, OrderValue, Outcome, State, VersionStatus},
    store::{
        Bindings, Bound, Content, Ingested, NewReport, PipelineVersions, Rebound, VersionConflict,
    },
};
use fencepost_identity::key::{MappingDigest, ReportKey};

use super::{Reference, Report, Told};

impl Reference {
    /// One transaction writes the report, its job and its event, or nothing.
    pub(crate) fn ingest(&mut self, new: NewReport) -> Ingested {
        let first_use = self.sources.entry(new.source.clone());
        let bound = *first_use.or_insert(new.mapping_digest);
        if bound != new.mapping_digest {
            return Ingested::MappingChanged { bound };
        }
        let key = new.identity.report_key();
        let Some(report) = self.reports.get_mut(&key) else {
            return self.accept(key, new);
        };
        let content = match (report.input_from, &report.new.input, &new.input) {
            (InputOrigin::Forwarded, Some(first), Some(other)) if first.hash != other.hash => {
                let seen = report.conflicts.entry(other.hash).or_default();
                *seen += 1;
                Content::Conflict { seen: *seen }
            }
            _ => Content::Same,
        };
        let state = self.jobs[report.job].state;
        Ingested::Duplicate {
            key,
            state,
            content,
        }
    }

    fn accept(&mut self, key: ReportKey, new: NewReport) -> Ingested {
        let job = self.push_job(key, new.pipeline.clone(), None);
        let rival = self.current_version(&new);
        let place = new.order.as_ref().map(|order| match &rival {
            Some((_, current)) if is_older(order, current) => VersionStatus::Superseded,
            Some(_) | None => VersionStatus::Current,
        });
        let report = Report {
            input_from: match new.input {
                Some(_) => InputOrigin::Forwarded,
                None => InputOrigin::Reference,
            },
            input: new.input.clone().map(|input| input.canonical),
            new,
            received: self.now,
            version: place,
            fence: FencingToken::from_stored(0).unwrap(),
            job,
            attempts: Vec::new(),
            results: BTreeMap::new(),
            lists: BTreeMap::new(),
            canonical: None,
            review: None,
            conflicts: BTreeMap::new(),
            events: vec![Told::Accepted],
        };
        self.reports.insert(key, report);
        match (place, rival) {
            (Some(VersionStatus::Superseded), _) => self.supersede(key),
            (Some(VersionStatus::Current), Some((older, _))) => self.supersede(older),
            (Some(VersionStatus::Current), None) | (None, _) => {}
        }
        let state = self.jobs[job].state;
        Ingested::Accepted { key, state }
    }

    /// The current version of the thing that a delivery is a version of, and its order.
    fn current_version(&self, new: &NewReport) -> Option<(ReportKey, String)> {
        let thing = |report: &NewReport| {
            let id = &report.identity;
            (
                id.namespace.as_str().to_owned(),
                id.tenant.as_str().to_owned(),
                id.report_id.as_str().to_owned(),
            )
        };
        let mut current = self.reports.iter().filter(|(_, report)| {
            report.version == Some(VersionStatus::Current) && thing(&report.new) == thing(new)
        });
        let (key, report) = current.next()?;
        Some((*key, report.new.order.clone().unwrap()))
    }

    /// A newer version takes the place: the open review item closes, what is not begun ends. Work
    /// that is under way is paid for and goes on.
    fn supersede(&mut self, key: ReportKey) {
        self.of(key).version = Some(VersionStatus::Superseded);
        for job in 0..self.jobs.len() {
            let rests = match self.jobs[job].state {
                State::Accepted | State::ValidationRejected | State::ReadyForReview => true,
                State::Running | State::Terminal(_) => false,
            };
            if rests && self.jobs[job].report == key {
                self.move_job(job, State::Terminal(Outcome::Superseded));
            }
        }
        self.close_review(key);
    }

    /// All of a pipeline's versions are bound, or none.
    pub(crate) fn bind_versions(&mut self, wanted: &PipelineVersions) -> Bound {
        let each = wanted.each().map(|(kind, version, digest)| {
            let key = (kind, wanted.pipeline.clone(), version.to_owned());
            (key, digest)
        });
        let differing = each.iter().filter_map(|(key, digest)| {
            let bound = *self.versions.get(key)?;
            (bound != *digest).then(|| VersionConflict {
                pipeline: key.1.clone(),
                kind: key.0,
                version: key.2.clone(),
                bound,
            })
        });
        let differing: Vec<_> = differing.collect();
        if !differing.is_empty() {
            return Bound::Conflict(differing);
        }
        self.versions.extend(each);
        Bound::Bound
    }

    pub(crate) fn bindings(&self) -> Bindings {
        Bindings {
            sources: self.sources.clone(),
            versions: self.versions.clone(),
        }
    }

    /// A person binds a source to another mapping.
    pub(crate) fn rebind(&mut self, source: &str, digest: MappingDigest) -> Rebound {
        let rebound = match self.sources.insert(source.to_owned(), digest) {
            Some(from) if from == digest => return Rebound::Same,
            Some(from) => Rebound::Changed { from },
            None => Rebound::First,
        };
        self.audited.push("source.rebind");
        rebound
    }
}

/// Of two that say the same of their age, the later to come counts as newer.
fn is_older(order: &str, current: &str) -> bool {
    OrderValue::read(order).cmp(&OrderValue::read(current)) == Ordering::Less
}
