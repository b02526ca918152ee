//! What comes in an answer's place, or of it.

use std::{io::Write as _, sync::OnceLock};

use fencepost_model::Behaviour;
use flate2::{Compression, write::GzEncoder};
use serde_json::json;

use super::{BROKEN, Comes, FINE, Row};
use crate::who::{Who, answering, responding};

const BOUND: usize = 1024 * 1024;

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Far more than is read of any answer, in a body that is far smaller.
fn bomb() -> Vec<u8> {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    let bomb = BOMB.get_or_init(|| zipped(&vec![b' '; 32 * BOUND]));
    assert!(bomb.len() < BOUND / 2);
    bomb.clone()
}

/// An answer whose length is told like this.
fn measured(who: Who, tell: impl Fn(usize) -> usize, sent: impl Fn(usize) -> usize) -> Behaviour {
    let whole = who.barely(FINE).into_bytes();
    let (told, sent) = (tell(whole.len()), sent(whole.len()));
    let part = whole.into_iter().take(sent).collect::<Vec<_>>();
    answering(part).with("content-length", told.to_string())
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = of_another();
    rows.extend(in_part());
    rows.extend(in_bulk());
    rows
}

fn fine() -> Comes {
    Comes::Committed(FINE.to_owned())
}

/// Of an answer, and with a length that is right or wrong.
fn in_part() -> Vec<Row> {
    vec![
        Row::behaviour("the connection closes at once", Behaviour::HangUp, BROKEN),
        Row::behaviour(
            "the connection closes in the middle",
            Behaviour::BreakOff,
            BROKEN,
        ),
        Row::own(
            "all of it, with its length",
            |who| Some(measured(who, |all| all, |all| all)),
            fine(),
        ),
        Row::own(
            "half of it, with the right length",
            |who| Some(measured(who, |all| all, |all| all / 2)),
            BROKEN,
        ),
        Row::own(
            "all but the last byte, with the right length",
            |who| Some(measured(who, |all| all, |all| all - 1)),
            BROKEN,
        ),
        Row::own(
            "half of it, with the length of that half",
            |who| Some(measured(who, |all| all / 2, |all| all)),
            BROKEN,
        ),
        Row::own(
            "more is told than there is",
            |who| Some(measured(who, |all| all + 1, |all| all)),
            BROKEN,
        ),
    ]
}

/// Too much, or in another form.
fn in_bulk() -> Vec<Row> {
    vec![
        Row::own(
            "as much as is read, space around it",
            |who| {
                let body = who.barely(FINE);
                Some(answering(body.clone() + &" ".repeat(BOUND - body.len())))
            },
            fine(),
        ),
        Row::own(
            "a byte more than is read",
            |who| {
                let body = who.barely(FINE);
                Some(answering(
                    body.clone() + &" ".repeat(BOUND + 1 - body.len()),
                ))
            },
            BROKEN,
        ),
        Row::own(
            "not UTF-8",
            |who| Some(answering([who.barely(FINE).as_bytes(), b"\xff"].concat())),
            BROKEN,
        ),
        Row::own(
            "two answers in one body",
            |who| Some(answering(who.barely(FINE).repeat(2))),
            BROKEN,
        ),
        Row::own(
            "zipped, which nobody asked for",
            |who| {
                let body = zipped(who.barely(FINE).as_bytes());
                Some(answering(body).with("content-encoding", "gzip"))
            },
            BROKEN,
        ),
        Row::own(
            "a bomb",
            |_| Some(answering(bomb()).with("content-encoding", "gzip")),
            BROKEN,
        ),
    ]
}

/// Bodies that are no provider's answer, whoever was asked.
fn of_another() -> Vec<Row> {
    let page = answering("<html><form>Sign in to this network</form></html>");
    let mut rows = vec![
        Row::behaviour(
            "a page of a network that wants a sign-in",
            page.with("content-type", "text/html"),
            BROKEN,
        ),
        Row::own(
            "200 with an error of the provider",
            |who| Some(who.error(200)),
            BROKEN,
        ),
    ];
    for body in [
        "",
        "null",
        "[]",
        "{}",
        "\"{}\"",
        "a\0b",
        r#"{"error":"busy"}"#,
        r#"{"choices":[]}"#,
        r#"{"choices":[{}],"content":{},"output":{},"candidates":{}}"#,
        r#"{"candidates":[]}"#,
    ] {
        rows.push(Row::behaviour(
            "no answer in the body",
            answering(body),
            BROKEN,
        ));
    }
    for status in [301, 302, 303, 307, 308] {
        let location = "http://127.0.0.1:9/v1/elsewhere";
        let body = json!({ "moved": true }).to_string();
        rows.push(Row::behaviour(
            "sent elsewhere, where the key does not go",
            responding(status, body).with("location", location),
            BROKEN,
        ));
    }
    rows
}
