//! The presets, a second time.

use toml::{Table, Value};

use super::{table, text};

/// The table `verify` of a source, with the keys of its preset where it has none of its own.
pub(super) fn whole(source: &Table) -> Table {
    let (name, own) = match source.get("verify") {
        Some(Value::String(name)) => (Some(name.as_str()), Table::new()),
        Some(Value::Table(own)) => (text(own, "preset"), own.clone()),
        _ => panic!("a source says how it is verified"),
    };
    let mut whole = name.map(preset).unwrap_or_default();
    whole.extend(own);
    whole
}

fn preset(name: &str) -> Table {
    let presets: Table = include_str!("presets.toml")
        .parse()
        .unwrap_or_else(|error| panic!("{error}"));
    match table(&presets, name) {
        Some(preset) => preset.clone(),
        None => panic!("no preset `{name}`"),
    }
}
