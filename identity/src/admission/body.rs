//! What a body is made of before it is JSON: a compression, a form.

use std::{borrow::Cow, io::Read};

use flate2::bufread::GzDecoder;
use percent_encoding::percent_decode;

use super::{Delivery, Refusal};
use crate::config::ContentEncoding;

/// How a body is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Not at all.
    Identity,
    /// By gzip, in one member.
    Gzip,
}

impl Coding {
    /// What the headers say, if the source takes it.
    pub(super) fn of(allowed: ContentEncoding, delivery: &Delivery<'_>) -> Result<Self, Refusal> {
        let is = |value: &[u8], name: &[u8]| value.eq_ignore_ascii_case(name);
        let values = delivery.values("content-encoding");
        let mut codings = values.filter(|value| !is(value, b"identity"));
        match (codings.next(), codings.next(), allowed) {
            (None, ..) => Ok(Self::Identity),
            (Some(one), None, ContentEncoding::Wire | ContentEncoding::Decoded)
                if is(one, b"gzip") || is(one, b"x-gzip") =>
            {
                Ok(Self::Gzip)
            }
            (Some(_), ..) => Err(Refusal::ContentEncoding),
        }
    }

    /// The bytes without the coding; never more than `limit` of them are held.
    ///
    /// # Errors
    /// [`Refusal::BadContentEncoding`], [`Refusal::TooLarge`].
    pub fn decode<'b>(self, body: Cow<'b, [u8]>, limit: usize) -> Result<Cow<'b, [u8]>, Refusal> {
        match self {
            Self::Identity => Ok(body),
            Self::Gzip => inflate(&body, limit).map(Cow::Owned),
        }
    }
}

fn inflate(body: &[u8], limit: usize) -> Result<Vec<u8>, Refusal> {
    let mut decoder = GzDecoder::new(body);
    let bound = u64::try_from(limit).unwrap_or(u64::MAX);
    let mut inflated = Vec::new();
    let read = decoder
        .by_ref()
        .take(bound.saturating_add(1))
        .read_to_end(&mut inflated);
    match read {
        Err(_) => Err(Refusal::BadContentEncoding),
        Ok(_) if inflated.len() > limit => Err(Refusal::TooLarge { limit }),
        // What follows the end would be signed and never looked at.
        Ok(_) if !decoder.into_inner().is_empty() => Err(Refusal::BadContentEncoding),
        Ok(_) => Ok(inflated),
    }
}

/// The JSON of a body, which a source may take as a form with this field.
pub(super) fn document<'b>(
    form: Option<&str>,
    body: Cow<'b, [u8]>,
) -> Result<Cow<'b, [u8]>, Refusal> {
    match form {
        Some(field) => json_of(field, body),
        None => Ok(body),
    }
}

/// The JSON of a body that may be a form. It is one where it begins with the field's name and `=`,
/// as no JSON does: the signed bytes decide, and no header that anybody may change. The field may
/// stand once, however its name is spelled: two parsers would read two payloads.
fn json_of<'b>(field: &str, body: Cow<'b, [u8]>) -> Result<Cow<'b, [u8]>, Refusal> {
    let rest = body.strip_prefix(field.as_bytes());
    if !rest.is_some_and(|rest| rest.starts_with(b"=")) {
        return Ok(body);
    }
    let pairs = body.split(|byte| *byte == b'&').map(|pair| {
        let mut parts = pair.splitn(2, |byte| *byte == b'=');
        let name = parts.next().unwrap_or_default();
        (name, parts.next().unwrap_or_default())
    });
    let mut named = pairs.filter(|(name, _)| decode_component(name) == field.as_bytes());
    match (named.next(), named.next()) {
        (Some((_, value)), None) => Ok(Cow::Owned(decode_component(value))),
        (None, _) | (Some(_), Some(_)) => Err(Refusal::Form),
    }
}

/// A name or value of a form or a query, as WHATWG's URL standard decodes it.
pub(super) fn decode_component(text: &[u8]) -> Vec<u8> {
    let spaced: Vec<u8> = text
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    percent_decode(&spaced).collect()
}
