//! Strings of providers' answers, as exactly as they came.

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

/// The longest name of a model that is kept.
const MODEL_BYTES_MAX: usize = 128;

/// A string that may hold half surrogates, which Unicode has no characters for. They become the
/// escapes that they were, so that the answer is judged by what it says, not by what could be read.
///
/// It is read as bytes, so whoever reads it checks before that the whole body is UTF-8.
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Text;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
                escaped(bytes)
                    .map(Text)
                    .ok_or_else(|| E::custom("not UTF-8"))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// UTF-8 in which surrogates are coded as if they were characters.
fn escaped(mut bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    loop {
        let error = match std::str::from_utf8(bytes) {
            Ok(rest) => {
                text.push_str(rest);
                return Some(text);
            }
            Err(error) => error,
        };
        let (valid, rest) = bytes.split_at_checked(error.valid_up_to())?;
        text.push_str(std::str::from_utf8(valid).ok()?);
        let ([0xED, high @ 0xA0..=0xBF, low @ 0x80..=0xBF], rest) = rest.split_first_chunk()?
        else {
            return None;
        };
        let unit = 0xD000 | u32::from(high & 0x3F) << 6 | u32::from(low & 0x3F);
        text.push_str(&format!("\\u{unit:04x}"));
        bytes = rest;
    }
}

/// A body in a provider's form, or nothing. What its type does not name is not looked at.
pub(super) fn parse<'de, T: Deserialize<'de>>(body: &'de [u8]) -> Option<T> {
    // Checked as a whole, since strings are read as bytes.
    serde_json::from_str(std::str::from_utf8(body).ok()?).ok()
}

/// Whether a provider's name for its model is fit to be kept.
pub(super) fn is_name(text: &str) -> bool {
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    printable && (1..=MODEL_BYTES_MAX).contains(&text.len())
}
