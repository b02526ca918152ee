use std::time::Duration;

use fencepost::extractor::Failure;
use fencepost_model::Behaviour;
use serde_json::{Value, json};

use crate::who::{BROKEN, GEMINI, LIMITED, OVERLOADED, QUOTA};

const GOOGLE: &str = "type.googleapis.com/google.rpc";

#[tokio::test]
async fn every_status_has_its_class() {
    for (status, name, expected) in [
        (400, "INVALID_ARGUMENT", Failure::InvalidRequest),
        (400, "FAILED_PRECONDITION", Failure::InvalidRequest),
        (401, "UNAUTHENTICATED", Failure::Auth),
        (403, "PERMISSION_DENIED", Failure::Auth),
        (404, "NOT_FOUND", Failure::InvalidRequest),
        (409, "ABORTED", BROKEN),
        (429, "RESOURCE_EXHAUSTED", LIMITED),
        (499, "CANCELLED", BROKEN),
        (500, "INTERNAL", BROKEN),
        (503, "UNAVAILABLE", OVERLOADED),
        (504, "DEADLINE_EXCEEDED", BROKEN),
    ] {
        let behaviour = Behaviour::google_error(status, name, "told by the script", &[]);
        assert_eq!(GEMINI.failure(behaviour).await, expected, "{status} {name}");
    }
}

fn exhausted(details: &[Value]) -> Behaviour {
    let message = "You exceeded your current quota, please check your plan and billing details.";
    Behaviour::google_error(429, "RESOURCE_EXHAUSTED", message, details)
}

fn delay(text: &str) -> Value {
    json!({ "@type": format!("{GOOGLE}.RetryInfo"), "retryDelay": text })
}

fn quota(ids: &[&str]) -> Value {
    let violations: Vec<_> = ids
        .iter()
        .map(|id| json!({ "quotaMetric": "requests", "quotaId": id, "quotaValue": "50" }))
        .collect();
    json!({ "@type": format!("{GOOGLE}.QuotaFailure"), "violations": violations })
}

#[tokio::test]
async fn the_delay_stands_in_the_body() {
    for (text, milliseconds) in [
        ("37s", Some(37_000)),
        ("1.5s", Some(1_500)),
        ("0s", None),
        ("-3s", None),
        ("soon", None),
    ] {
        let retry_after = milliseconds.map(Duration::from_millis);
        let limited = GEMINI.failure(exhausted(&[delay(text)])).await;
        assert_eq!(limited, Failure::RateLimited { retry_after }, "{text}");
        let busy = Behaviour::google_error(503, "UNAVAILABLE", "busy", &[delay(text)]);
        let expected = Failure::Overloaded { retry_after };
        assert_eq!(GEMINI.failure(busy).await, expected, "{text}");
    }
    let both = exhausted(&[delay("37s")]).with("retry-after", "7");
    let expected = Failure::RateLimited {
        retry_after: Some(Duration::from_secs(7)),
    };
    assert_eq!(GEMINI.failure(both).await, expected);
}

#[tokio::test]
async fn a_limit_of_a_day_is_a_quota_and_one_of_a_minute_is_none() {
    let minute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
    let day = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
    for (ids, expected) in [
        (&[minute][..], LIMITED),
        (&[day], QUOTA),
        (&[minute, day], QUOTA),
        (&[], LIMITED),
    ] {
        assert_eq!(
            GEMINI.failure(exhausted(&[quota(ids)])).await,
            expected,
            "{ids:?}"
        );
    }
    let expected = Failure::Quota {
        retry_after: Some(Duration::from_secs(37)),
    };
    let details = [quota(&[day]), delay("37s")];
    assert_eq!(GEMINI.failure(exhausted(&details)).await, expected);
}

#[tokio::test]
async fn a_bad_request_may_be_a_wrong_key_or_too_long() {
    let reason = json!({ "@type": format!("{GOOGLE}.ErrorInfo"), "reason": "API_KEY_INVALID" });
    let bad = |message, details: &[Value]| {
        Behaviour::google_error(400, "INVALID_ARGUMENT", message, details)
    };
    let wrong_key = bad("API key not valid. Please pass a valid API key.", &[reason]);
    assert_eq!(GEMINI.failure(wrong_key).await, Failure::Auth);
    let too_long = "The input token count (9) exceeds the maximum number of tokens allowed (8).";
    assert_eq!(
        GEMINI.failure(bad(too_long, &[])).await,
        Failure::ContextTooLong
    );
}
