//! What came back with a 200. These types are the provider's, and stay here.
//!
//! Servers that only resemble the provider leave members out, invent reasons and count otherwise.
//! Read strictly is what decides: whether the model answered, refused, or was cut off.

use serde::Deserialize;
use serde_json::Value;

use super::super::{
    Call, Failure, RequestId, Usage,
    client::STRANGE,
    text::{Text, is_name, parse},
};

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

/// What the model answered, or why that can't be judged. What is told of the call is added to it
/// either way.
pub(super) fn read(body: &[u8], call: &mut Call) -> Result<String, Failure> {
    let completion: Completion = parse(body).ok_or(STRANGE)?;
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

#[cfg(test)]
mod tests;
