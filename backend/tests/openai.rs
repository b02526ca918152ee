//! The extractor that speaks Chat Completions, against a server that answers as it is told. The
//! server remembers each call, so what is not sent shows as well as what is.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets what it does not expect ends there"
)]

#[path = "openai/answers.rs"]
mod answers;
#[path = "openai/connections.rs"]
mod connections;
#[path = "openai/corpus.rs"]
mod corpus;
#[path = "openai/failures.rs"]
mod failures;
#[path = "openai/protection.rs"]
mod protection;
#[path = "openai/requests.rs"]
mod requests;
#[path = "openai/responses.rs"]
mod responses;
#[path = "openai/secrets.rs"]
mod secrets;

use std::num::NonZeroU32;

use fencepost::{
    clock::UnixMillis,
    extractor::{
        BaseUrl, Call, Draft, ExtractError, Extractor as _, Failure, Inference, OutputCap,
        Question, Settings, Usage,
        openai::{Api, OpenAi},
    },
    secret::Secret,
    tls,
};
use fencepost_identity::key::CallKey;
use fencepost_model::{Behaviour, ModelServer, in_turn};
use serde_json::{Value, json};

const KEY: &str = "sk-canary-of-the-key-0123456789";
const INPUT: &str = r#"{"text":"canary-of-the-report"}"#;
const BROKEN: Failure = Failure::Transport(Inference::MayHaveBegun);
const UNSENT: Failure = Failure::Transport(Inference::NotBegun);

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

fn openai(base_url: &str, key: Option<&str>) -> OpenAi {
    openai_by(Api::Chat, base_url, key)
}

fn openai_by(api: Api, base_url: &str, key: Option<&str>) -> OpenAi {
    let settings = settings(base_url);
    let tls = tls::for_scheme(settings.base_url.scheme()).unwrap();
    OpenAi::new(settings, api, key.map(Secret::new).as_ref(), tls, now).unwrap()
}

async fn ask(openai: &OpenAi, cap: OutputCap) -> Result<Draft, Box<ExtractError>> {
    let schema = schema();
    let question = Question {
        call_key: CallKey::from_bytes([0xab; 32]),
        input: INPUT.as_bytes(),
        prompt: "Classify.",
        schema: &schema,
        cap,
    };
    openai.extract(&question).await.map_err(Box::new)
}

fn schema() -> Value {
    json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "integer" } } })
}

/// The schema as it is sent: an answer with another member is not taken.
fn closed() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["a"],
        "properties": { "a": { "type": "integer" } },
    })
}

/// One question to a server that behaves so. It is asked once, whatever it does.
async fn once(behaviour: Behaviour) -> Result<Draft, Box<ExtractError>> {
    let server = ModelServer::start(in_turn([behaviour]));
    let answer = ask(&openai(&server.base_url(), Some(KEY)), OutputCap::Ordinary).await;
    assert_eq!(server.calls().len(), 1, "{:?}", server.calls());
    answer
}

async fn failure(behaviour: Behaviour) -> Failure {
    once(behaviour).await.unwrap_err().failure
}
