//! What is sent. These types are the provider's, and stay here.

use serde::Serialize;

use super::{
    super::{Question, prompt::Prompt, settings::Settings},
    constraint::{Constraint, is_the_providers_own},
};

#[derive(Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    messages: [Message; 2],
    response_format: ResponseFormat,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// The provider is not to keep what it was asked.
    store: bool,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: String,
}

#[derive(Serialize)]
struct ResponseFormat {
    r#type: &'static str,
    json_schema: Constraint,
}

/// The request's body; nothing when the question can't be put.
pub(super) fn body(settings: &Settings, question: &Question<'_>) -> Option<Vec<u8>> {
    let Prompt { system, user } = Prompt::of(question)?;
    let tokens = settings.tokens(question.cap);
    // The newer name counts what a model thinks, too; other servers know only the older one.
    let (max_completion_tokens, max_tokens) = match is_the_providers_own(&settings.base_url) {
        true => (Some(tokens), None),
        false => (None, Some(tokens)),
    };
    let request = ChatRequest {
        model: &settings.model,
        messages: [
            Message {
                role: "system",
                content: system,
            },
            Message {
                role: "user",
                content: user,
            },
        ],
        response_format: ResponseFormat {
            r#type: "json_schema",
            json_schema: Constraint::of(settings, question.schema).ok()?,
        },
        max_completion_tokens,
        max_tokens,
        temperature: settings.temperature,
        store: false,
    };
    serde_json::to_vec(&request).ok()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use fencepost_identity::key::CallKey;
    use serde_json::{Value, json};

    use super::{
        super::super::{OutputCap, settings::BaseUrl},
        *,
    };

    fn sent(base_url: &str, input: &str, cap: OutputCap) -> Option<Value> {
        let settings = Settings {
            model: "m".to_owned(),
            base_url: BaseUrl::new(base_url).unwrap(),
            max_output_tokens: NonZeroU32::new(100).unwrap(),
            temperature: Some(0.0),
        };
        let schema = json!({"type": "object", "properties": {}});
        let question = Question {
            call_key: CallKey::from_bytes([7; 32]),
            input: input.as_bytes(),
            prompt: "Classify.\n",
            schema: &schema,
            cap,
        };
        body(&settings, &question).map(|body| serde_json::from_slice(&body).unwrap())
    }

    #[test]
    fn the_report_stands_in_the_user_message_alone() {
        let sent = sent("http://h/v1", r#"{"text":"canary"}"#, OutputCap::Ordinary).unwrap();
        let messages = sent["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["system", "user"]);
        assert_eq!(sent.to_string().matches("canary").count(), 1);
        let user = messages[1]["content"].as_str().unwrap();
        assert!(user.starts_with("{\"report\":{\"text\":") && user.contains("canary"));
    }

    #[test]
    fn the_cap_has_the_name_that_the_server_knows() {
        for (url, known, unknown) in [
            (
                "https://api.openai.com/v1",
                "max_completion_tokens",
                "max_tokens",
            ),
            (
                "https://x.openai.azure.com/openai/v1",
                "max_completion_tokens",
                "max_tokens",
            ),
            (
                "http://127.0.0.1:11434/v1",
                "max_tokens",
                "max_completion_tokens",
            ),
            (
                "https://api.openai.com.evil/v1",
                "max_tokens",
                "max_completion_tokens",
            ),
        ] {
            for (cap, tokens) in [(OutputCap::Ordinary, 100), (OutputCap::Larger, 400)] {
                let sent = sent(url, "{}", cap).unwrap();
                assert_eq!(sent[known], tokens, "{url}");
                assert_eq!(sent.get(unknown), None, "{url}");
            }
        }
    }

    #[test]
    fn what_is_no_json_is_not_sent() {
        for input in ["", "{", "{\"text\": \u{1}}", "{} {}"] {
            assert_eq!(
                sent("http://h", input, OutputCap::Ordinary),
                None,
                "{input}"
            );
        }
    }
}
