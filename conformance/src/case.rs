//! A case: one delivery, and what has to come of it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::file;

/// Every case of `cases.json`, in its order.
///
/// # Panics
/// Where `cases.json` is malformed.
#[must_use]
pub fn cases() -> Vec<Case> {
    file().cases
}

/// One delivery, and what has to come of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// A sentence, unique among all cases.
    pub name: String,
    /// What it was made from.
    pub from: Origin,
    /// The name of its configuration, which is that of its source.
    pub configuration: String,
    /// The edge's clock, in seconds since 1970.
    pub clock: u64,
    /// In capitals.
    #[serde(default = "post")]
    pub method: String,
    /// What follows `?` in the address.
    #[serde(default)]
    pub query: Option<String>,
    /// The last segment of the route as it is sent, where there is one.
    #[serde(default)]
    pub tenant: Option<String>,
    /// In the order in which they are sent.
    pub headers: Vec<Header>,
    /// The body's bytes.
    #[serde(deserialize_with = "base64")]
    pub body: Vec<u8>,
    /// The lengths of the parts that the body comes in, chunked and without a declared length;
    /// nothing for a body in one part with its length declared.
    #[serde(default)]
    pub chunks: Option<Vec<usize>>,
    /// What has to come of it.
    pub expect: Expected,
}

/// What a case was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// An example that somebody has published, or its exact opposite.
    Vector,
    /// A defect that somebody has reported of some verifier.
    Report,
    /// What a scheme or the configuration's grammar says.
    Scheme,
    /// Another case, damaged at random; none such stands in `cases.json`.
    Generated,
}

/// A header of a delivery. The value neither begins nor ends with a blank, and has no control
/// character but a tab: HTTP would not carry those.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// In the case in which it is sent.
    pub name: String,
    /// Not always ASCII, nor UTF-8.
    pub value: Vec<u8>,
}

/// What has to come of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Of which kind it is.
    pub verdict: Verdict,
    /// The answer's status, with a backend that takes every report for the first of its kind.
    pub status: u16,
    /// The code of the problem document, where the answer is one.
    pub code: Option<String>,
    /// What the log names as the reason, where that is fixed.
    #[serde(default)]
    pub reason: Option<String>,
    /// The whole body of a handshake's answer.
    #[serde(default)]
    pub answer: Option<String>,
}

/// Of which kind the outcome is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is a report, and was forwarded.
    Accepted,
    /// It is signed, and none of the events that the source asks for.
    Ignored,
    /// It is a provider's question, and was answered; nothing was forwarded.
    Handshake,
    /// Its sender did something wrong.
    Refused,
    /// The edge can't do its work, whatever the sender does.
    Misconfigured,
}

impl Case {
    /// The path of its route, with its query.
    #[must_use]
    pub fn target(&self) -> String {
        let mut target = format!("/hooks/{}", self.configuration);
        for (mark, part) in [('/', &self.tenant), ('?', &self.query)] {
            if let Some(part) = part {
                target.push(mark);
                target.push_str(part);
            }
        }
        target
    }

    /// The body in the parts that it comes in.
    ///
    /// # Panics
    /// Where the parts are together not as long as the body.
    #[must_use]
    pub fn pieces(&self) -> Vec<Vec<u8>> {
        let Some(lengths) = &self.chunks else {
            return vec![self.body.clone()];
        };
        let mut rest = self.body.as_slice();
        let mut pieces = Vec::new();
        for length in lengths {
            let Some((piece, after)) = rest.split_at_checked(*length) else {
                panic!("{}: the parts are longer than the body", self.name);
            };
            pieces.push(piece.to_vec());
            rest = after;
        }
        assert!(rest.is_empty(), "{}: the parts are shorter", self.name);
        pieces
    }
}

fn post() -> String {
    "POST".to_owned()
}

fn base64<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    BASE64_STANDARD.decode(text).map_err(D::Error::custom)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum HeaderValue {
    Text(String),
    Bytes(Base64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Base64 {
    #[serde(deserialize_with = "base64")]
    base64: Vec<u8>,
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (name, value) = <(String, HeaderValue)>::deserialize(from)?;
        let value = match value {
            HeaderValue::Text(text) => text.into_bytes(),
            HeaderValue::Bytes(bytes) => bytes.base64,
        };
        Ok(Self { name, value })
    }
}
