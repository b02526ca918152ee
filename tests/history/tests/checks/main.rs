//! Tests of the checker itself: what it must find, what it must leave alone, and what it reads.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod broken;
mod postgres;
mod records;
mod sound;
mod sqlite;
mod stored;
mod story;
