//! What is sent. These types are the provider's, and stay here.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::{
    Question,
    anthropic::Output,
    projection::{Dialect, project},
    prompt::Prompt,
    settings::Settings,
};

/// The provider wants a name for a tool; nothing depends on it.
const TOOL_NAME: &str = "answer";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConverseRequest {
    system: [Block; 1],
    messages: [Message; 1],
    inference_config: InferenceConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    /// Stands in the account's own log of invocations, and is shown to no model.
    request_metadata: Value,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: [Block; 1],
}

#[derive(Serialize)]
struct Block {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InferenceConfig {
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

/// The request's body; nothing when the question can't be put.
pub(super) fn body(
    settings: &Settings,
    output: Output,
    question: &Question<'_>,
) -> Option<Vec<u8>> {
    let Prompt { system, user } = Prompt::of(question)?;
    let mut request = ConverseRequest {
        system: [Block { text: system }],
        messages: [Message {
            role: "user",
            content: [Block { text: user }],
        }],
        inference_config: InferenceConfig {
            max_tokens: settings.tokens(question.cap),
            temperature: settings.temperature,
        },
        output_config: None,
        tool_config: None,
        request_metadata: json!({ "call_key": question.call_key.to_string() }),
    };
    match output {
        Output::Schema => {
            let schema = project(question.schema, Dialect::Bedrock).ok()?;
            // It is text there, not JSON.
            let structure = json!({ "jsonSchema": { "schema": schema.to_string() } });
            let format = json!({ "type": "json_schema", "structure": structure });
            request.output_config = Some(json!({ "textFormat": format }));
        }
        // Nothing is compiled of it, so the schema is taken as it stands.
        Output::Tool => {
            request.tool_config = Some(json!({
                "tools": [{ "toolSpec": {
                    "name": TOOL_NAME,
                    "description": "Takes the answer.",
                    "inputSchema": { "json": question.schema },
                } }],
                "toolChoice": { "tool": { "name": TOOL_NAME } },
            }));
        }
    }
    serde_json::to_vec(&request).ok()
}
