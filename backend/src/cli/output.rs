//! The only place that prints.

use std::io::Write;

use serde::Serialize;

/// How an answer looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// The flag that every command has which prints a table for people.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct ShapeFlag {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

impl ShapeFlag {
    pub(super) fn shape(self) -> Shape {
        if self.json { Shape::Json } else { Shape::Table }
    }
}

/// A line on stdout. Nobody is told when the reader has gone away: there is nobody to tell.
pub(super) fn line(text: &str) {
    drop(writeln!(std::io::stdout().lock(), "{text}"));
}

/// A document as one line of JSON on stdout.
pub(super) fn json(document: &impl Serialize) {
    // The documents are made of strings and numbers: there is none that can't be written.
    line(&escaped(
        &serde_json::to_string(document).unwrap_or_default(),
    ));
}

/// The same JSON, fit for a terminal: JSON escapes the control characters below U+0020 alone, and
/// those above stand nowhere but in strings.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() {
            escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// What went wrong, on stderr.
pub(super) fn complain(error: &dyn std::fmt::Display) {
    drop(writeln!(std::io::stderr().lock(), "fencepost: {error}"));
}

/// A text from outside, fit for a terminal: what could steer it is replaced.
pub(super) fn printable(text: &str) -> String {
    let visible = |c: char| {
        if c.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    text.chars().map(visible).collect()
}

/// Columns as wide as their widest cell, the last one ragged.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) {
    for row in aligned(header, rows) {
        line(&row);
    }
}

fn aligned(header: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let header: Vec<String> = header.iter().map(|&cell| cell.to_owned()).collect();
    let all = || std::iter::once(&header).chain(rows);
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            let cells = all().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let write = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all().map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_printed_as_what_it_is_in_json() {
        let text = "a\u{1b}[2J\u{9b}2J\u{7f}é";
        let json = escaped(&serde_json::to_string(text).unwrap());
        assert_eq!(json, r#""a\u001b[2J\u009b2J\u007fé""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            vec!["a".to_owned(), "long cell".to_owned()],
            vec!["bb".into(), "é".into()],
        ];
        assert_eq!(
            aligned(&["key", "x"], &rows),
            ["key  x", "a    long cell", "bb   é"]
        );
    }
}
