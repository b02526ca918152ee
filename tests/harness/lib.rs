//! Everything as a user has it: the component in its host, the backend, a database of its own.
//!
//! A test starts a [`Stack`], speaks to it in the words of the domain, and ends it with
//! [`Stack::finish`], which refuses leftovers: a report that nobody finishes, a program that does
//! not end, a history that breaks an invariant. What goes through HTTP stands on the stack; what is
//! read from the database, past the program, on [`Stack::db`].

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says on stderr where the logs are"
)]

mod backend;
mod client;
mod database;
mod delivery;
mod envelope;
mod process;
mod program;
mod project;
mod random;
mod recorded;
mod setup;
mod stack;
mod wait;
mod wire;

pub use backend::Backend;
pub use client::Answer;
pub use database::{Database, DatabaseKind};
pub use delivery::{Delivery, Framing, github_signature, now, sample, standard_headers};
pub use envelope::Sealed;
pub use process::{Output, Process, run};
pub use program::Program;
pub use project::{
    ADMIN_TOKEN, EDGE_SECRET, GITHUB_SECRET, NOTES_OLD_SECRET, NOTES_SECRET, Project,
    REPORTS_MASTER_SECRET, tenant_secret, workspace,
};
pub use random::Random;
pub use recorded::Recorded;
pub use setup::{Entrance, Launch, Role, Setup};
pub use stack::{Cut, Stack, Target};
pub use wait::wait_until;
pub use wire::{Mode, Wire};
