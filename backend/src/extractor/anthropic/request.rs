//! What is sent. These types are the provider's, and stay here.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    super::{
        Question,
        projection::{Dialect, project},
        prompt::Prompt,
        settings::Settings,
    },
    Output,
};

/// The provider wants a name for a tool; nothing depends on it.
const TOOL_NAME: &str = "answer";

#[derive(Serialize)]
struct MessagesRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    system: String,
    messages: [Message; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: String,
}

/// The request's body; nothing when the question can't be put.
pub(super) fn body(
    settings: &Settings,
    output: Output,
    question: &Question<'_>,
) -> Option<Vec<u8>> {
    let Prompt { system, user } = Prompt::of(question)?;
    let mut request = MessagesRequest {
        model: &settings.model,
        max_tokens: settings.tokens(question.cap),
        temperature: settings.temperature,
        system,
        messages: [Message {
            role: "user",
            content: user,
        }],
        output_config: None,
        tools: None,
        tool_choice: None,
    };
    match output {
        Output::Schema => {
            let schema = project(question.schema, Dialect::Anthropic).ok()?;
            let format = json!({ "type": "json_schema", "schema": schema });
            request.output_config = Some(json!({ "format": format }));
        }
        // Nothing is compiled of it, so the schema is taken as it stands.
        Output::Tool => {
            request.tools = Some(json!([{
                "name": TOOL_NAME,
                "description": "Takes the answer.",
                "input_schema": question.schema,
            }]));
            request.tool_choice = Some(json!({
                "type": "tool", "name": TOOL_NAME, "disable_parallel_tool_use": true,
            }));
        }
    }
    serde_json::to_vec(&request).ok()
}
