use fencepost::extractor::Failure;
use fencepost_model::Behaviour;

use crate::who::{BROKEN, CONVERSE, LIMITED, OVERLOADED, QUOTA, UNSENT, responding};

const AUTH: Failure = Failure::Auth;
const INVALID: Failure = Failure::InvalidRequest;

/// The names of errors, with a status that the provider sends them with.
const NAMES: [(u16, &str, Failure); 18] = [
    (403, "AccessDeniedException", AUTH),
    (403, "UnrecognizedClientException", AUTH),
    (403, "InvalidSignatureException", AUTH),
    (400, "IncompleteSignatureException", AUTH),
    (403, "MissingAuthenticationTokenException", AUTH),
    (403, "ExpiredTokenException", AUTH),
    // A clock that is wrong makes every signature one.
    (403, "RequestTimeTooSkewed", AUTH),
    (429, "ThrottlingException", LIMITED),
    (429, "ModelNotReadyException", UNSENT),
    (400, "ServiceQuotaExceededException", QUOTA),
    (408, "ModelTimeoutException", BROKEN),
    (424, "ModelErrorException", BROKEN),
    (400, "ConflictException", BROKEN),
    (500, "InternalServerException", BROKEN),
    (503, "ServiceUnavailableException", OVERLOADED),
    (400, "ValidationException", INVALID),
    (404, "ResourceNotFoundException", INVALID),
    (400, "NewException", INVALID),
];

#[tokio::test]
async fn every_name_has_its_class() {
    for (status, name, expected) in NAMES {
        let behaviour = Behaviour::amazon_error(status, name, "told by the script");
        assert_eq!(
            CONVERSE.failure(behaviour).await,
            expected,
            "{status} {name}"
        );
    }
}

#[tokio::test]
async fn the_name_decides_whatever_the_status_is() {
    for (_, name, expected) in NAMES {
        if name == "NewException" {
            continue;
        }
        for status in [400, 403, 429, 500] {
            let behaviour = Behaviour::amazon_error(status, name, "told by the script");
            assert_eq!(
                CONVERSE.failure(behaviour).await,
                expected,
                "{status} {name}"
            );
        }
    }
}

#[tokio::test]
async fn the_name_may_stand_in_the_body_and_be_written_at_length() {
    for kind in [
        "ThrottlingException",
        "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/",
        "com.amazon.coral.service#ThrottlingException",
    ] {
        let limited = Behaviour::amazon_error(400, kind, "told by the script");
        assert_eq!(CONVERSE.failure(limited).await, LIMITED, "{kind}");
        let body = serde_json::json!({ "__type": kind, "message": "told by the script" });
        let limited = responding(400, body.to_string());
        assert_eq!(CONVERSE.failure(limited).await, LIMITED, "{kind}");
    }
}

#[tokio::test]
async fn what_shares_a_name_is_told_apart_by_what_is_said() {
    for (name, message, expected) in [
        (
            "ThrottlingException",
            "Too many tokens per day, please wait before trying again.",
            QUOTA,
        ),
        (
            "ThrottlingException",
            "Too many tokens, please wait before trying again.",
            LIMITED,
        ),
        (
            "ValidationException",
            "Input is too long for requested model.",
            Failure::ContextTooLong,
        ),
        (
            "ValidationException",
            "The model returned the following errors: prompt is too long: 210000 tokens > 200000 \
             maximum",
            Failure::ContextTooLong,
        ),
        (
            "ValidationException",
            "The provided model identifier is invalid.",
            INVALID,
        ),
        (
            "ValidationException",
            "The compiled grammar is too large.",
            INVALID,
        ),
    ] {
        let behaviour = Behaviour::amazon_error(400, name, message);
        assert_eq!(CONVERSE.failure(behaviour).await, expected, "{message}");
    }
}

#[tokio::test]
async fn a_gateways_own_status_counts_where_there_is_no_name() {
    let failure = CONVERSE.failure(responding(424, "")).await;
    assert_eq!(failure, BROKEN);
}
