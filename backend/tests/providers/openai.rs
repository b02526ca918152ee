//! Chat Completions and Responses.

mod answers;
mod failures;
mod requests;
mod responses;
