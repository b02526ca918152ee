//! What a body is before anything is read in it: compressed, perhaps.

use std::io::Read;

use flate2::bufread::GzDecoder;

use super::{Judgement, Step};

const BAD_CODING: Judgement = Judgement::Refused("bad_content_encoding");

/// How a body says that it is coded.
#[derive(Clone, Copy)]
pub(super) enum Coding {
    Plain,
    Gzip,
}

impl Coding {
    pub(super) fn of(how: Option<&str>, values: &[&[u8]]) -> Step<Self> {
        let lower: Vec<Vec<u8>> = values
            .iter()
            .map(|value| value.to_ascii_lowercase())
            .collect();
        let mut codings = lower.iter().filter(|value| *value != b"identity");
        match (codings.next(), codings.next(), how) {
            (None, _, _) => Ok(Self::Plain),
            (Some(one), None, Some(_)) if one == b"gzip" || one == b"x-gzip" => Ok(Self::Gzip),
            (Some(_), _, _) => Err(Judgement::Refused("unsupported_content_encoding")),
        }
    }

    pub(super) fn inflate(self, body: &[u8], limit: usize) -> Step<Vec<u8>> {
        if let Self::Plain = self {
            return Ok(body.to_vec());
        }
        let mut decoder = GzDecoder::new(body);
        let mut inflated = Vec::new();
        let mut piece = [0; 4096];
        loop {
            match decoder.read(&mut piece) {
                Err(_) => return Err(BAD_CODING),
                Ok(0) => break,
                Ok(read) => inflated.extend(piece.iter().take(read)),
            }
            if inflated.len() > limit {
                return Err(Judgement::Refused("too_large"));
            }
        }
        match decoder.into_inner() {
            [] => Ok(inflated),
            _ => Err(BAD_CODING),
        }
    }
}

/// A segment of a route, its escapes read once; nothing for one that is malformed.
pub(super) fn percent_decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            bytes.push(is_hex.then(|| u8::from_str_radix(digits, 16).ok())??);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
