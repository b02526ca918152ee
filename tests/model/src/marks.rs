//! Texts are marked for the model; a model that understands reads them without the marks.

use std::ops::RangeInclusive;

use serde_json::Value;

/// Characters of which one is the marker of a request.
const MARKERS: RangeInclusive<char> = '\u{e000}'..='\u{f8ff}';

/// The report as it reads. One that is not marked stays as it is.
pub(crate) fn removed(report: Value) -> Value {
    match marker(&report) {
        Some(marker) => unmarked(report, marker),
        None => report,
    }
}

/// What the first text begins with, if that is a marker.
fn marker(value: &Value) -> Option<char> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
        Value::String(text) => text.chars().next().filter(|first| MARKERS.contains(first)),
        Value::Array(items) => items.iter().find_map(marker),
        Value::Object(members) => members.values().find_map(marker),
    }
}

fn unmarked(value: Value, marker: char) -> Value {
    match value {
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
        Value::String(text) => read(&text, marker).into(),
        Value::Array(items) => {
            let items = items.into_iter();
            items.map(|item| unmarked(item, marker)).collect()
        }
        Value::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(name, value)| (read(&name, marker), unmarked(value, marker)))
                .collect()
        }
    }
}

fn read(text: &str, marker: char) -> String {
    let lines = text.split('\n').map(|line| {
        let line = line.strip_prefix(marker).unwrap_or(line);
        line.replace(marker, " ")
    });
    lines.collect::<Vec<_>>().join("\n")
}
