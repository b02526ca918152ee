//! Whether each pipeline's extractor can take its schema.

use std::{collections::BTreeMap, sync::Arc};

use super::{StartError, Unusable, extractors, unusable};
use crate::{
    config::{Pipeline, Project, ProviderKeys},
    extractor::Extractor,
};

/// All that keeps the extractors of a configuration from being used with its pipelines. Nobody is
/// asked for it.
pub fn misfits(project: &Project, keys: &ProviderKeys) -> Vec<StartError> {
    let mut errors = Vec::new();
    let mut usable: BTreeMap<&str, Option<Arc<dyn Extractor>>> = BTreeMap::new();
    for pipeline in &project.pipelines {
        let name = pipeline.extractor.as_str();
        // Every pipeline's extractor is in the file, or the configuration would not have been read.
        let Some(config) = project.extractors.get(name) else {
            continue;
        };
        let found = usable.entry(name).or_insert_with(|| {
            let made = extractors::set_up(config, keys).map_err(|error| unusable(name, error));
            made.map_err(|error| errors.push(error)).ok()
        });
        let misfit = found.as_ref().map(|extractor| fit(pipeline, &**extractor));
        errors.extend(misfit.and_then(Result::err));
    }
    errors
}

/// Whether an extractor can take a pipeline's schema.
pub(super) fn fit(pipeline: &Pipeline, extractor: &dyn Extractor) -> Result<(), StartError> {
    let checked = extractor.check_schema(pipeline.schema.document());
    checked.map_err(|error| {
        let pipeline_name = pipeline.name.clone();
        unusable(&pipeline.extractor, Unusable::Schema(pipeline_name, error))
    })
}
