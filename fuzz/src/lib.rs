//! What has to hold for any bytes.
//!
//! Each function takes bytes, makes of them what somebody could send or write, and panics where
//! something comes of it that never may. The fuzzers under `targets/` call them with bytes that
//! they find new paths with, and `tests/hostile.rs` with drawn ones: what is run there and here
//! can't drift apart. How they are run is said in `docs/testing.md`.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a finding is told by panicking, and so is a mistake in here"
)]

mod admission;
mod bodies;
mod choices;
mod components;
mod configurations;
mod documents;
mod door;
mod encodings;
mod headers;
mod queries;
mod seeds;
mod stamps;
mod world;

pub use admission::{admission, schemes};
pub use bodies::{forms, inflated};
pub use choices::Choices;
pub use configurations::configurations;
pub use documents::documents;
pub use encodings::encodings;
pub use headers::headers;
pub use queries::queries;
pub use seeds::seeds;
pub use stamps::stamps;

/// Something that has to hold for any bytes.
pub type Property = fn(&[u8]);

/// Every property by its name, which is that of its fuzzer.
pub const PROPERTIES: [(&str, Property); 10] = [
    ("admission", admission),
    ("configurations", configurations),
    ("documents", documents),
    ("encodings", encodings),
    ("forms", forms),
    ("headers", headers),
    ("inflated", inflated),
    ("queries", queries),
    ("schemes", schemes),
    ("stamps", stamps),
];
