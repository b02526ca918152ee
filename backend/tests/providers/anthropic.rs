//! Messages.

#[path = "anthropic/answers.rs"]
mod answers;
#[path = "anthropic/failures.rs"]
mod failures;
#[path = "anthropic/requests.rs"]
mod requests;

use super::*;

const SCHEMA: Who = Who::Anthropic(Output::Schema);
const TOOL: Who = Who::Anthropic(Output::Tool);
