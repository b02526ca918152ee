//! Compressed bodies, where a source takes them.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};

use crate::world::{Seen, World};

const BODY: &str = r#"{"id":"r-1"}"#;
const WIRE: &str = "verify = \"github\"\ncontent_encoding = \"wire\"\nmax_body_bytes = 2000";
const DECODED: &str = "verify = \"github\"\ncontent_encoding = \"decoded\"\nmax_body_bytes = 2000";

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// A delivery of these bytes with a signature over those.
fn deliver(source: &str, sent: &[u8], signed: &[u8]) -> Seen {
    let world = World::hook(source);
    let request = world.signed(signed).carrying(sent);
    world.deliver(&request.header("content-encoding", "gzip"))
}

fn padded(bytes: usize) -> Vec<u8> {
    format!("{BODY}{}", " ".repeat(bytes - BODY.len())).into_bytes()
}

#[test]
fn the_signature_covers_what_the_source_says_and_nothing_else_is_tried() {
    let (plain, packed) = (BODY.as_bytes(), gzip(BODY.as_bytes()));
    let stored = deliver(WIRE, &packed, &packed).is_stored();
    assert_eq!(deliver(DECODED, &packed, plain).is_stored(), stored);
    for seen in [
        deliver(WIRE, &packed, plain),
        deliver(DECODED, &packed, &packed),
    ] {
        seen.is_refused(401, "unauthorized", "signature_mismatch");
    }
    // Without the header these bytes are what they are.
    for source in [WIRE, DECODED] {
        let world = World::hook(source);
        let seen = world.deliver(&world.signed(packed.clone()));
        seen.is_refused(400, "invalid_json", "invalid_json");
        world.deliver(&world.signed(BODY)).is_stored();
    }
    let form = gzip(b"payload=%7B%22id%22%3A%22r-1%22%7D");
    assert_eq!(deliver(WIRE, &form, &form).is_stored(), stored);
}

#[test]
fn a_body_that_is_not_gzip_to_its_end_is_refused() {
    let packed = gzip(BODY.as_bytes());
    let mut trailing = packed.clone();
    trailing.push(0);
    let mut checksum = packed.clone();
    let at = checksum.len() - 8;
    checksum[at] ^= 1;
    let members = [packed.clone(), packed.clone()].concat();
    for sent in [
        b"".to_vec(),
        BODY.into(),
        vec![0x1f, 0x8b],
        packed[..packed.len() - 1].to_vec(),
        trailing,
        checksum,
        members,
    ] {
        let seen = deliver(WIRE, &sent, &sent);
        seen.is_refused(400, "bad_content_encoding", "bad_content_encoding");
        // Where it is not signed, nobody hears of that: only the bytes as sent are looked at.
        let seen = deliver(WIRE, &sent, b"something else");
        seen.is_refused(401, "unauthorized", "signature_mismatch");
        let seen = deliver(DECODED, &sent, BODY.as_bytes());
        seen.is_refused(400, "bad_content_encoding", "bad_content_encoding");
    }
}

#[test]
fn the_bound_is_one_of_what_comes_out() {
    let fits = padded(2000);
    let packed = gzip(&fits);
    deliver(WIRE, &packed, &packed).is_stored();
    deliver(DECODED, &packed, &fits).is_stored();
    for bytes in [2001, 1 << 20, 64 << 20] {
        let large = padded(bytes);
        let packed = gzip(&large);
        let packed = packed.get(..1900).map_or(packed.clone(), <[u8]>::to_vec);
        for seen in [
            deliver(WIRE, &packed, &packed),
            deliver(DECODED, &packed, &large),
        ] {
            seen.is_refused(413, "too_large", "too_large");
            assert_eq!(seen.line()["limit_bytes"], 2000);
        }
    }
    // And of what goes in.
    let seen = deliver(WIRE, &vec![0; 2001], b"");
    seen.is_refused(413, "too_large", "too_large");
    assert!(seen.asked.is_empty());
}

#[test]
fn one_coding_is_taken_however_it_is_spelled_and_no_other() {
    let world = World::hook(WIRE);
    let packed = gzip(BODY.as_bytes());
    let coded = |codings: &[&str]| {
        let signed = world.signed(packed.clone());
        let request = codings.iter().fold(signed, |request, coding| {
            request.header("Content-Encoding", *coding)
        });
        world.deliver(&request)
    };
    for codings in [
        ["gzip"].as_slice(),
        &["GZip"],
        &["x-gzip"],
        &["identity", "gzip"],
    ] {
        coded(codings).is_stored();
    }
    for codings in [
        ["br"].as_slice(),
        &["deflate"],
        &["gzip, gzip"],
        &["gzip,identity"],
        &["gzip", "gzip"],
        &["br", "gzip"],
        &["gzip", "br"],
        &[""],
        &["gzip;q=1"],
        &["zstd"],
    ] {
        let code = "unsupported_content_encoding";
        coded(codings).is_refused(415, code, code);
    }
}
