//! The main job, end to end: the component in its host, the backend, a database. One promise per
//! file.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says at which case"
)]

mod canaries;
mod disk_full;
mod edge_state;
mod envelope;
mod mapping;
mod processes;
mod redelivery;
mod reference;
mod refusals;
mod soundness;
mod unavailable;
mod versions;
