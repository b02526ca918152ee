//! What a report is, and the keys that follow from it.
//!
//! No I/O, no clock, no randomness, no environment: the same bytes in, the same bytes out, natively
//! and in WebAssembly. A key once published never changes; another derivation gets another name.

pub mod admission;
pub mod canonical;
pub mod config;
mod document;
pub mod envelope;
pub mod identity;
pub mod json;
pub mod key;
pub mod mapping;
pub mod pointer;
mod preimage;
pub mod refusal;
pub mod signature;
