//! What a body is made of before it is JSON: forms, gzip.

use std::io::{Read as _, Write as _};

use fencepost_identity::admission::Refusal;
use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};

use crate::{
    Choices,
    components::decode,
    door::{BODY_BYTES_MAX, Knock, knock},
};

fn post<'d>(source: &'d str, encoding: Option<&'d [u8]>, body: &'d [u8]) -> Knock<'d> {
    Knock {
        source,
        method: "POST",
        query: None,
        encoding,
        body,
    }
}

/// A body that may be a form: what its field holds is the payload, as if it had come alone.
pub fn forms(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut body = Vec::new();
    if choices.below(4) > 0 {
        body.extend_from_slice(b"payload=");
        for _ in 0..choices.below(12) {
            let known: &[&[u8]] = &[
                b"%7B%22id%22%3A1%7D",
                b"{\"id\":\"a+b\"}",
                b"&payload=",
                b"&%70ayload=",
                b"&payloa=x",
                b"%",
                b"&",
                b"=",
                b"%2",
                b"+",
                b"%00",
            ];
            body.extend_from_slice(choices.of(known));
        }
    }
    body.extend_from_slice(choices.rest());
    body.truncate(BODY_BYTES_MAX);

    let came = knock(&post("form", None, &body));
    if !body.starts_with(b"payload=") {
        return assert_eq!(came, knock(&post("plain", None, &body)));
    }
    let pairs = body.split(|byte| *byte == b'&').map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=');
        pair.split_at(at.unwrap_or(pair.len()))
    });
    let mut values = pairs.filter(|(name, _)| decode(name) == b"payload");
    match (values.next(), values.next()) {
        (Some((_, value)), None) => {
            let value = decode(value.get(1..).unwrap_or_default());
            assert_eq!(came, knock(&post("plain", None, &value)));
        }
        _ => assert_eq!(came, Err(Refusal::Form)),
    }
}

/// A body that is said to be gzip: it is inflated whole or refused, and never beyond its bound.
pub fn inflated(data: &[u8]) {
    let mut choices = Choices::new(data);
    let body = match choices.below(4) {
        0 => choices.rest().to_vec(),
        kind => {
            let mut plain = choices.bytes(600).to_vec();
            if kind == 2 {
                plain = b"{\"id\":1}".to_vec();
            }
            if kind == 3 {
                let spaces = choices.below(2 * BODY_BYTES_MAX);
                plain.resize(spaces.max(plain.len()), b' ');
            }
            let mut body = gzip(&plain);
            for _ in 0..choices.below(3) {
                body.extend_from_slice(&gzip(choices.bytes(20)));
            }
            choices.damage(&mut body);
            body
        }
    };
    let mut plain = Vec::new();
    let mut decoder = GzDecoder::new(body.as_slice());
    let read = decoder.by_ref().take(1 << 20).read_to_end(&mut plain);
    let whole = read.is_ok() && decoder.into_inner().is_empty();
    for source in ["wire", "decoded"] {
        let came = knock(&post(source, Some(b"gzip"), &body));
        let limit = BODY_BYTES_MAX;
        match (whole, plain.len() > limit) {
            // What breaks off behind the bound may be told for either.
            (false, true) => assert!(came.is_err(), "{came:?}"),
            (false, false) => assert_eq!(came, Err(Refusal::BadContentEncoding)),
            (true, true) => assert_eq!(came, Err(Refusal::TooLarge { limit })),
            (true, false) => assert_eq!(came, knock(&post("plain", None, &plain))),
        }
    }
    let refused = knock(&post("plain", Some(b"gzip"), &body));
    assert_eq!(refused, Err(Refusal::ContentEncoding));
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(plain).and_then(|()| encoder.finish());
    written.unwrap_or_else(|error| panic!("{error}"))
}
