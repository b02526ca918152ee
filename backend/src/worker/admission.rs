//! What may be asked now: a job is claimed only where its extractor has room for its question.

use std::sync::Arc;

use tracing::debug;

use super::{
    Pipeline, Worker,
    limit::{Limiter, Permit},
};
use crate::store::PipelineTerms;

/// The pipelines whose extractors have room, with a permit of each extractor.
pub(super) struct Admission {
    pipelines: Vec<Arc<Pipeline>>,
    permits: Vec<Permit>,
}

impl Worker {
    /// Takes a permit of each extractor that has one. They are given back when this is dropped.
    pub(super) fn admit(&self) -> Admission {
        let now = self.parts.timer.now();
        let mut admission = Admission {
            pipelines: Vec::new(),
            permits: Vec::new(),
        };
        for limiter in self.limiters() {
            admission.permits.extend(limiter.admit(now));
        }
        for pipeline in &self.parts.pipelines {
            let mut permits = admission.permits.iter();
            if permits.any(|permit| permit.is_of(&pipeline.limiter)) {
                admission.pipelines.push(Arc::clone(pipeline));
            } else {
                debug!(pipeline = pipeline.name(), "its extractor is at its limit");
            }
        }
        admission
    }

    /// Each extractor's limits, once.
    pub(super) fn limiters(&self) -> Vec<Arc<Limiter>> {
        let mut limiters: Vec<Arc<Limiter>> = Vec::new();
        for pipeline in &self.parts.pipelines {
            if !limiters.iter().any(|it| Arc::ptr_eq(it, &pipeline.limiter)) {
                limiters.push(Arc::clone(&pipeline.limiter));
            }
        }
        limiters
    }
}

impl Admission {
    /// Whether nothing may be asked.
    pub(super) fn is_empty(&self) -> bool {
        self.pipelines.is_empty()
    }

    /// On what terms jobs may be claimed.
    pub(super) fn terms(&self) -> Vec<PipelineTerms> {
        self.pipelines
            .iter()
            .map(|pipeline| pipeline.terms())
            .collect()
    }

    /// The pipeline of this name, and the permit for it; the others are given back.
    pub(super) fn choose(self, name: &str) -> Option<(Arc<Pipeline>, Permit)> {
        let mut pipelines = self.pipelines.into_iter();
        let pipeline = pipelines.find(|pipeline| pipeline.name() == name)?;
        let mut permits = self.permits.into_iter();
        let permit = permits.find(|permit| permit.is_of(&pipeline.limiter))?;
        Some((pipeline, permit))
    }
}
