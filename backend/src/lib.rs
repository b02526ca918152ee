//! The backend.

pub mod app;
pub mod cli;
pub mod clock;
pub mod config;
pub mod extractor;
pub mod failpoint;
pub mod fetch;
pub mod findings;
pub mod http;
pub mod judge;
mod outbound;
pub mod policy;
pub mod replay;
pub mod report;
pub mod retry;
pub mod revision;
pub mod schema;
pub mod secret;
pub mod store;
pub mod telemetry;
pub mod tls;
pub mod worker;
