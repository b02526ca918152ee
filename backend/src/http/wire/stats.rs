//! Counts and ages, and what is paused, as documents.

use serde::Serialize;

use crate::{
    clock::UnixMillis,
    http::reports::Judged,
    report::Outcome,
    store::{Pause, PauseReason, Stats, Subject},
};

/// Counts and ages.
#[derive(Debug, Serialize)]
pub struct StatsWire {
    states: Vec<StateWire>,
    results: String,
    /// What results of all schema versions list.
    findings: String,
    attempts: String,
    charged_attempts: String,
    reviews_open: String,
    conflicts: String,
    undelivered_events: String,
    paused: String,
    pauses: Vec<PauseWire>,
    set_aside: String,
    /// Unfinished jobs that are bound to a version which this configuration does not have.
    stranded: String,
}

#[derive(Debug, Serialize)]
struct StateWire {
    state: &'static str,
    outcome: Option<Outcome>,
    count: String,
    oldest_seconds: u64,
}

/// What is paused.
#[derive(Debug, Serialize)]
pub struct PauseWire {
    subject: SubjectWire,
    reason: PauseReason,
    paused_at: UnixMillis,
    /// When one job is let through to see whether it is over; null where only a person ends it.
    next_probe_at: Option<UnixMillis>,
    probe_count: String,
}

/// What can be paused.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectWire {
    /// By the name of the variable that holds it, or of the extractor that has none.
    Credential(String),
    /// By its name.
    Pipeline(String),
}

impl From<Subject> for SubjectWire {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::Credential(name) => Self::Credential(name.as_str().to_owned()),
            Subject::Pipeline(name) => Self::Pipeline(name),
        }
    }
}

impl From<Pause> for PauseWire {
    fn from(pause: Pause) -> Self {
        Self {
            subject: pause.subject.into(),
            reason: pause.reason,
            paused_at: pause.since,
            next_probe_at: pause.probe,
            probe_count: pause.probes.to_string(),
        }
    }
}

impl StatsWire {
    /// `pipelines` are those that can be worked for.
    #[must_use]
    pub fn new(stats: Stats, pipelines: &[Judged]) -> Self {
        let stranded = stats.unfinished.iter().filter(|unfinished| {
            let bound = unfinished.classifier_version.as_deref();
            let can = |judged: &Judged| {
                judged.pipeline == unfinished.pipeline
                    && bound.is_none_or(|bound| bound == judged.classifier_version)
            };
            !pipelines.iter().any(can)
        });
        Self {
            stranded: stranded
                .map(|unfinished| unfinished.count)
                .sum::<u64>()
                .to_string(),
            states: stats
                .states
                .iter()
                .map(|count| StateWire {
                    state: count.state.as_str(),
                    outcome: count.state.outcome(),
                    count: count.count.to_string(),
                    oldest_seconds: count.oldest_ms / 1000,
                })
                .collect(),
            results: stats.results.to_string(),
            findings: stats.findings.to_string(),
            attempts: stats.attempts.to_string(),
            charged_attempts: stats.charged.to_string(),
            reviews_open: stats.reviews_open.to_string(),
            conflicts: stats.conflicts.to_string(),
            undelivered_events: stats.undelivered.to_string(),
            paused: stats.paused.to_string(),
            pauses: stats.pauses.into_iter().map(PauseWire::from).collect(),
            set_aside: stats.set_aside.to_string(),
        }
    }
}
