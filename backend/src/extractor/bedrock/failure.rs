//! What the provider says of a failure besides its status: the name of the error. A used-up quota
//! may come as a 400, and a model that is still being loaded as a 429.

use serde_json::Value;

use super::super::{
    client::Reply,
    status::{Meaning, Said},
};

/// The names that mean something here, and that are told in a log. Another text might be the
/// report's.
const KNOWN_WORDS: [&str; 22] = [
    "AccessDeniedException",
    "ConflictException",
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "IncompleteSignatureException",
    "InternalServerException",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "ModelErrorException",
    "ModelNotReadyException",
    "ModelTimeoutException",
    "RequestTimeTooSkewed",
    "ResourceNotFoundException",
    "ServiceQuotaExceededException",
    "ServiceUnavailableException",
    "SignatureDoesNotMatch",
    "ThrottlingException",
    "TooManyRequestsException",
    "UnrecognizedClientException",
    "ValidationException",
];

/// How the provider words that a question is too long.
const TOO_LONG: [&str; 4] = [
    "exceeds the context window",
    "input is too long",
    "prompt is too long",
    "too many input tokens",
];

/// How it words a limit that waiting for a minute does not lift.
const OF_A_DAY: &str = "per day";

/// Reads the header `x-amzn-errortype`, or else `__type` of the body, and `message`.
pub(super) fn said(reply: &Reply, body: &Value) -> Said {
    let word = name(reply, body);
    let text = |member| body.get(member).and_then(Value::as_str);
    let message = text("message").or_else(|| text("Message"));
    // It is compared, and never shown: it may quote the report.
    let message = message.unwrap_or_default().to_ascii_lowercase();
    Said {
        word,
        meant: match word {
            Some(name) => Some(meant(name, &message)),
            // A model's own failure, told by a gateway.
            None => (reply.status.as_u16() == 424).then_some(Meaning::Strange),
        },
        ..Said::default()
    }
}

/// Whether credentials were accepted once, and are no more.
pub(super) fn has_expired(reply: &Reply) -> bool {
    let name = name(reply, &reply.said());
    matches!(name, Some("ExpiredToken" | "ExpiredTokenException"))
}

/// The name of what is wrong, which may stand as in `aws.protocols#ThrottlingException:http://…`.
fn name(reply: &Reply, body: &Value) -> Option<&'static str> {
    let header = reply.headers.get("x-amzn-errortype");
    let header = header.and_then(|value| value.to_str().ok());
    let told = header.or_else(|| body.get("__type")?.as_str())?;
    let told = told.split(':').next()?.rsplit('#').next()?;
    KNOWN_WORDS.into_iter().find(|word| *word == told)
}

fn meant(name: &str, message: &str) -> Meaning {
    match name {
        "ThrottlingException" | "TooManyRequestsException" if message.contains(OF_A_DAY) => {
            Meaning::Quota
        }
        "ThrottlingException" | "TooManyRequestsException" => Meaning::RateLimited,
        "ServiceQuotaExceededException" => Meaning::Quota,
        "ModelNotReadyException" => Meaning::NotReady,
        "ServiceUnavailableException" => Meaning::Overloaded,
        "ConflictException"
        | "InternalServerException"
        | "ModelErrorException"
        | "ModelTimeoutException" => Meaning::Strange,
        "ValidationException" if TOO_LONG.iter().any(|words| message.contains(words)) => {
            Meaning::ContextTooLong
        }
        "ResourceNotFoundException" | "ValidationException" => Meaning::InvalidRequest,
        // All others that are known are about the credential.
        _ => Meaning::Auth,
    }
}
