//! What came back with a 200. These types are the provider's, and stay here.
//!
//! A question that is not even put to the model comes back with a 200, too, and without an answer.

use serde::Deserialize;
use serde_json::Value;

use super::super::{
    Call, Failure, RequestId, Usage,
    client::STRANGE,
    text::{Text, is_name, parse},
};

/// The reasons to stop that are a filter's.
const FILTERED: [&str; 10] = [
    "BLOCKLIST",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_SAFETY",
    "LANGUAGE",
    "MODEL_ARMOR",
    "PROHIBITED_CONTENT",
    "RECITATION",
    "SAFETY",
    "SPII",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Generated {
    candidates: Option<Vec<Candidate>>,
    #[serde(default)]
    prompt_feedback: Value,
    #[serde(default)]
    usage_metadata: Value,
    #[serde(default)]
    model_version: Value,
    #[serde(default)]
    response_id: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    #[serde(default)]
    finish_reason: Value,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<Text>,
    /// Whether this is what the model thought on its way.
    #[serde(default)]
    thought: Value,
}

/// What the model answered, or why that can't be judged. What is told of the call is added to it
/// either way.
pub(super) fn read(body: &[u8], call: &mut Call) -> Result<String, Failure> {
    let generated: Generated = parse(body).ok_or(STRANGE)?;
    if let Some(id) = generated.response_id.as_str().and_then(RequestId::new) {
        call.request_id = Some(id);
    }
    if let Some(model) = generated.model_version.as_str() {
        // Some spell it as a resource, others by its name.
        let name = model.strip_prefix("models/").unwrap_or(model);
        if is_name(name) {
            call.model = name.to_owned();
        }
    }
    call.usage = usage(&generated.usage_metadata);
    // What blocked the question is a reason, whichever it is.
    let reason = generated.prompt_feedback.get("blockReason");
    if reason.is_some_and(|reason| !reason.is_null()) {
        return Err(Failure::Refused);
    }
    let Some(candidate) = generated.candidates.into_iter().flatten().next() else {
        // With no more than ratings of the question, it was blocked all the same.
        return Err(if generated.prompt_feedback.is_object() {
            Failure::Refused
        } else {
            STRANGE
        });
    };
    match candidate.finish_reason.as_str() {
        Some(reason) if FILTERED.contains(&reason) => Err(Failure::Refused),
        // Also where there is no part at all: what it thought took all the room.
        Some("MAX_TOKENS") => Err(Failure::Truncated),
        // Nothing is an empty answer, and so a wrong one.
        Some(_) | None => Ok(said(candidate.content)),
    }
}

/// What is thought is paid for as what is said.
fn usage(counted: &Value) -> Usage {
    let tokens = |member| counted.get(member).and_then(Value::as_u64);
    let said = tokens("candidatesTokenCount");
    let thought = tokens("thoughtsTokenCount");
    Usage {
        tokens_in: tokens("promptTokenCount"),
        tokens_out: match (said, thought) {
            (Some(said), Some(thought)) => Some(said.saturating_add(thought)),
            (one, other) => one.or(other),
        },
    }
}

fn said(content: Option<Content>) -> String {
    let parts = content.and_then(|content| content.parts);
    let parts = parts.into_iter().flatten();
    let said = parts.filter(|part| part.thought != true);
    said.filter_map(|part| part.text)
        .map(|text| text.0)
        .collect()
}
