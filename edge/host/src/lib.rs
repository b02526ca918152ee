//! Runs the edge component under wasmtime where Spin is not installed, from the same `spin.toml`.
//!
//! It is for development and tests, and behaves as Spin does where that shows: instances that
//! several requests share, a trap that fails all of them, outgoing requests to the listed hosts
//! only, variables and mounted files. What a manifest may ask for and this host does not have is
//! refused at the start, never ignored.

pub mod bindings;
pub mod describe;
pub mod files;
pub mod instance;
pub mod keys;
pub mod manifest;
pub mod outbound;
pub mod pool;
pub mod route;
pub mod send;
pub mod serve;
pub mod surroundings;
pub mod template;
pub mod variables;
pub mod vectors;

use std::io::Write as _;

/// Writes one JSON line to stderr, beside the component's own.
///
/// A failure to write is ignored: there is nowhere left to say so.
pub(crate) fn log(event: &str, details: &[(&str, &str)]) {
    let mut line = serde_json::Map::new();
    line.insert("from".to_owned(), "fencepost-edge".into());
    line.insert("event".to_owned(), event.into());
    for (name, value) in details {
        line.insert((*name).to_owned(), (*value).into());
    }
    let _ = writeln!(std::io::stderr(), "{}", serde_json::Value::Object(line));
}
