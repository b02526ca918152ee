//! What a body is made of before it is JSON: forms, gzip.

use std::io::{Read as _, Write as _};

use fencepost_identity::admission::Refusal;
use flate2::{Compression, bufread::MultiGzDecoder, write::GzEncoder};

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
    let mut reader = MultiGzDecoder::new(body.as_slice()).take(1 << 20);
    let whole = reader.read_to_end(&mut plain).is_ok();
    for source in ["wire", "decoded"] {
        let came = knock(&post(source, Some(b"gzip"), &body));
        let same = || {
            let mut one = knock(&post("plain", None, &plain));
            if let Err(Refusal::TooLarge { .. }) = one {
                one = Err(Refusal::BadContentEncoding);
            }
            one
        };
        match &came {
            Err(Refusal::BadContentEncoding) => {}
            Err(Refusal::TooLarge { limit }) => {
                assert_eq!(*limit, BODY_BYTES_MAX);
                assert!(body.len() > BODY_BYTES_MAX || plain.len() > BODY_BYTES_MAX);
            }
            _ => {
                assert!(whole && plain.len() <= BODY_BYTES_MAX, "{came:?}");
                assert_eq!(came, same());
            }
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
