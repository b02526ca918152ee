//! `generateContent`.

mod answers;
mod failures;
mod requests;
