//! What the file says of an extractor that asks a model at Vertex AI.

use fencepost_identity::config::Section;

use super::{ExtractorConfig, Interface, Key, ModelConfig, segment};
use crate::extractor::gemini::vertex::{Name, Place};

/// Reads one table; mistakes are noted in the document.
pub(super) fn read(table: &mut Section<'_, '_>) -> Option<ExtractorConfig> {
    let mut name = |key| {
        let item = table.require(key);
        item.and_then(|item| item.parse(Name::new))
    };
    let (project, location) = (name("project"), name("location"));
    // Where there is no location that mistake is told, and that there is no address follows.
    let home = location.as_ref().map(Name::home).unwrap_or_default();
    let interface = Interface {
        home: Some(&home),
        key: Key::Unknown,
        model: segment,
        temperature_max: 2,
    };
    let config = ModelConfig::read(table, &interface);
    let place = Place::new(project?, location?);
    Some(ExtractorConfig::Vertex(config?, place))
}
