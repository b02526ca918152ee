//! The extractors that ask a model over HTTP, against a server that answers in each provider's form
//! and as it is told. It remembers each call, so what is not sent shows as well as what is.
//!
//! What holds for all of them is tried with each; what is one provider's own stands in its folder.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that meets what it does not expect ends there"
)]

mod answers;
mod anthropic;
#[cfg(feature = "bedrock")]
mod bedrock;
mod bounds;
mod connections;
mod corpus;
mod failures;
mod gemini;
mod log;
mod openai;
mod protection;
mod secrets;
mod who;
