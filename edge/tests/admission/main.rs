//! What the edge makes of deliveries, natively: every refusal, the order of the checks, and that
//! nothing but the chosen members of a payload goes anywhere.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod answers;
mod bodies;
mod canaries;
mod configuration;
mod conformance;
mod credentials;
mod echoes;
mod encodings;
mod forms;
mod greetings;
mod order;
mod payloads;
mod request;
mod signatures;
mod spellings;
mod world;
