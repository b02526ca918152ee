//! How an answer came to its end, in each provider's words.

use fencepost::{extractor::openai::Api, report::AttemptOutcome};
use fencepost_model::Behaviour;
use serde_json::{Value, json};

use super::{Comes, FINE, Row};
use crate::who::{Who, answering};

/// A cut answer is asked for once more, with room for a longer one.
fn cut() -> Comes {
    let reason = "the answer was cut off at the output cap";
    Comes::Again(AttemptOutcome::Truncated, reason.to_owned())
}

fn finish(who: Who, reason: &str, content: &str) -> Behaviour {
    answering(who.ended(reason, content).to_string())
}

/// With these members beside the usual, or in their place, at the top of what comes back.
fn with(who: Who, members: &Value) -> Behaviour {
    let mut body: Value = serde_json::from_str(&who.barely(FINE)).unwrap();
    let members = members.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(members);
    answering(body.to_string())
}

pub(super) fn rows() -> Vec<Row> {
    let fine = || Comes::Committed(FINE.to_owned());
    let mut rows = Vec::new();
    for content in [FINE, r#"{"category":"other","confi"#, ""] {
        rows.push(Row::own(
            "cora-code #536; mastra #24442: cut off, though it may read well",
            move |who| Some(finish(who, who.cut_off().first()?, content)),
            cut(),
        ));
    }
    rows.push(Row::own(
        "cut off at the end of the model's window",
        |who| match who {
            Who::Anthropic(_) | Who::Bedrock(_) => {
                Some(finish(who, "model_context_window_exceeded", FINE))
            }
            Who::OpenAi(_) | Who::Gemini => None,
        },
        cut(),
    ));
    for reason in ["", "eos", "a_new_one"] {
        rows.push(
            Row::own(
                "async-openai #503; maple-proxy #3; mofa #1155: a reason that nobody knows",
                // Only where it is the reason for an answer that is not whole.
                move |who| match who {
                    Who::OpenAi(Api::Responses) => Some(with(who, &json!({ "status": reason }))),
                    Who::OpenAi(Api::Chat) | Who::Anthropic(_) | Who::Gemini | Who::Bedrock(_) => {
                        Some(finish(who, reason, FINE))
                    }
                },
                fine(),
            )
            .numbered(53),
        );
    }
    for members in [
        json!({}),
        json!({ "service_tier": "on_demand", "system_fingerprint": 7, "new": { "a": [] } }),
        json!({ "id": null, "model": null, "usage": null, "object": null, "created": "now" }),
        json!({ "id": 7, "model": ["m"], "usage": "many", "usageMetadata": [], "responseId": {} }),
        json!({ "usage": { "prompt_tokens": -1, "input_tokens": 1.5, "completion_tokens": "2" } }),
    ] {
        rows.push(
            Row::own(
                "async-openai #503; maple-proxy #3; mofa #1155: other members, or none",
                move |who| Some(with(who, &members)),
                fine(),
            )
            .numbered(53),
        );
    }
    rows.push(Row::own(
        "a kind of content that nobody knows",
        |who| Some(answering(who.among_others(FINE).to_string())),
        fine(),
    ));
    rows
}
