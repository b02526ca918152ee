//! What a provider answers without its model.

use fencepost::{
    extractor::openai::Api,
    report::{AttemptOutcome, ReviewReason},
    store::{Charge, PauseReason},
};
use fencepost_model::Behaviour;
use serde_json::json;

use super::{AUTH, BROKEN, Comes, INVALID, LIMITED, OVERLOADED, QUOTA, REFUSED, Row, TOO_LONG};
use crate::who::{Who, answering, responding};

/// What a status means with nothing else said; with its number, where it was reported.
fn plain() -> Vec<Row> {
    let tau = "huggingface/tau #333; genkit-dart #355; QwenPaw #1891: it passes";
    let passing = [425, 520, 521, 522, 523, 524].map(|status| (tau, Some(49), status, BROKEN));
    let others = [
        (tau, Some(49), 529, OVERLOADED),
        ("a time-out on the way", None, 408, BROKEN),
        ("a conflict that passes", None, 409, BROKEN),
        ("an error of the server", None, 500, BROKEN),
        ("a gateway with nobody behind it", None, 502, BROKEN),
        ("out of room", None, 503, OVERLOADED),
        ("a gateway that waited in vain", None, 504, BROKEN),
        ("no content", None, 204, BROKEN),
        ("a wrong key", None, 401, AUTH),
        ("a key that may not", None, 403, AUTH),
        ("nothing paid", None, 402, QUOTA),
        ("a wrong question", None, 400, INVALID),
        ("no such model", None, 404, INVALID),
        ("not this way", None, 405, INVALID),
        ("too large", None, 413, INVALID),
        ("not this form", None, 415, INVALID),
        ("a wrong value", None, 422, INVALID),
        ("too often", None, 429, LIMITED),
    ];
    let all = passing.into_iter().chain(others);
    all.map(|(origin, number, status, comes)| Row {
        number,
        ..Row::own(origin, move |who| Some(who.error(status)), comes)
    })
    .collect()
}

/// Errors of `OpenAI`'s form, by status, code and message.
fn of_openai() -> Vec<Row> {
    let tokens = "Request too large for m on tokens per min (TPM): Limit 30000, Requested 47000.";
    let window = "This model's maximum context length is 8192 tokens.";
    [
        (429, Some("rate_limit_exceeded"), "", LIMITED),
        (429, Some("insufficient_quota"), "", QUOTA),
        (429, Some("billing_hard_limit_reached"), "", QUOTA),
        (429, None, "Your credit balance is too low", QUOTA),
        (400, None, "Your credit balance is too low", QUOTA),
        (429, None, tokens, INVALID),
        (400, Some("context_length_exceeded"), "", TOO_LONG),
        (400, None, window, TOO_LONG),
        (413, None, "the prompt is too long", TOO_LONG),
        (422, None, "the context size was exceeded", TOO_LONG),
        (400, Some("invalid_json_schema"), "", INVALID),
        (403, Some("unsupported_country_region_territory"), "", AUTH),
        (404, Some("model_not_found"), "", INVALID),
        (400, Some("content_policy_violation"), "", REFUSED),
    ]
    .into_iter()
    .map(|(status, code, message, comes)| {
        let said = move |who| match who {
            Who::OpenAi(_) => {
                let error = json!({ "message": message, "type": "", "param": null, "code": code });
                Some(responding(status, json!({ "error": error }).to_string()))
            }
            Who::Anthropic(_) | Who::Gemini | Who::Bedrock(_) => None,
        };
        Row::own("OpenAI's words", said, comes)
    })
    .collect()
}

fn of_anthropic() -> Vec<Row> {
    let bad = "invalid_request_error";
    let limit = "rate_limit_error";
    [
        (
            400,
            bad,
            "You have reached your specified API usage limits.",
            QUOTA,
        ),
        (
            400,
            bad,
            "Your credit balance is too low to access the API.",
            QUOTA,
        ),
        (
            400,
            bad,
            "This exceeds the spend limit of the workspace.",
            QUOTA,
        ),
        (
            429,
            limit,
            "You have reached your monthly spend limit.",
            QUOTA,
        ),
        (
            429,
            limit,
            "This would exceed 50,000 input tokens per minute.",
            LIMITED,
        ),
        (402, "billing_error", "", QUOTA),
        (
            400,
            bad,
            "prompt is too long: 210000 tokens > 200000 maximum",
            TOO_LONG,
        ),
        (
            413,
            "request_too_large",
            "Request exceeds the maximum size",
            INVALID,
        ),
        (500, "overloaded_error", "Overloaded", OVERLOADED),
        (529, "overloaded_error", "Overloaded", OVERLOADED),
        (409, "conflict_error", "", BROKEN),
        (504, "timeout_error", "", BROKEN),
    ]
    .into_iter()
    .map(|(status, kind, message, comes)| {
        let said = move |who| match who {
            Who::Anthropic(_) => Some(Behaviour::anthropic_error(status, kind, message)),
            Who::OpenAi(_) | Who::Gemini | Who::Bedrock(_) => None,
        };
        Row::own("Anthropic's words", said, comes)
    })
    .collect()
}

fn of_google() -> Vec<Row> {
    let detail = |kind: &str, member: &str, value| {
        let kind = format!("type.googleapis.com/google.rpc.{kind}");
        json!({ "@type": kind, member: value })
    };
    let quota = |id: &str| detail("QuotaFailure", "violations", json!([{ "quotaId": id }]));
    let minute = quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier");
    let day = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    let reason = |reason: &str| detail("ErrorInfo", "reason", json!(reason));
    let billing = "You exceeded your current quota, please check your plan and billing details.";
    let tokens = "The input token count (9) exceeds the maximum number of tokens allowed (8).";
    [
        (429, "RESOURCE_EXHAUSTED", billing, vec![minute], LIMITED),
        (429, "RESOURCE_EXHAUSTED", billing, vec![day], QUOTA),
        (429, "RESOURCE_EXHAUSTED", billing, vec![], LIMITED),
        (
            400,
            "INVALID_ARGUMENT",
            "",
            vec![reason("API_KEY_INVALID")],
            AUTH,
        ),
        (
            400,
            "INVALID_ARGUMENT",
            "",
            vec![reason("API_KEY_EXPIRED")],
            AUTH,
        ),
        (400, "INVALID_ARGUMENT", tokens, vec![], TOO_LONG),
        (499, "CANCELLED", "", vec![], BROKEN),
        (503, "UNAVAILABLE", "", vec![], OVERLOADED),
        (504, "DEADLINE_EXCEEDED", "", vec![], BROKEN),
    ]
    .into_iter()
    .map(|(status, name, message, details, comes)| {
        let said = move |who| match who {
            Who::Gemini => Some(Behaviour::google_error(status, name, message, &details)),
            Who::OpenAi(_) | Who::Anthropic(_) | Who::Bedrock(_) => None,
        };
        Row::own("Google's words", said, comes)
    })
    .collect()
}

/// Errors of Amazon's form, by status, name and message.
#[cfg(feature = "bedrock")]
fn of_amazon() -> Vec<Row> {
    let not_ready = Comes::Later(AttemptOutcome::Transport, Charge::GiveBack, None);
    let day = "Too many tokens per day, please wait before trying again.";
    let long = "Input is too long for requested model.";
    [
        (403, "AccessDeniedException", "", AUTH),
        (403, "ExpiredTokenException", "", AUTH),
        // The clock of this machine is wrong.
        (403, "InvalidSignatureException", "Signature expired", AUTH),
        (403, "RequestTimeTooSkewed", "", AUTH),
        (429, "ThrottlingException", "", LIMITED),
        (429, "ThrottlingException", day, QUOTA),
        (400, "ServiceQuotaExceededException", "", QUOTA),
        (429, "ModelNotReadyException", "", not_ready),
        (408, "ModelTimeoutException", "", BROKEN),
        (424, "ModelErrorException", "", BROKEN),
        (500, "InternalServerException", "", BROKEN),
        (503, "ServiceUnavailableException", "", OVERLOADED),
        (400, "ValidationException", "", INVALID),
        (400, "ValidationException", long, TOO_LONG),
        (404, "ResourceNotFoundException", "", INVALID),
    ]
    .into_iter()
    .map(|(status, name, message, comes)| {
        let said = move |who| match who {
            Who::Bedrock(_) => Some(Behaviour::amazon_error(status, name, message)),
            Who::OpenAi(_) | Who::Anthropic(_) | Who::Gemini => None,
        };
        Row::own("Amazon's words", said, comes)
    })
    .collect()
}

/// Failures that Responses tells of with a 200.
fn of_responses() -> Vec<Row> {
    [
        ("rate_limit_exceeded", LIMITED),
        ("insufficient_quota", QUOTA),
        ("bio_policy", REFUSED),
        ("server_error", BROKEN),
        ("a_new_one", BROKEN),
    ]
    .into_iter()
    .map(|(code, comes)| {
        let said = move |who| match who {
            Who::OpenAi(Api::Responses) => {
                let error = json!({ "code": code, "message": "told by the script" });
                let body = json!({ "status": "failed", "error": error, "output": [] });
                Some(answering(body.to_string()))
            }
            Who::OpenAi(Api::Chat) | Who::Anthropic(_) | Who::Gemini | Who::Bedrock(_) => None,
        };
        Row::own("a failure with a 200", said, comes)
    })
    .collect()
}

/// What has no JSON has its status.
fn of_pages() -> Vec<Row> {
    let page = "<html><h1>Request Entity Too Large</h1></html>";
    let too_large = responding(413, page).with("content-type", "text/html");
    let invalid = Comes::Person(AttemptOutcome::InvalidRequest, ReviewReason::InvalidRequest);
    let limited = Comes::Later(AttemptOutcome::RateLimited, Charge::GiveBack, None);
    let auth = Comes::Paused(PauseReason::Auth, None);
    vec![
        Row::behaviour("413 by a network before the provider", too_large, invalid),
        Row::behaviour("429 with no body", responding(429, ""), limited),
        Row::behaviour("401 with a page", responding(401, page), auth),
        Row::behaviour(
            "an error with NUL in it",
            responding(500, "{\"error\":\"a\0\"}"),
            BROKEN,
        ),
    ]
}

pub(super) fn rows() -> Vec<Row> {
    let tables = [
        plain(),
        of_openai(),
        of_anthropic(),
        of_google(),
        #[cfg(feature = "bedrock")]
        of_amazon(),
        of_responses(),
        of_pages(),
    ];
    tables.into_iter().flatten().collect()
}
