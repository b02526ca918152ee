//! Chat Completions and Responses.

mod answers;
mod corpus;
mod failures;
mod requests;
mod responses;
