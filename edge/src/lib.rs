//! The edge: verifies a webhook, derives its report's key and forwards identity and input.
//!
//! It keeps no state and makes one outbound call per accepted delivery. [`handle`] is the whole of
//! it, written against [`Host`]; the module `component` alone knows that the host is Spin.

mod answer;
mod backend;
mod handler;
mod log;
mod refusal;
mod secrets;

#[cfg(target_family = "wasm")]
mod component;
#[cfg(target_family = "wasm")]
mod keys;

pub use answer::Answer;
pub use backend::{Post, PostError, Reply};
pub use fencepost_identity::admission::Delivery;
pub use handler::{BACKEND_URL, EDGE_SECRET, Host, Interrupted, VariableUnavailable, handle};
pub use refusal::{Misconfigured, NotStored, Refusal};
