//! Signing and verifying, against vectors that others published and against a set of our own, made
//! by an independent program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod codes;
mod fixtures;
mod headers;
mod stamps;
mod times_and_secrets;
