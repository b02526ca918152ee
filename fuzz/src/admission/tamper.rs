//! What an attacker, or a proxy, may do to a delivery.

use std::io::Write as _;

use fencepost_conformance::{Case, Header};
use flate2::{Compression, write::GzEncoder};

use crate::{Choices, world::World};

const PIECES: &[&str] = &[
    ",",
    " ",
    "=",
    "v1,",
    "v1=",
    "v0=",
    "v1a,",
    "t=",
    "t=1800000000",
    "sha256=",
    "sha1=",
    "+",
    "0",
    ";",
    "\t",
    "Basic ",
    ".",
    ":",
    "-",
];
const SHIFTS: &[i64] = &[
    1,
    -1,
    60,
    -60,
    61,
    -61,
    300,
    -300,
    301,
    -301,
    86_400,
    i64::MAX,
    i64::MIN,
];
/// More than any clock shows; beyond it the two would have to differ.
const CLOCK_MAX: u64 = 1 << 62;
const SEGMENTS: &[Option<&str>] = &[
    None,
    Some("acme"),
    Some("globex"),
    Some("%61cme"),
    Some("acme%00"),
    Some(""),
    Some("edge_secret"),
];
const QUERIES: &[Option<&str>] = &[
    None,
    Some("challenge=c"),
    Some("validationToken=v"),
    Some("hub.mode=subscribe&hub.verify_token=x&hub.challenge=c"),
];

/// Does one thing to it. Others that were signed may lend their parts, and join `signed`.
pub(super) fn tamper(
    world: &World,
    sent: &mut Case,
    signed: &mut Vec<Case>,
    choices: &mut Choices<'_>,
) {
    match choices.below(11) {
        0 => choices.damage(&mut sent.body),
        1 => {
            let clock = sent.clock.saturating_add_signed(choices.of(SHIFTS));
            sent.clock = clock.min(CLOCK_MAX);
        }
        2 => sent.tenant = choices.of(SEGMENTS).map(str::to_owned),
        3 => {
            sent.method = (choices.of(&["POST", "GET", "HEAD", "PUT"])).to_owned();
            sent.query = choices.of(QUERIES).map(str::to_owned);
        }
        4 => encode(sent, choices),
        5 => borrow(world, sent, signed, choices),
        6 if !world.right.is_empty() => {
            let other = &world.right[choices.below(world.right.len())];
            sent.configuration.clone_from(&other.configuration);
        }
        7 => shift(sent, choices),
        _ => with_header(sent, choices),
    }
}

pub(super) fn header(name: impl Into<String>, value: impl Into<Vec<u8>>) -> Header {
    Header {
        name: name.into(),
        value: value.into(),
    }
}

fn encode(sent: &mut Case, choices: &mut Choices<'_>) {
    if choices.below(2) == 0 {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let body = encoder
            .write_all(&sent.body)
            .and_then(|()| encoder.finish());
        sent.body = body.unwrap_or_else(|error| panic!("{error}"));
    }
    let value = choices.of(&["gzip", "x-gzip", "identity", "br", "gzip, gzip", ""]);
    sent.headers.push(header("Content-Encoding", value));
}

/// Takes headers, the body or everything from another delivery of the same source.
fn borrow(world: &World, sent: &mut Case, signed: &mut Vec<Case>, choices: &mut Choices<'_>) {
    let same = |case: &&Case| case.configuration == sent.configuration;
    let others: Vec<&Case> = world.right.iter().filter(same).collect();
    if others.is_empty() {
        return;
    }
    let other = choices.of(&others);
    signed.push(other.clone());
    match choices.below(3) {
        0 => sent.headers.extend(other.headers.iter().cloned()),
        1 => sent.body.clone_from(&other.body),
        _ => sent.headers.clone_from(&other.headers),
    }
}

/// Moves bytes between the end of a header's value and the beginning of the body, or of another's.
fn shift(sent: &mut Case, choices: &mut Choices<'_>) {
    if sent.headers.is_empty() {
        return;
    }
    let at = choices.below(sent.headers.len());
    let count = 1 + choices.below(4);
    let to = choices.below(sent.headers.len() + 1);
    let from = &mut sent.headers[at].value;
    match choices.below(3) {
        0 => {
            let moved = from.split_off(from.len().saturating_sub(count));
            let into = match sent.headers.get_mut(to) {
                Some(header) if to != at => &mut header.value,
                _ => &mut sent.body,
            };
            drop(into.splice(0..0, moved));
        }
        1 => {
            let count = count.min(sent.body.len());
            from.extend(sent.body.drain(..count));
        }
        _ => {
            // Where the two stand with this between them, what is signed stays as it is.
            let between = choices.of(&[".", ":"]).as_bytes();
            let end = sent.body.windows(1).position(|byte| byte == between);
            if let Some(end) = end {
                from.extend_from_slice(between);
                from.extend(sent.body.drain(..end));
                sent.body.remove(0);
            }
        }
    }
}

fn with_header(sent: &mut Case, choices: &mut Choices<'_>) {
    if sent.headers.is_empty() {
        return;
    }
    let at = choices.below(sent.headers.len());
    let header = &mut sent.headers[at];
    match choices.below(8) {
        0 => choices.damage(&mut header.value),
        1 => drop(sent.headers.remove(at)),
        2 => {
            let again = header.clone();
            sent.headers.push(again);
        }
        3 => header.name = header.name.to_ascii_uppercase(),
        4 => header.value = header.value.to_ascii_uppercase(),
        5 => {
            let piece = choices.of(PIECES).bytes();
            let to = choices.below(header.value.len() + 1);
            drop(header.value.splice(to..to, piece));
        }
        6 => {
            let again = header.value.clone();
            header
                .value
                .extend_from_slice(choices.of(PIECES).as_bytes());
            header.value.extend(again);
        }
        _ => {
            let other = choices.below(sent.headers.len());
            let value = sent.headers[other].value.clone();
            sent.headers[at].value = value;
        }
    }
}
