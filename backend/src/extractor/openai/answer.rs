//! What came back with a 200. These types are the provider's, and stay here.
//!
//! Servers that only resemble the provider leave members out, invent reasons and count otherwise.
//! Read strictly is what decides: whether the model answered, refused, or was cut off.

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};
use serde_json::Value;

use super::super::{Call, Failure, Inference, RequestId, Usage};

/// Paid for, perhaps, but not the provider's: a gateway's page, or half an answer.
pub(super) const STRANGE: Failure = Failure::Transport(Inference::MayHaveBegun);

/// The longest name of a model that is kept.
const MODEL_BYTES_MAX: usize = 128;

#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    model: Value,
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    finish_reason: Value,
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Text>,
    refusal: Option<Text>,
}

/// A string that may hold half surrogates, which Unicode has no characters for. They become the
/// escapes that they were, so that the answer is judged by what it says, not by what could be read.
struct Text(String);

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

/// What the model answered, or why that can't be judged. What is told of the call is added to it
/// either way.
pub(super) fn read(body: &[u8], call: &mut Call) -> Result<String, Failure> {
    let completion = parse(body).ok_or(STRANGE)?;
    if call.request_id.is_none() {
        call.request_id = completion.id.as_str().and_then(RequestId::new);
    }
    if let Some(model) = completion.model.as_str().filter(|name| is_name(name)) {
        call.model = model.to_owned();
    }
    let tokens = |member| completion.usage.get(member).and_then(Value::as_u64);
    call.usage = Usage {
        tokens_in: tokens("prompt_tokens"),
        tokens_out: tokens("completion_tokens"),
    };
    judge(completion.choices)
}

fn parse(body: &[u8]) -> Option<Completion> {
    // Checked as a whole, since strings are read as bytes.
    serde_json::from_str(std::str::from_utf8(body).ok()?).ok()
}

fn judge(choices: Vec<Choice>) -> Result<String, Failure> {
    let Choice {
        finish_reason,
        message,
    } = choices.into_iter().next().ok_or(STRANGE)?;
    if message.refusal.is_some_and(|refusal| !refusal.0.is_empty()) {
        return Err(Failure::Refused);
    }
    match finish_reason.as_str() {
        Some("content_filter") => Err(Failure::Refused),
        // Even where it reads well: the end of a list may be missing.
        Some("length") => Err(Failure::Truncated),
        // An absent answer is an empty one, and so a wrong one, not a broken connection.
        Some(_) | None => Ok(message.content.map_or_else(String::new, |text| text.0)),
    }
}

fn is_name(text: &str) -> bool {
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    printable && (1..=MODEL_BYTES_MAX).contains(&text.len())
}

#[cfg(test)]
mod tests;
