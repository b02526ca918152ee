//! One kind of damage after another.

use super::chance::Chance;
use crate::{Case, Header};

const JUNK: [&str; 14] = [
    "",
    "0",
    "+1800000000",
    "-1800000000",
    "01800000000",
    "1800000000abc",
    "1.8e9",
    "NaN",
    "1800000000000",
    "9223372036854775807",
    "1111111111111111111111111111111111111111",
    "2027-01-15T08:00:00Z",
    "2027-01-15T08:00:00",
    "Fri, 15 Jan 2027 08:00:00 GMT",
];
const PIECES: [&str; 12] = [
    "sha256=",
    "sha1=",
    "v0=",
    "v1=",
    "v1,",
    "v1a,",
    "=",
    ",",
    " ",
    ";",
    "t=1800000000,",
    "Basic ",
];
const SHIFTS: [u64; 14] = [
    1, 5, 6, 59, 60, 61, 299, 300, 301, 302, 599, 600, 601, 1_000_000,
];

/// Damages a delivery in one way, and says in which.
pub(super) fn damage(case: &mut Case, others: &[&Case], chance: &mut Chance) -> &'static str {
    match chance.below(12) {
        0 => body(case, chance),
        1 => signs(case, chance),
        2 => length(case, chance),
        3 => headers(case, chance),
        4 => order(case, chance),
        5 => names(case, chance),
        6 => splice(case, chance),
        7 => clock(case, chance),
        8 => exchange(case, others, chance),
        9 => stamps(case, chance),
        10 => letters(case, chance),
        _ => around(case, chance),
    }
}

fn body(case: &mut Case, chance: &mut Chance) -> &'static str {
    case.chunks = None;
    let at = chance.below(case.body.len());
    match chance.below(3) {
        0 if !case.body.is_empty() => {
            case.body[at] ^= 1 << chance.below(8);
            "a bit of the body turned"
        }
        1 if !case.body.is_empty() => {
            case.body.remove(at);
            "a byte of the body lost"
        }
        _ => {
            case.body.insert(at, chance.byte());
            "a byte put into the body"
        }
    }
}

/// One of the values, unless there is none.
fn value<'c>(case: &'c mut Case, chance: &mut Chance) -> Option<&'c mut Vec<u8>> {
    let at = chance.below(case.headers.len());
    case.headers.get_mut(at).map(|header| &mut header.value)
}

fn signs(case: &mut Case, chance: &mut Chance) -> &'static str {
    if let Some(value) = value(case, chance).filter(|value| !value.is_empty()) {
        let at = chance.below(value.len());
        value[at] = match chance.below(3) {
            0 => value[at] ^ (1 << chance.below(8)),
            1 => *chance.pick(b"0123456789abcdefABCDEF+/-_=.,: "),
            _ => chance.byte(),
        };
    }
    "a sign of a header exchanged"
}

fn length(case: &mut Case, chance: &mut Chance) -> &'static str {
    if let Some(value) = value(case, chance) {
        let at = chance.below(value.len().saturating_add(1));
        if chance.one_in(2) {
            value.truncate(at);
        } else {
            value.insert(at, *chance.pick(b"0aZ=,. "));
        }
    }
    "a header cut or lengthened"
}

fn headers(case: &mut Case, chance: &mut Chance) -> &'static str {
    if case.headers.is_empty() {
        return "nothing";
    }
    let at = chance.below(case.headers.len());
    if chance.one_in(2) {
        case.headers.remove(at);
        return "a header dropped";
    }
    let again = case.headers[at].clone();
    let to = chance.below(case.headers.len().saturating_add(1));
    case.headers.insert(to, again);
    "a header doubled"
}

fn order(case: &mut Case, chance: &mut Chance) -> &'static str {
    for last in (1..case.headers.len()).rev() {
        case.headers
            .swap(last, chance.below(last.saturating_add(1)));
    }
    "headers in another order"
}

fn names(case: &mut Case, chance: &mut Chance) -> &'static str {
    for header in &mut case.headers {
        let swap = |letter: char| match chance.one_in(2) {
            true => letter.to_ascii_uppercase(),
            false => letter.to_ascii_lowercase(),
        };
        header.name = header.name.chars().map(swap).collect();
    }
    "header names in mixed case"
}

fn splice(case: &mut Case, chance: &mut Chance) -> &'static str {
    let piece = chance.pick(&PIECES).bytes();
    if let Some(value) = value(case, chance) {
        let ends = [0, value.len(), chance.below(value.len())];
        let at = *chance.pick(&ends);
        value.splice(at..at, piece);
    }
    "a prefix put into a header"
}

fn clock(case: &mut Case, chance: &mut Chance) -> &'static str {
    let shift = *chance.pick(&SHIFTS);
    if chance.one_in(2) {
        case.clock = case.clock.saturating_add(shift);
        return "the clock put forward";
    }
    case.clock = case.clock.saturating_sub(shift);
    "the clock put back"
}

/// Takes from another right delivery a header's value, or all that both have, or the body: signed
/// with another secret, at another time, or over something else.
fn exchange(case: &mut Case, others: &[&Case], chance: &mut Chance) -> &'static str {
    let other = *chance.pick(others);
    if chance.one_in(4) {
        case.chunks = None;
        case.body.clone_from(&other.body);
        return "the body of another delivery";
    }
    let all = chance.one_in(2);
    for header in &mut case.headers {
        let same = |other: &&Header| other.name.eq_ignore_ascii_case(&header.name);
        if let Some(found) = other.headers.iter().find(same)
            && (all || chance.one_in(2))
        {
            header.value.clone_from(&found.value);
        }
    }
    "headers of another delivery"
}

fn stamps(case: &mut Case, chance: &mut Chance) -> &'static str {
    let junk = *chance.pick(&JUNK);
    for header in &mut case.headers {
        let digits = |byte: &u8| byte.is_ascii_digit();
        if header.name.to_ascii_lowercase().contains("timestamp") {
            header.value = junk.as_bytes().to_vec();
            continue;
        }
        let Some(start) = header
            .value
            .windows(10)
            .position(|ten| ten.iter().all(digits))
        else {
            continue;
        };
        let run = header
            .value
            .iter()
            .skip(start)
            .take_while(|byte| digits(byte));
        let end = start.saturating_add(run.count());
        header.value.splice(start..end, junk.bytes());
    }
    "another timestamp"
}

fn letters(case: &mut Case, chance: &mut Chance) -> &'static str {
    let upper = chance.one_in(2);
    if let Some(value) = value(case, chance) {
        match upper {
            true => value.make_ascii_uppercase(),
            false => value.make_ascii_lowercase(),
        }
    }
    "a header in other letters"
}

/// What stands around a signature and doesn't belong to it.
fn around(case: &mut Case, chance: &mut Chance) -> &'static str {
    match chance.below(4) {
        0 => {
            case.query = Some("x=1".to_owned());
            "a query"
        }
        1 if case.tenant.is_some() => {
            case.tenant = Some((*chance.pick(&["acme", "globex", "initech"])).to_owned());
            "another tenant in the route"
        }
        2 if case.body.len() > 1 => {
            let first = chance
                .below(case.body.len().saturating_sub(1))
                .saturating_add(1);
            case.chunks = Some(vec![first, case.body.len().saturating_sub(first)]);
            "a body in parts"
        }
        _ => {
            let at = chance.below(case.headers.len().saturating_add(1));
            let names = [
                "X-Request-Id",
                "X-Forwarded-For",
                "Origin",
                "Content-Type",
                "User-Agent",
            ];
            let header = Header {
                name: (*chance.pick(&names)).to_owned(),
                value: b"https://x.test".to_vec(),
            };
            case.headers.insert(at, header);
            "a header that nothing asks for"
        }
    }
}
