//! Messages.

mod answers;
mod failures;
mod requests;
