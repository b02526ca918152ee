//! The extractors of providers with an interface of their own, against a server that answers in
//! their form and as it is told. What all share on the way is tested with Chat Completions.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets what it does not expect ends there"
)]

#[path = "providers/anthropic.rs"]
mod anthropic;
#[path = "providers/connections.rs"]
mod connections;
#[path = "providers/gemini.rs"]
mod gemini;
#[path = "providers/secrets.rs"]
mod secrets;

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex},
};

use fencepost::{
    clock::UnixMillis,
    extractor::{
        BaseUrl, Draft, ExtractError, Extractor, Failure, Inference, OutputCap, Question, Settings,
        anthropic::{Anthropic, Output},
        gemini::Gemini,
        projection::Problem,
    },
    secret::Secret,
    tls,
};
use fencepost_identity::key::CallKey;
use fencepost_model::{Asked, Behaviour, ModelServer, in_turn};
use serde_json::{Value, json};

const KEY: &str = "sk-canary-of-the-key-0123456789";
const INPUT: &str = r#"{"text":"canary-of-the-report"}"#;
const BROKEN: Failure = Failure::Transport(Inference::MayHaveBegun);
const UNSENT: Failure = Failure::Transport(Inference::NotBegun);
const LIMITED: Failure = Failure::RateLimited { retry_after: None };
const QUOTA: Failure = Failure::Quota { retry_after: None };
const OVERLOADED: Failure = Failure::Overloaded { retry_after: None };

/// Which of them a test is about.
#[derive(Clone, Copy, Debug)]
enum Who {
    Anthropic(Output),
    Gemini,
}

/// Both, as they are set up when nothing else is said.
const BOTH: [Who; 2] = [Who::Anthropic(Output::Schema), Who::Gemini];

/// 2027-03-01T10:00:00Z, for whoever compares a date with the present.
fn now() -> UnixMillis {
    UnixMillis::new(1_803_895_200_000)
}

fn settings(base_url: &str) -> Settings {
    Settings {
        model: "asked".to_owned(),
        base_url: BaseUrl::new(base_url).unwrap(),
        max_output_tokens: NonZeroU32::new(100).unwrap(),
        temperature: None,
    }
}

impl Who {
    fn at(self, base_url: &str) -> Box<dyn Extractor> {
        self.with(settings(base_url), Some(KEY))
    }

    fn with(self, settings: Settings, key: Option<&str>) -> Box<dyn Extractor> {
        let tls = tls::for_scheme(settings.base_url.scheme()).unwrap();
        let key = key.map(Secret::new);
        let key = key.as_ref();
        match self {
            Self::Anthropic(output) => {
                Box::new(Anthropic::new(settings, output, key, tls, now).unwrap())
            }
            Self::Gemini => Box::new(Gemini::new(settings, key, tls, now).unwrap()),
        }
    }

    /// One question to a server that behaves so. It is asked once, whatever it does.
    async fn once(self, behaviour: Behaviour) -> Result<Draft, Box<ExtractError>> {
        let server = ModelServer::start(in_turn([behaviour]));
        let answer = ask(&*self.at(&server.base_url()), OutputCap::Ordinary).await;
        assert_eq!(server.calls().len(), 1, "{:?}", server.calls());
        answer
    }

    async fn failure(self, behaviour: Behaviour) -> Failure {
        self.once(behaviour).await.unwrap_err().failure
    }

    /// What is asked of a server that answers well.
    async fn asks(self, settings: impl FnOnce(&mut Settings), cap: OutputCap) -> Asked {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&heard);
        let server = ModelServer::start(move |asked| {
            listener.lock().unwrap().push(asked.clone());
            Behaviour::Answer("{}".to_owned())
        });
        let mut all = self::settings(&server.base_url());
        settings(&mut all);
        ask(&*self.with(all, Some(KEY)), cap).await.unwrap();
        let mut heard = heard.lock().unwrap();
        assert_eq!(heard.len(), 1);
        heard.pop().unwrap()
    }
}

async fn ask(extractor: &dyn Extractor, cap: OutputCap) -> Result<Draft, Box<ExtractError>> {
    let schema = schema();
    let question = Question {
        call_key: CallKey::from_bytes([0xab; 32]),
        input: INPUT.as_bytes(),
        prompt: "Classify.",
        schema: &schema,
        cap,
    };
    extractor.extract(&question).await.map_err(Box::new)
}

fn schema() -> Value {
    json!({
        "type": "object", "required": ["a"], "properties": { "a": { "type": "integer" } },
    })
}

/// The schema as it is sent: an answer with another member is not taken.
fn closed() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["a"],
        "properties": { "a": { "type": "integer" } },
    })
}

fn answering(body: impl Into<Vec<u8>>) -> Behaviour {
    responding(200, body)
}

fn responding(status: u16, body: impl Into<Vec<u8>>) -> Behaviour {
    Behaviour::Respond {
        status,
        headers: Vec::new(),
        body: body.into(),
    }
}
