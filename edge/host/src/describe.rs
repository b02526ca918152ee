//! What a component can do: the list that is checked in as `wit/component.txt`.

use crate::instance::Loaded;

/// The component's imports and exports with their versions, one a line, sorted.
///
/// A new import is a new capability: the list is compared in a test so that it is seen in review.
#[must_use]
pub fn describe(loaded: &Loaded) -> String {
    let interface = loaded.component.component_type();
    let imports = interface
        .imports(&loaded.engine)
        .map(|(name, _)| format!("import {name}"));
    let exports = interface
        .exports(&loaded.engine)
        .map(|(name, _)| format!("export {name}"));
    let mut lines: Vec<String> = imports.chain(exports).collect();
    lines.sort_unstable();
    lines.iter().map(|line| format!("{line}\n")).collect()
}
