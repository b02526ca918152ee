//! What came back with a 200. These types are the provider's, and stay here.
//!
//! Which model answered is not told: it is the one that was asked.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::super::{
    Call, Failure, Usage,
    client::STRANGE,
    text::{Text, parse},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Conversed<'a> {
    #[serde(borrow)]
    output: Output<'a>,
    #[serde(default)]
    stop_reason: Value,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow)]
    message: Message<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
}

/// Of which kind it is, its only member tells; what the model thought is another one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    text: Option<Text>,
    #[serde(borrow)]
    tool_use: Option<ToolUse<'a>>,
}

#[derive(Deserialize)]
struct ToolUse<'a> {
    /// As it came: what a parser would make of it, a stricter one might not.
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// What the model answered, or why that can't be judged. What is told of the call is added to it
/// either way.
pub(super) fn read(body: &[u8], call: &mut Call) -> Result<String, Failure> {
    let conversed: Conversed<'_> = parse(body).ok_or(STRANGE)?;
    let tokens = |member| conversed.usage.get(member).and_then(Value::as_u64);
    call.usage = Usage {
        tokens_in: tokens("inputTokens"),
        tokens_out: tokens("outputTokens"),
    };
    match conversed.stop_reason.as_str() {
        // Whatever it said before it was stopped; a guardrail puts words of its own in its place.
        Some("content_filtered" | "guardrail_intervened" | "refusal") => Err(Failure::Refused),
        // Even where it reads well: the end of a list may be missing.
        Some("max_tokens" | "model_context_window_exceeded") => Err(Failure::Truncated),
        // Also what the provider itself finds malformed: whoever parses it says where.
        Some(_) | None => Ok(said(&conversed.output.message.content)),
    }
}

/// What was handed to the tool, else what was said; nothing is an empty answer, and so a wrong one.
fn said(content: &[Block<'_>]) -> String {
    // Two calls are two answers, which is none: whoever parses them finds that out.
    let uses = content.iter().filter_map(|block| block.tool_use.as_ref());
    let inputs: Vec<_> = uses
        .filter_map(|used| used.input)
        .map(RawValue::get)
        .collect();
    if !inputs.is_empty() {
        return inputs.join("\n");
    }
    let texts = content.iter().filter_map(|block| block.text.as_ref());
    texts.map(|text| text.0.as_str()).collect()
}
