//! What a signature covers.

use std::io::Read as _;

use fencepost_conformance::Case;
use fencepost_identity::{
    config::ContentEncoding,
    signature::{Scheme, Shape, Signed, StampSource, Word},
};
use flate2::bufread::GzDecoder;

use crate::{components::decode, world::World};

/// The parts of a delivery that its sender's signature covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    tenant: Option<Vec<u8>>,
    body: Vec<u8>,
    /// The values of the headers that hold the id and the time.
    beside: Vec<Vec<u8>>,
}

impl Parts {
    /// What a source takes for signed of a delivery; nothing where its sender only shows a token.
    pub(super) fn of(world: &World, source: &str, sent: &Case) -> Option<Self> {
        let source = world.sources().get(source)?;
        let Scheme::Signed(scheme) = &source.verify.scheme else {
            return None;
        };
        let values = |name: &str| {
            let named = sent
                .headers
                .iter()
                .filter(|header| header.name.eq_ignore_ascii_case(name));
            named.map(|header| header.value.clone()).collect::<Vec<_>>()
        };
        let mut beside = Vec::new();
        for place in &scheme.places {
            if values(&place.signature).is_empty() {
                continue;
            }
            for (word, name) in [(Word::Id, &place.id), (Word::Timestamp, &place.timestamp)] {
                if scheme.template.names(word) {
                    beside.extend(name.iter().flat_map(|name| values(name)));
                }
            }
            for value in values(&place.signature) {
                beside.extend(times_among(scheme, &value));
            }
        }
        let coded = sent.headers.iter().any(|header| {
            header.name.eq_ignore_ascii_case("content-encoding")
                && header.value.to_ascii_lowercase().ends_with(b"gzip")
        });
        let mut body = sent.body.clone();
        if coded && source.content_encoding == ContentEncoding::Decoded {
            let mut plain = Vec::new();
            let mut reader = GzDecoder::new(body.as_slice()).take(1 << 20);
            reader.read_to_end(&mut plain).ok()?;
            body = plain;
        }
        Some(Self {
            tenant: sent
                .tenant
                .as_deref()
                .map(|segment| decode(segment.as_bytes())),
            body,
            beside,
        })
    }
}

/// The pairs of a signature's header that hold its time.
fn times_among(scheme: &Signed, value: &[u8]) -> Vec<Vec<u8>> {
    let stamp = scheme.stamp.as_ref().map(|stamp| &stamp.source);
    let (
        Some(StampSource::Pair(name)),
        Shape::Pairs {
            separator, equals, ..
        },
    ) = (stamp, &scheme.shape)
    else {
        return vec![];
    };
    let start = format!("{name}{equals}").into_bytes();
    let pairs = value.split(|byte| char::from(*byte) == *separator);
    let times = pairs
        .map(<[u8]>::trim_ascii)
        .filter(|pair| pair.starts_with(&start));
    times.map(<[u8]>::to_vec).collect()
}
