//! The worker on a real SQLite database. Only the model is scripted, and only time is a handle:
//! each test says when a call is answered and when a timer ends, so none of them sleeps.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what is not as expected ends a test"
)]

mod answers;
mod content;
mod expiry;
mod extractor;
mod faults;
mod fetcher;
mod fetching;
mod findings;
mod leases;
mod limits;
mod pauses;
mod providers;
mod rig;
mod running;
mod stopping;
mod store;
mod timer;
