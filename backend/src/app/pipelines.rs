//! From what the file says of pipelines to those that a worker runs.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::Notify;

use super::{StartError, extractors, fit, sources::sources, unusable};
use crate::{
    config::{Pipeline, Project, ProviderKeys, RawAnswers},
    extractor::Extractor,
    store::CredentialName,
    worker::{self, Keep, Limiter},
};

/// One pipeline of a configuration, ready to ask; none where the configuration has none of this
/// name. Nothing is bound by this, and no connection is made.
///
/// # Errors
/// [`StartError::Extractor`]
pub fn pipeline(
    mut project: Project,
    name: &str,
    keys: &ProviderKeys,
) -> Result<Option<worker::Pipeline>, StartError> {
    project.pipelines.retain(|pipeline| pipeline.name == name);
    Ok(unbound(project, keys)?.pop())
}

/// All pipelines of a configuration, ready to ask, in its order; nothing is bound by this either.
/// Each extractor keeps its limits, for who asks it once at a time.
///
/// # Errors
/// [`StartError::Extractor`]; also where an extractor can't take the schema of its pipeline.
pub fn unbound(project: Project, keys: &ProviderKeys) -> Result<Vec<worker::Pipeline>, StartError> {
    pipelines(project, keys, &Arc::new(Notify::new()))
}

/// All of them.
pub(super) fn pipelines(
    project: Project,
    keys: &ProviderKeys,
    wake: &Arc<Notify>,
) -> Result<Vec<worker::Pipeline>, StartError> {
    let mut sources = sources(&project, keys)?;
    // One for all pipelines that name it: they share its connections and its limits.
    let mut extractors: BTreeMap<String, (Arc<dyn Extractor>, Arc<Limiter>)> = BTreeMap::new();
    let mut pipelines = Vec::new();
    for pipeline in project.pipelines {
        let name = &pipeline.extractor;
        let Some(config) = project.extractors.get(name) else {
            continue;
        };
        let (extractor, limiter) = match extractors.get(name) {
            Some(known) => known.clone(),
            None => {
                let made = extractors::set_up(config, keys);
                let limits = project.limits.get(name).copied().unwrap_or_default();
                let limiter = Limiter::new(limits, Arc::clone(wake));
                (made.map_err(|error| unusable(name, error))?, limiter)
            }
        };
        fit::fit(&pipeline, &*extractor)?;
        let known = (Arc::clone(&extractor), Arc::clone(&limiter));
        extractors.insert(name.clone(), known);
        let credential = config.credential(name);
        let sources = sources.remove(&pipeline.name).unwrap_or_default();
        let runnable = runnable(pipeline, extractor, limiter, credential);
        pipelines.push(worker::Pipeline {
            sources,
            ..runnable
        });
    }
    Ok(pipelines)
}

fn runnable(
    pipeline: Pipeline,
    extractor: Arc<dyn Extractor>,
    limiter: Arc<Limiter>,
    credential: CredentialName,
) -> worker::Pipeline {
    worker::Pipeline {
        versions: pipeline.versions(&extractor.fingerprint()),
        judge: pipeline.judge(),
        extractor,
        limiter,
        credential,
        sources: BTreeMap::new(),
        max_attempts: pipeline.max_attempts,
        lease: pipeline.lease,
        call_timeout: pipeline.call_timeout,
        max_elapsed: pipeline.max_elapsed,
        keep: match pipeline.raw_answers {
            RawAnswers::Kept | RawAnswers::KeptFor(_) => Keep::Raw,
            RawAnswers::Dropped => Keep::Nothing,
        },
    }
}
