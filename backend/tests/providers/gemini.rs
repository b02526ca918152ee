//! `generateContent`.

#[path = "gemini/answers.rs"]
mod answers;
#[path = "gemini/failures.rs"]
mod failures;
#[path = "gemini/requests.rs"]
mod requests;

use super::*;

const GEMINI: Who = Who::Gemini;
