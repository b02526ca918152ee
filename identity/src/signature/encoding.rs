//! The text forms of a signature, each read exactly: one text per value.

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD},
};

/// How a code is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Hexadecimal digits of either case.
    Hex,
    /// Standard base64 with its padding and no stray bits.
    Base64,
    /// Standard base64 without padding.
    Base64Unpadded,
    /// The alphabet for URLs, with padding.
    Base64Url,
    /// The alphabet for URLs, without padding.
    Base64UrlUnpadded,
}

impl Encoding {
    /// Every encoding by the name that a configuration has for it.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("hex", Self::Hex),
        ("base64", Self::Base64),
        ("base64-unpadded", Self::Base64Unpadded),
        ("base64url", Self::Base64Url),
        ("base64url-unpadded", Self::Base64UrlUnpadded),
    ];

    /// The bytes that a text stands for, if it is one of this form.
    #[must_use]
    pub fn decode(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Hex => read_hex(text),
            Self::Base64 => BASE64_STANDARD.decode(text).ok(),
            Self::Base64Unpadded => BASE64_STANDARD_NO_PAD.decode(text).ok(),
            Self::Base64Url => BASE64_URL_SAFE.decode(text).ok(),
            Self::Base64UrlUnpadded => BASE64_URL_SAFE_NO_PAD.decode(text).ok(),
        }
    }

    /// The text of these bytes; hexadecimal digits are lower-case.
    #[must_use]
    pub fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Hex => write_hex(bytes),
            Self::Base64 => BASE64_STANDARD.encode(bytes),
            Self::Base64Unpadded => BASE64_STANDARD_NO_PAD.encode(bytes),
            Self::Base64Url => BASE64_URL_SAFE.encode(bytes),
            Self::Base64UrlUnpadded => BASE64_URL_SAFE_NO_PAD.encode(bytes),
        }
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn write_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let pairs = digits.chunks(2).map(|pair| match *pair {
        [high, low] => Some((nibble(high)? << 4) | nibble(low)?),
        _ => None,
    });
    pairs.collect()
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
