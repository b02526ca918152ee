use fencepost::extractor::Failure;
use fencepost_model::Behaviour;

use crate::who::{BROKEN, CHAT, LIMITED, OVERLOADED, QUOTA, RESPONSES};

#[tokio::test]
async fn every_status_has_its_class() {
    for (status, code, expected) in [
        (400, "invalid_json_schema", Failure::InvalidRequest),
        (400, "context_length_exceeded", Failure::ContextTooLong),
        (401, "invalid_api_key", Failure::Auth),
        (403, "unsupported_country_region_territory", Failure::Auth),
        (404, "model_not_found", Failure::InvalidRequest),
        (408, "timeout", BROKEN),
        (429, "rate_limit_exceeded", LIMITED),
        (429, "insufficient_quota", QUOTA),
        (500, "server_error", BROKEN),
        (529, "overloaded_error", OVERLOADED),
    ] {
        for who in [CHAT, RESPONSES] {
            let behaviour = Behaviour::error(status, "some_type", Some(code));
            let failure = who.failure(behaviour).await;
            assert_eq!(failure, expected, "{who:?} {status} {code}");
        }
    }
}
