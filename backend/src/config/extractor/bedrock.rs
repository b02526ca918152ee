//! What the file says of an extractor that asks a model at Amazon Bedrock.

use fencepost_identity::config::Section;

use super::{ExtractorConfig, Interface, Key, ModelConfig, model, output};
use crate::extractor::{anthropic::Output, bedrock::Region};

/// Reads one table; mistakes are noted in the document.
pub(super) fn read(table: &mut Section<'_, '_>) -> Option<ExtractorConfig> {
    let region = table.require("region");
    let region = region.and_then(|item| item.parse(Region::new));
    // Where there is no region that mistake is told, and that there is no address follows from it.
    let home = region.as_ref().map(Region::home).unwrap_or_default();
    let interface = Interface {
        home: Some(&home),
        // AWS has other credentials, too.
        key: Key::Optional,
        model,
        temperature_max: 1,
    };
    let config = ModelConfig::read(table, &interface);
    let output = match table.get("output") {
        Some(item) => item.parse(output),
        None => Some(Output::Schema),
    };
    Some(ExtractorConfig::Bedrock(config?, region?, output?))
}
