//! What is sent. These types are the provider's, and stay here.

use serde::Serialize;
use serde_json::Value;

use super::super::{
    Question,
    projection::{Dialect, project},
    prompt::Prompt,
    settings::Settings,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerateRequest {
    system_instruction: Content,
    contents: [Content; 1],
    generation_config: GenerationConfig,
}

#[derive(Serialize)]
struct Content {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [Part; 1],
}

#[derive(Serialize)]
struct Part {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    candidate_count: u32,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    response_mime_type: &'static str,
    response_json_schema: Value,
}

/// The request's body; nothing when the question can't be put.
pub(super) fn body(settings: &Settings, question: &Question<'_>) -> Option<Vec<u8>> {
    let Prompt { system, user } = Prompt::of(question)?;
    let content = |role, text| Content {
        role,
        parts: [Part { text }],
    };
    let request = GenerateRequest {
        system_instruction: content(None, system),
        contents: [content(Some("user"), user)],
        generation_config: GenerationConfig {
            candidate_count: 1,
            max_output_tokens: settings.tokens(question.cap),
            temperature: settings.temperature,
            response_mime_type: "application/json",
            response_json_schema: project(question.schema, Dialect::Gemini).ok()?,
        },
    };
    serde_json::to_vec(&request).ok()
}
