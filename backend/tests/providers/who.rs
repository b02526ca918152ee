//! Who is asked, and how.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex},
};

#[cfg(feature = "bedrock")]
use fencepost::extractor::bedrock::{Bedrock, Region};
use fencepost::{
    clock::UnixMillis,
    extractor::{
        BaseUrl, Draft, ExtractError, Extractor, Failure, Inference, OutputCap, Question, Settings,
        SetupError,
        anthropic::{Anthropic, Output},
        gemini::Gemini,
        openai::{Api, OpenAi},
    },
    secret::Secret,
    tls,
};
use fencepost_identity::key::CallKey;
use fencepost_model::{Asked, Behaviour, ModelServer, in_turn};
use rustls::ClientConfig;
use serde_json::{Value, json};

pub(crate) const KEY: &str = "sk-canary-of-the-key-0123456789";
pub(crate) const INPUT: &str = r#"{"text":"canary-of-the-report"}"#;
pub(crate) const BROKEN: Failure = Failure::Transport(Inference::MayHaveBegun);
pub(crate) const UNSENT: Failure = Failure::Transport(Inference::NotBegun);
pub(crate) const LIMITED: Failure = Failure::RateLimited { retry_after: None };
pub(crate) const QUOTA: Failure = Failure::Quota { retry_after: None };
pub(crate) const OVERLOADED: Failure = Failure::Overloaded { retry_after: None };

/// Which extractor a test is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    OpenAi(Api),
    Anthropic(Output),
    Gemini,
    #[cfg_attr(
        not(feature = "bedrock"),
        expect(dead_code, reason = "nobody is set up to be asked so")
    )]
    Bedrock(Output),
}

pub(crate) const CHAT: Who = Who::OpenAi(Api::Chat);
pub(crate) const RESPONSES: Who = Who::OpenAi(Api::Responses);
pub(crate) const SCHEMA: Who = Who::Anthropic(Output::Schema);
pub(crate) const TOOL: Who = Who::Anthropic(Output::Tool);
pub(crate) const GEMINI: Who = Who::Gemini;
#[cfg(feature = "bedrock")]
pub(crate) const CONVERSE: Who = Who::Bedrock(Output::Schema);
#[cfg(feature = "bedrock")]
pub(crate) const CONVERSE_TOOL: Who = Who::Bedrock(Output::Tool);
#[cfg(not(feature = "bedrock"))]
pub(crate) const ALL: [Who; 5] = [CHAT, RESPONSES, SCHEMA, TOOL, GEMINI];
#[cfg(feature = "bedrock")]
pub(crate) const ALL: [Who; 7] = [
    CHAT,
    RESPONSES,
    SCHEMA,
    TOOL,
    GEMINI,
    CONVERSE,
    CONVERSE_TOOL,
];

/// 2027-03-01T10:00:00Z, for whoever compares a date with the present.
pub(crate) fn now() -> UnixMillis {
    UnixMillis::new(1_803_895_200_000)
}

pub(crate) fn settings(base_url: &str) -> Settings {
    Settings {
        model: "asked".to_owned(),
        base_url: BaseUrl::new(base_url).unwrap(),
        max_output_tokens: NonZeroU32::new(100).unwrap(),
        temperature: None,
    }
}

impl Who {
    /// What is asked of a model at this address, with the key.
    pub(crate) fn at(self, base_url: &str) -> Box<dyn Extractor> {
        self.with(settings(base_url), Some(KEY))
    }

    pub(crate) fn with(self, settings: Settings, key: Option<&str>) -> Box<dyn Extractor> {
        let tls = tls::for_scheme(settings.base_url.scheme()).unwrap();
        self.set_up(settings, key, tls).unwrap()
    }

    pub(crate) fn set_up(
        self,
        settings: Settings,
        key: Option<&str>,
        tls: ClientConfig,
    ) -> Result<Box<dyn Extractor>, SetupError> {
        let key = key.map(Secret::new);
        let key = key.as_ref();
        Ok(match self {
            Self::OpenAi(api) => Box::new(OpenAi::new(settings, api, key, tls, now)?),
            Self::Anthropic(output) => Box::new(Anthropic::new(settings, output, key, tls, now)?),
            Self::Gemini => Box::new(Gemini::new(settings, key, tls, now)?),
            #[cfg(feature = "bedrock")]
            Self::Bedrock(output) => {
                let region = Region::new("eu-central-1").unwrap();
                Box::new(Bedrock::new(settings, region, output, key, tls, now)?)
            }
            #[cfg(not(feature = "bedrock"))]
            Self::Bedrock(_) => panic!("this program was built without it"),
        })
    }

    /// The name that records have.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::OpenAi(_) => "openai",
            Self::Anthropic(_) => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock(_) => "bedrock",
        }
    }

    /// Whether an answer is what a tool is given.
    pub(crate) fn is_given_a_tool(self) -> bool {
        match self {
            Self::OpenAi(_) | Self::Gemini => false,
            Self::Anthropic(output) => output == Output::Tool,
            Self::Bedrock(output) => output == Output::Tool,
        }
    }

    /// What follows the base of the address.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::OpenAi(Api::Chat) => "chat/completions",
            Self::OpenAi(Api::Responses) => "responses",
            Self::Anthropic(_) => "messages",
            Self::Gemini => "models/asked:generateContent",
            Self::Bedrock(_) => "model/asked/converse",
        }
    }

    /// The id that the server gives its first call.
    pub(crate) fn first_id(self) -> &'static str {
        match self {
            Self::OpenAi(_) | Self::Anthropic(_) => "req_1",
            Self::Gemini => "response-1",
            Self::Bedrock(_) => "req_1",
        }
    }

    /// The provider's words for an answer that was cut off.
    pub(crate) fn cut_off(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi(Api::Chat) => &["length"],
            Self::OpenAi(Api::Responses) => &["max_output_tokens", "new"],
            Self::Anthropic(_) => &["max_tokens", "model_context_window_exceeded"],
            Self::Gemini => &["MAX_TOKENS"],
            Self::Bedrock(_) => &["max_tokens", "model_context_window_exceeded"],
        }
    }

    /// No more of a good answer than there has to be.
    pub(crate) fn barely(self, content: &str) -> String {
        let body = match self {
            Self::OpenAi(Api::Chat) => {
                json!({ "choices": [{ "message": { "content": content } }] })
            }
            Self::OpenAi(Api::Responses) => json!({ "output": [said(content)] }),
            Self::Anthropic(_) => json!({ "content": [{ "type": "text", "text": content }] }),
            Self::Gemini => {
                json!({ "candidates": [{ "content": { "parts": [{ "text": content }] } }] })
            }
            Self::Bedrock(_) => {
                json!({ "output": { "message": { "content": [{ "text": content }] } } })
            }
        };
        body.to_string()
    }

    /// An answer that ended for this reason, in the provider's words.
    pub(crate) fn ended(self, reason: &str, content: &str) -> Value {
        match self {
            Self::OpenAi(Api::Chat) => json!({ "choices": [{
                "finish_reason": reason, "message": { "content": content, "refusal": null },
            }] }),
            Self::OpenAi(Api::Responses) => json!({
                "status": "incomplete", "incomplete_details": { "reason": reason },
                "output": [said(content)],
            }),
            Self::Anthropic(_) => json!({
                "content": [{ "type": "text", "text": content }], "stop_reason": reason,
            }),
            Self::Gemini => json!({ "candidates": [{
                "content": { "parts": [{ "text": content }] }, "finishReason": reason,
            }] }),
            Self::Bedrock(_) => conversed(&json!([{ "text": content }]), reason),
        }
    }

    /// An answer that ended well, and says nothing.
    pub(crate) fn nothing_said(self) -> Behaviour {
        let body = match self {
            Self::OpenAi(Api::Chat) => json!({ "choices": [{
                "finish_reason": "stop", "message": { "content": null, "refusal": null },
            }] }),
            Self::OpenAi(Api::Responses) => json!({ "status": "completed", "output": [] }),
            Self::Anthropic(_) => json!({ "content": [], "stop_reason": "end_turn" }),
            Self::Gemini => json!({ "candidates": [{ "finishReason": "STOP" }] }),
            Self::Bedrock(_) => conversed(&json!([]), "end_turn"),
        };
        answering(body.to_string())
    }

    /// An answer among content of kinds that nobody knows.
    pub(crate) fn among_others(self, content: &str) -> Value {
        let new = json!({ "type": "new", "content": "x", "y": [] });
        match self {
            Self::OpenAi(Api::Chat) => json!({ "choices": [{
                "message": { "content": content, "reasoning": "hm", "tool_calls": 1 },
                "logprobs": { "content": 7 }, "new": new,
            }] }),
            Self::OpenAi(Api::Responses) => {
                json!({ "output": [new, { "type": "reasoning", "summary": [] }, said(content)] })
            }
            Self::Anthropic(_) => json!({ "content": [
                new, { "type": "thinking", "thinking": "hm" }, { "type": "text", "text": content },
            ] }),
            Self::Gemini => json!({ "candidates": [{ "content": { "parts": [
                { "text": "hm", "thought": true }, { "new": 1 }, { "text": content },
            ] } }] }),
            Self::Bedrock(_) => {
                let thought = json!({ "reasoningContent": { "reasoningText": { "text": "hm" } } });
                conversed(&json!([new, thought, { "text": content }]), "end_turn")
            }
        }
    }

    /// How many tokens an answer to this request may have.
    pub(crate) fn cap(self, request: &Value) -> Option<u64> {
        let place = match self {
            Self::OpenAi(Api::Chat) | Self::Anthropic(_) => "/max_tokens",
            Self::OpenAi(Api::Responses) => "/max_output_tokens",
            Self::Gemini => "/generationConfig/maxOutputTokens",
            Self::Bedrock(_) => "/inferenceConfig/maxTokens",
        };
        request.pointer(place)?.as_u64()
    }

    /// A refusal in the provider's form, with nothing that says more than the status.
    pub(crate) fn error(self, status: u16) -> Behaviour {
        let said = "told by the script";
        match self {
            Self::OpenAi(_) => Behaviour::error(status, "some_type", None),
            Self::Anthropic(_) => Behaviour::anthropic_error(status, "some_type", said),
            Self::Gemini => Behaviour::google_error(status, "SOME_STATUS", said, &[]),
            Self::Bedrock(_) => Behaviour::amazon_error(status, "SomeException", said),
        }
    }

    /// One question to a server that behaves so. It is asked once, whatever it does.
    pub(crate) async fn once(self, behaviour: Behaviour) -> Result<Draft, Box<ExtractError>> {
        let server = ModelServer::start(in_turn([behaviour]));
        let answer = ask(&*self.at(&server.base_url()), OutputCap::Ordinary).await;
        assert_eq!(server.calls().len(), 1, "{self:?} {:?}", server.calls());
        answer
    }

    pub(crate) async fn failure(self, behaviour: Behaviour) -> Failure {
        self.once(behaviour).await.unwrap_err().failure
    }

    /// What is asked of a server that answers well.
    pub(crate) async fn asks(self, settings: impl FnOnce(&mut Settings), cap: OutputCap) -> Asked {
        self.asks_with(Some(KEY), settings, cap).await
    }

    /// What is asked about this schema.
    #[cfg(feature = "bedrock")]
    pub(crate) async fn asks_of(self, schema: &Value) -> Asked {
        heard(async |base_url| {
            let extractor = self.at(base_url);
            ask_of(&*extractor, schema, OutputCap::Ordinary).await
        })
        .await
    }

    pub(crate) async fn asks_with(
        self,
        key: Option<&str>,
        settings: impl FnOnce(&mut Settings),
        cap: OutputCap,
    ) -> Asked {
        heard(async |base_url| {
            let mut all = self::settings(base_url);
            settings(&mut all);
            ask(&*self.with(all, key), cap).await
        })
        .await
    }
}

/// A message of Responses.
fn said(content: &str) -> Value {
    json!({ "type": "message", "content": [{ "type": "output_text", "text": content }] })
}

/// A reply of Converse.
pub(crate) fn conversed(content: &Value, stop_reason: &str) -> Value {
    let message = json!({ "role": "assistant", "content": content });
    json!({ "output": { "message": message }, "stopReason": stop_reason })
}

/// The one question that a server hears, which answers well.
async fn heard(ask: impl AsyncFnOnce(&str) -> Result<Draft, Box<ExtractError>>) -> Asked {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let server = ModelServer::start(move |asked| {
        listener.lock().unwrap().push(asked.clone());
        Behaviour::Answer("{}".to_owned())
    });
    ask(&server.base_url()).await.unwrap();
    let mut heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 1);
    heard.pop().unwrap()
}

pub(crate) async fn ask(
    extractor: &dyn Extractor,
    cap: OutputCap,
) -> Result<Draft, Box<ExtractError>> {
    ask_of(extractor, &schema(), cap).await
}

async fn ask_of(
    extractor: &dyn Extractor,
    schema: &Value,
    cap: OutputCap,
) -> Result<Draft, Box<ExtractError>> {
    let question = Question {
        call_key: CallKey::from_bytes([0xab; 32]),
        input: INPUT.as_bytes(),
        prompt: "Classify.",
        schema,
        cap,
    };
    extractor.extract(&question).await.map_err(Box::new)
}

pub(crate) fn schema() -> Value {
    json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "integer" } } })
}

/// The schema as it is sent: an answer with another member is not taken.
pub(crate) fn closed() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["a"],
        "properties": { "a": { "type": "integer" } },
    })
}

pub(crate) fn answering(body: impl Into<Vec<u8>>) -> Behaviour {
    responding(200, body)
}

pub(crate) fn responding(status: u16, body: impl Into<Vec<u8>>) -> Behaviour {
    Behaviour::Respond {
        status,
        headers: Vec::new(),
        body: body.into(),
    }
}
