//! A model server that answers as a test tells it to, and remembers who asked.
//!
//! It speaks Chat Completions, Responses, Anthropic's Messages, Gemini's `generateContent` (also as
//! Vertex AI has it) and Bedrock's Converse, on a port of its own, in a thread of its own: a test
//! that blocks, or that kills the process which asks, does not disturb it. Each call is asked of
//! the test's script, and is kept with its call key, its time and how it ended;
//! [`ModelServer::recording`] writes the same to a file, a line for each event, which outlives the
//! test. [`ContentServer`] is who has what reports refer to.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what is not as expected here ends the test that uses it"
)]

mod content;
mod gate;
mod ledger;
mod marks;
mod obedient;
mod script;
mod server;
mod wire;

pub use self::{
    content::{Content, ContentServer, Requested},
    gate::Gate,
    ledger::{Call, Ending},
    obedient::obedient,
    script::{Asked, Behaviour, by_key, in_turn, moderation},
    server::ModelServer,
};
