//! Responses: what is sent, and what came back with a 200. These types are the provider's.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{
    super::{
        Call, Failure, Question, RequestId, Usage,
        client::STRANGE,
        prompt::Prompt,
        settings::Settings,
        text::{Text, is_name, parse},
    },
    constraint::Constraint,
};

#[derive(Serialize)]
struct ResponsesRequest<'a> {
    model: &'a str,
    instructions: String,
    input: String,
    text: TextConfig,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// The provider is not to keep what it was asked.
    store: bool,
}

#[derive(Serialize)]
struct TextConfig {
    format: Format,
}

#[derive(Serialize)]
struct Format {
    r#type: &'static str,
    #[serde(flatten)]
    constraint: Constraint,
}

/// The request's body; nothing when the question can't be put.
pub(super) fn body(settings: &Settings, question: &Question<'_>) -> Option<Vec<u8>> {
    let Prompt { system, user } = Prompt::of(question)?;
    let request = ResponsesRequest {
        model: &settings.model,
        instructions: system,
        input: user,
        text: TextConfig {
            format: Format {
                r#type: "json_schema",
                constraint: Constraint::of(settings, question.schema).ok()?,
            },
        },
        max_output_tokens: settings.tokens(question.cap),
        temperature: settings.temperature,
        store: false,
    };
    serde_json::to_vec(&request).ok()
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    status: Value,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    incomplete_details: Value,
    #[serde(borrow)]
    output: Vec<Item<'a>>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(default)]
    r#type: Value,
    /// Looked at only where it is a message's.
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    r#type: Value,
    text: Option<Text>,
}

/// What the model answered, or why that can't be judged. What is told of the call is added to it
/// either way.
pub(super) fn read(body: &[u8], call: &mut Call) -> Result<String, Failure> {
    let response: Response<'_> = parse(body).ok_or(STRANGE)?;
    if call.request_id.is_none() {
        call.request_id = response.id.as_str().and_then(RequestId::new);
    }
    if let Some(model) = response.model.as_str().filter(|name| is_name(name)) {
        call.model = model.to_owned();
    }
    let tokens = |member| response.usage.get(member).and_then(Value::as_u64);
    call.usage = Usage {
        tokens_in: tokens("input_tokens"),
        tokens_out: tokens("output_tokens"),
    };
    match response.status.as_str() {
        Some("failed") => {
            let code = response.error.get("code").and_then(Value::as_str);
            return Err(failed(code));
        }
        // Nobody asked for a response that is still made, or to give one up.
        Some("cancelled" | "in_progress" | "queued") => return Err(STRANGE),
        Some(_) | None => {}
    }
    let parts = parts(&response.output)?;
    if parts.iter().any(|part| part.r#type == "refusal") {
        return Err(Failure::Refused);
    }
    if response.status == "incomplete" {
        // Even where it reads well: the end of a list may be missing.
        let reason = response.incomplete_details.get("reason");
        return Err(match reason.and_then(Value::as_str) {
            Some("content_filter") => Failure::Refused,
            Some(_) | None => Failure::Truncated,
        });
    }
    let said = parts
        .into_iter()
        .filter(|part| part.r#type == "output_text");
    Ok(said
        .filter_map(|part| part.text)
        .map(|text| text.0)
        .collect())
}

/// What is said in messages: other items tell what the model thought, or did.
fn parts(output: &[Item<'_>]) -> Result<Vec<Part>, Failure> {
    let messages = output.iter().filter(|item| item.r#type == "message");
    let mut parts = Vec::new();
    for content in messages.filter_map(|item| item.content) {
        let mut said: Vec<Part> = parse(content.get().as_bytes()).ok_or(STRANGE)?;
        parts.append(&mut said);
    }
    Ok(parts)
}

/// A failure that comes with a 200.
fn failed(code: Option<&str>) -> Failure {
    match code {
        Some("rate_limit_exceeded") => Failure::RateLimited { retry_after: None },
        Some("insufficient_quota") => Failure::Quota { retry_after: None },
        // A filter's words for a question that it does not let through.
        Some("invalid_prompt" | "bio_policy" | "cyber_policy") => Failure::Refused,
        Some(_) | None => STRANGE,
    }
}
