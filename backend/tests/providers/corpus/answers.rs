//! Text that is not one JSON value, or is one that two readers would read as two.

use fencepost::report::AttemptOutcome;
use fencepost_model::Behaviour;

use super::{Asked, Comes, FINE, Row};

fn syntax(reason: &str) -> Comes {
    Comes::Again(AttemptOutcome::SyntaxInvalid, reason.to_owned())
}

fn no_json(column: usize) -> Comes {
    syntax(&format!(
        "the answer is not one JSON value: line 1, column {column}"
    ))
}

/// A moderation whose category and confidence read so.
fn moderation(category: &str, confidence: &str) -> String {
    format!(r#"{{"category":{category},"confidence":{confidence},"needsHumanReview":false}}"#)
}

fn row(origin: &'static str, text: &str, comes: Comes) -> Row {
    Row::answer(origin, Asked::Moderation, text, comes)
}

pub(super) fn rows() -> Vec<Row> {
    [
        strings(),
        numbers(),
        names(),
        surroundings(),
        sizes(),
        halves(),
        nothing(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Strings that end early, or hold what has to be escaped.
fn strings() -> Vec<Row> {
    vec![
        row(
            "mem0 #5623; deer-flow #2368; SICTIC-AI #37: a comma after the last member",
            r#"{"category":"spam","confidence":0.5,"needsHumanReview":true,}"#,
            no_json(61),
        )
        .numbered(5),
        row(
            "json_repair #49, #73: quotes inside a string",
            r#"{"summary":"said "no", ok"}"#,
            no_json(19),
        )
        .numbered(7),
        row(
            "klaussy-desktop #23: a line break in a string",
            "{\"summary\":\"a\nb\"}",
            no_json(14),
        )
        .numbered(33),
        row(
            "klaussy-desktop #23: a control character in a string",
            "{\"summary\":\"a\u{1}b\"}",
            no_json(14),
        )
        .numbered(33),
        row("NUL in a string", "{\"summary\":\"a\u{0}b\"}", no_json(14)),
    ]
}

/// What JavaScript, Python or a model takes for JSON.
fn numbers() -> Vec<Row> {
    vec![
        row("not a number", &moderation("\"spam\"", "NaN"), no_json(33)),
        row(
            "infinity",
            &moderation("\"spam\"", "-Infinity"),
            no_json(34),
        ),
        row(
            "no digit before the point",
            &moderation("\"spam\"", ".5"),
            no_json(33),
        ),
        row("hexadecimal", &moderation("\"spam\"", "0x1"), no_json(34)),
        row("single quotes", &moderation("'spam'", "1"), no_json(13)),
        row("Python's words", &moderation("None", "1"), no_json(13)),
        row(
            "a comment",
            &moderation("\"spam\"/*sure*/", "1"),
            no_json(19),
        ),
        row(
            "a number that no double holds",
            &moderation("\"spam\"", "1e400"),
            syntax("a number of the answer is out of range: line 1, column 37"),
        ),
    ]
}

/// Two parsers would read two answers.
fn names() -> Vec<Row> {
    vec![
        row(
            "the same name twice",
            r#"{"category":"spam","confidence":1,"category":"other","needsHumanReview":false}"#,
            syntax("the answer names a member twice: line 1, column 44"),
        ),
        row(
            "the same name twice, spelled differently",
            r#"{"category":"spam","confidence":1,"cat\u0065gory":"other"}"#,
            syntax("the answer names a member twice: line 1, column 49"),
        ),
        row(
            "the same name twice, deep inside",
            r#"{"a":[{"b":{"c":1,"c":2}}]}"#,
            syntax("the answer names a member twice: line 1, column 21"),
        ),
    ]
}

/// More or less than one value.
fn surroundings() -> Vec<Row> {
    vec![
        row(
            "two objects",
            &format!("{FINE}\n{FINE}"),
            syntax("the answer is not one JSON value: line 2, column 1"),
        ),
        row(
            "two objects in one line",
            &format!("{FINE}{FINE}"),
            no_json(63),
        ),
        row("prose before", &format!("Sure! {FINE}"), no_json(1)),
        row("prose behind", &format!("{FINE} Is that all?"), no_json(64)),
        row("nothing but prose", "This is spam.", no_json(1)),
        row("a part only", r#"{"category":"spam","#, no_json(19)),
    ]
}

/// More than is read.
fn sizes() -> Vec<Row> {
    vec![
        row(
            "more than 32 levels",
            &("[".repeat(33) + &"]".repeat(33)),
            syntax("the answer has more than 32 levels: line 1, column 33"),
        ),
        row(
            "more than 32 levels of objects",
            &("{\"a\":".repeat(32) + "[{}]" + &"}".repeat(32)),
            syntax("the answer has more than 32 levels: line 1, column 161"),
        ),
        row(
            "256 KiB and a byte",
            &long(256 * 1024 + 1),
            syntax("the answer has more than 262144 bytes"),
        ),
    ]
}

/// Half of a pair, which is no character.
fn halves() -> Vec<Row> {
    [
        (
            "half of a surrogate pair",
            r#"{\"category\":\"\ud800\"}"#,
            20,
        ),
        ("the other half", r#"{\"category\":\"\udc00!\"}"#, 19),
        ("half of a pair in a name", r#"{\"\ud83d\":1}"#, 9),
    ]
    .into_iter()
    .map(|(origin, escaped, column)| {
        let reason = "a string of the answer holds half of a surrogate pair";
        let reason = format!("{reason}: line 1, column {column}");
        Row::behaviour(
            origin,
            Behaviour::Escaped(escaped.to_owned()),
            syntax(&reason),
        )
    })
    .collect()
}

fn nothing() -> Vec<Row> {
    vec![
        Row::own(
            "SpeakMCP #797; litellm #24462; vllm #45736: nothing said, and all was said",
            |who| Some(who.nothing_said()),
            syntax("the answer is empty"),
        )
        .numbered(24),
        row("an empty text", "", syntax("the answer is empty")),
        row("white space", " \n\t", syntax("the answer is empty")),
    ]
}

/// A text of that length that is JSON.
fn long(bytes: usize) -> String {
    let empty = r#"{"summary":""}"#;
    empty.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - empty.len())))
}
