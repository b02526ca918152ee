//! What came back with a 200. These types are the provider's, and stay here.
//!
//! What this version does not know is passed over, so that a new kind of content spoils no answer.
//! Read strictly is what decides: whether the model answered, refused, or was cut off.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::super::{
    Call, Failure, RequestId, Usage,
    client::STRANGE,
    text::{Text, is_name, parse},
};

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    model: Value,
    #[serde(borrow)]
    content: Vec<Block<'a>>,
    #[serde(default)]
    stop_reason: Value,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(default)]
    r#type: Value,
    text: Option<Text>,
    /// As it came: what a parser would make of it, a stricter one might not.
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// What the model answered, or why that can't be judged. What is told of the call is added to it
/// either way.
pub(super) fn read(body: &[u8], call: &mut Call) -> Result<String, Failure> {
    let message: Message<'_> = parse(body).ok_or(STRANGE)?;
    if call.request_id.is_none() {
        call.request_id = message.id.as_str().and_then(RequestId::new);
    }
    if let Some(model) = message.model.as_str().filter(|name| is_name(name)) {
        call.model = model.to_owned();
    }
    let tokens = |member| message.usage.get(member).and_then(Value::as_u64);
    call.usage = Usage {
        tokens_in: tokens("input_tokens"),
        tokens_out: tokens("output_tokens"),
    };
    match message.stop_reason.as_str() {
        // Whatever it said before it stopped.
        Some("refusal") => Err(Failure::Refused),
        // Even where it reads well: the end of a list may be missing.
        Some("max_tokens" | "model_context_window_exceeded") => Err(Failure::Truncated),
        Some(_) | None => Ok(said(&message.content)),
    }
}

/// What was handed to the tool, else what was said; nothing is an empty answer, and so a wrong one.
fn said(content: &[Block<'_>]) -> String {
    let of = |kind: &'static str| content.iter().filter(move |block| block.r#type == kind);
    // Two calls are two answers, which is none: whoever parses them finds that out.
    let calls: Vec<_> = of("tool_use")
        .filter_map(|block| block.input)
        .map(RawValue::get)
        .collect();
    if !calls.is_empty() {
        return calls.join("\n");
    }
    let texts = of("text").filter_map(|block| block.text.as_ref());
    texts.map(|text| text.0.as_str()).collect()
}
