use std::time::Duration;

use fencepost::extractor::Failure;
use fencepost_model::Behaviour;

use crate::who::{BROKEN, LIMITED, OVERLOADED, QUOTA, SCHEMA};

#[tokio::test]
async fn every_status_has_its_class() {
    for (status, kind, expected) in [
        (400, "invalid_request_error", Failure::InvalidRequest),
        (401, "authentication_error", Failure::Auth),
        (402, "billing_error", QUOTA),
        (403, "permission_error", Failure::Auth),
        (404, "not_found_error", Failure::InvalidRequest),
        (408, "timeout_error", BROKEN),
        (409, "conflict_error", BROKEN),
        (413, "request_too_large", Failure::InvalidRequest),
        (429, "rate_limit_error", LIMITED),
        (500, "api_error", BROKEN),
        (500, "overloaded_error", OVERLOADED),
        (504, "timeout_error", BROKEN),
        (504, "gateway_timeout", BROKEN),
        (529, "overloaded_error", OVERLOADED),
    ] {
        let behaviour = Behaviour::anthropic_error(status, kind, "told by the script");
        assert_eq!(SCHEMA.failure(behaviour).await, expected, "{status} {kind}");
    }
}

#[tokio::test]
async fn what_shares_a_status_is_told_apart_by_what_is_said() {
    let bad = "invalid_request_error";
    for (status, kind, message, expected) in [
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
            400,
            bad,
            "prompt is too long: 210000 tokens > 200000 maximum",
            Failure::ContextTooLong,
        ),
        (
            400,
            bad,
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            Failure::ContextTooLong,
        ),
        (
            400,
            bad,
            "The compiled grammar is too large.",
            Failure::InvalidRequest,
        ),
        (
            400,
            bad,
            "Output blocked by content filtering policy",
            Failure::Refused,
        ),
        (
            429,
            "rate_limit_error",
            "You have reached your monthly spend limit.",
            QUOTA,
        ),
        (
            429,
            "rate_limit_error",
            "This would exceed 50,000 input tokens per minute.",
            LIMITED,
        ),
    ] {
        let behaviour = Behaviour::anthropic_error(status, kind, message);
        assert_eq!(
            SCHEMA.failure(behaviour).await,
            expected,
            "{status} {message}"
        );
    }
}

#[tokio::test]
async fn a_limit_that_names_its_end_is_one_of_the_rate() {
    let words = "You have reached your usage limit.";
    let limited = Behaviour::anthropic_error(429, "rate_limit_error", words);
    let expected = Failure::RateLimited {
        retry_after: Some(Duration::from_secs(7)),
    };
    assert_eq!(
        SCHEMA.failure(limited.with("retry-after", "7")).await,
        expected
    );
}

#[tokio::test]
async fn an_attempt_tells_the_providers_id_from_the_header_or_the_body() {
    let refused = Behaviour::anthropic_error(529, "overloaded_error", "busy");
    let with_header = refused.clone().with("request-id", "req_of_the_header");
    for (behaviour, id) in [
        (refused, "req_of_the_body"),
        (with_header, "req_of_the_header"),
    ] {
        let call = SCHEMA.once(behaviour).await.unwrap_err().call;
        assert_eq!(call.request_id.unwrap().as_str(), id);
    }
}
