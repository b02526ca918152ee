//! What stands around an answer.

use fencepost::report::AttemptOutcome;

use super::{Asked, Comes, FINE, Row};

fn no_json(line: usize, column: usize) -> Comes {
    let reason = format!("the answer is not one JSON value: line {line}, column {column}");
    Comes::Again(AttemptOutcome::SyntaxInvalid, reason)
}

fn row(origin: &'static str, text: String, comes: Comes) -> Row {
    Row::answer(origin, Asked::Moderation, text, comes)
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = taken();
    rows.extend(not_taken());
    rows
}

fn taken() -> Vec<Row> {
    let bare = || Comes::Committed(FINE.to_owned());
    let unfenced = || Comes::Unfenced(FINE.to_owned());
    vec![
        row("by itself", FINE.to_owned(), bare()),
        row("with space around it", format!(" \n{FINE}\r\n\t"), bare()),
        row("with a byte order mark", format!("\u{feff}{FINE}"), bare()),
        row("one fence", format!("```\n{FINE}\n```"), unfenced()),
        row(
            "one fence with a word",
            format!("```json\n{FINE}\n```\n"),
            unfenced(),
        ),
        row(
            "one fence with Windows' lines",
            format!("```JSON\r\n{FINE}\r\n```"),
            unfenced(),
        ),
        row(
            "one fence behind a mark",
            format!("\u{feff}```json\n{FINE}\n```"),
            unfenced(),
        ),
    ]
}

fn not_taken() -> Vec<Row> {
    vec![
        row(
            "two fences",
            format!("```json\n{FINE}\n```\n```json\n{FINE}\n```"),
            no_json(3, 1),
        ),
        row(
            "a fence in a fence",
            format!("```\n```json\n{FINE}\n```\n```"),
            no_json(2, 1),
        ),
        row(
            "prose before a fence",
            format!("As asked:\n```\n{FINE}\n```"),
            no_json(1, 1),
        ),
        row(
            "prose behind a fence",
            format!("```\n{FINE}\n```\nAnything else?"),
            no_json(1, 1),
        ),
        row(
            "prose in a fence",
            format!("```\nHere: {FINE}\n```"),
            no_json(2, 1),
        ),
        row("half a fence", format!("```json\n{FINE}"), no_json(1, 1)),
        row("tildes", format!("~~~\n{FINE}\n~~~"), no_json(1, 1)),
        row(
            "a fence in one line",
            format!("```{FINE}```"),
            no_json(1, 1),
        ),
        row(
            "a wrong value in a fence",
            format!("```json\n{}\n```", FINE.replace("other", "none")),
            Comes::Again(
                AttemptOutcome::SchemaInvalid,
                "the answer does not satisfy the schema at /properties/category/enum; the answer \
                 stood in a fence, which was taken away"
                    .to_owned(),
            ),
        ),
        row(
            "an empty fence",
            "```json\n\n```".to_owned(),
            Comes::Again(
                AttemptOutcome::SyntaxInvalid,
                "the answer is empty".to_owned(),
            ),
        ),
    ]
}
