//! Errors as RFC 9457 problem documents. The only place that knows status codes for errors.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::{
    clock::UnixMillis,
    report::{Outcome, State},
};

/// Why a request was not done. The codes are stable; a caller may match on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The envelope is not what the edge writes.
    BadEnvelope,
    /// The envelope's key is not the key of its identity.
    KeyMismatch,
    /// The envelope's hash is not the hash of its input.
    HashMismatch,
    /// A parameter of the request can't be understood: its name and what was expected.
    BadParameter {
        /// The parameter.
        name: &'static str,
        /// What would be right.
        expected: &'static str,
    },
    /// No token, or a wrong one; or an envelope that no live secret signed. One answer for all.
    Unauthorized,
    /// No such report.
    UnknownReport,
    /// The review item has another revision than the one that was looked at.
    StaleRevision {
        /// The one that counts.
        revision: u64,
    },
    /// Nobody is asked about the report.
    NotInReview {
        /// Its state.
        state: State,
    },
    /// The report has no result that could be accepted.
    NothingToAccept,
    /// The report's schema version is bound to another schema than the one that is configured.
    OtherSchema,
    /// The report's content was never fetched, so that nothing can be held to it.
    NotFetched,
    /// A corrected value does not fit the schema, and where: places of the schema.
    InvalidValue(String),
    /// The report's pipeline is not in this configuration.
    UnknownPipeline,
    /// The report was erased.
    Erased,
    /// A newer version took the report's place.
    Outdated,
    /// No answer is left that could be judged again.
    NoAnswerKept {
        /// When the last one was emptied, having been kept long enough.
        emptied: Option<UnixMillis>,
    },
    /// No such path.
    NotFound,
    /// The path has other methods.
    MethodNotAllowed,
    /// The body did not arrive in time.
    RequestTimeout,
    /// The body is longer than its bound.
    TooLarge {
        /// The bound.
        bytes_max: usize,
    },
    /// The envelope was signed too long ago, or by a clock that is ahead.
    StaleEnvelope,
    /// The edge has a source that this configuration does not have, so the two differ.
    UnknownSource,
    /// The source's mapping is not the one that its first report bound.
    MappingChanged,
    /// The envelope carries the content where the backend is to fetch it, or the other way round.
    InputForm,
    /// More reports are being written than the bound allows.
    Busy,
    /// The report could not be stored durably.
    NotStored,
    /// The database can't be read.
    Unavailable,
    /// A row can't be understood.
    Corrupt,
    /// A defect in this program.
    Internal,
}

#[derive(Serialize)]
struct Document<'a> {
    r#type: &'a str,
    title: &'a str,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    code: &'a str,
}

impl Problem {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadEnvelope => "bad_envelope",
            Self::KeyMismatch => "key_mismatch",
            Self::HashMismatch => "hash_mismatch",
            Self::BadParameter { .. } => "bad_parameter",
            Self::Unauthorized => "unauthorized",
            Self::UnknownReport => "unknown_report",
            Self::StaleRevision { .. } => "stale_revision",
            Self::NotInReview { .. } => "not_in_review",
            Self::NothingToAccept => "nothing_to_accept",
            Self::OtherSchema => "other_schema",
            Self::NotFetched => "not_fetched",
            Self::InvalidValue(_) => "invalid_value",
            Self::UnknownPipeline => "unknown_pipeline",
            Self::Erased => "erased",
            Self::Outdated => "superseded",
            Self::NoAnswerKept { .. } => "no_answer_kept",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::RequestTimeout => "request_timeout",
            Self::TooLarge { .. } => "too_large",
            Self::StaleEnvelope => "stale_envelope",
            Self::UnknownSource => "unknown_source",
            Self::MappingChanged => "mapping_changed",
            Self::InputForm => "input_form_differs",
            Self::Busy => "busy",
            Self::NotStored => "not_stored",
            Self::Unavailable => "unavailable",
            Self::Corrupt => "corrupt_row",
            Self::Internal => "internal",
        }
    }

    /// The status that the code always has.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::BadEnvelope
            | Self::KeyMismatch
            | Self::HashMismatch
            | Self::BadParameter { .. } => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::UnknownReport | Self::NotFound => StatusCode::NOT_FOUND,
            Self::StaleRevision { .. }
            | Self::NotInReview { .. }
            | Self::NothingToAccept
            | Self::OtherSchema
            | Self::NotFetched
            | Self::UnknownPipeline
            | Self::Erased
            | Self::Outdated
            | Self::NoAnswerKept { .. } => StatusCode::CONFLICT,
            Self::InvalidValue(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::StaleEnvelope
            | Self::UnknownSource
            | Self::MappingChanged
            | Self::InputForm
            | Self::Busy
            | Self::NotStored
            | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Corrupt | Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Seconds after which another try makes sense: what only a person can put right is asked for
    /// less often than what passes by itself.
    const fn retry_after(&self) -> Option<&'static str> {
        match self {
            Self::Busy => Some("1"),
            Self::StaleEnvelope | Self::NotStored | Self::Unavailable => Some("5"),
            Self::UnknownSource | Self::MappingChanged | Self::InputForm => Some("30"),
            Self::BadEnvelope
            | Self::KeyMismatch
            | Self::HashMismatch
            | Self::BadParameter { .. }
            | Self::Unauthorized
            | Self::UnknownReport
            | Self::StaleRevision { .. }
            | Self::NotInReview { .. }
            | Self::NothingToAccept
            | Self::OtherSchema
            | Self::NotFetched
            | Self::InvalidValue(_)
            | Self::UnknownPipeline
            | Self::Erased
            | Self::Outdated
            | Self::NoAnswerKept { .. }
            | Self::NotFound
            | Self::MethodNotAllowed
            | Self::RequestTimeout
            | Self::TooLarge { .. }
            | Self::Corrupt
            | Self::Internal => None,
        }
    }

    /// One sentence for a person. It never holds anything that came with the request.
    fn detail(&self) -> Option<String> {
        let text = match self {
            Self::BadEnvelope => "the body is not an envelope of this version of the edge",
            Self::KeyMismatch => "the report key is not the key of the identity",
            Self::HashMismatch => "the input hash is not the hash of the input",
            Self::BadParameter { name, expected } => {
                return Some(format!("`{name}` is not {expected}"));
            }
            Self::Unauthorized | Self::NotFound | Self::MethodNotAllowed => return None,
            Self::UnknownReport => "no report has this key",
            Self::StaleRevision { revision } => {
                return Some(format!(
                    "the review item is at revision {revision} by now: look at it again"
                ));
            }
            Self::NotInReview { state } => {
                let state = state.outcome().map_or(state.as_str(), Outcome::as_str);
                return Some(format!("nobody is asked about the report: it is {state}"));
            }
            Self::NothingToAccept => "the report has no result that could be accepted",
            Self::OtherSchema => {
                "the pipeline's `schema_version` is bound to another schema than the configured \
                 one: give the changed one a new version"
            }
            Self::NotFetched => {
                "the report's content was never fetched: a finding can't be held to it; an empty \
                 list, `retry` and `dismiss` can be decided"
            }
            Self::InvalidValue(places) => return Some(places.clone()),
            Self::UnknownPipeline => "the report's pipeline is not in this configuration",
            Self::Erased => "the report was erased",
            Self::Outdated => "a newer version took the report's place",
            Self::NoAnswerKept { emptied: None } => {
                "no answer of the report is kept under its pipeline's classifier_version; `retry` \
                 where a person is asked, or another classifier_version, has the model asked again"
            }
            Self::NoAnswerKept { emptied: Some(at) } => {
                return Some(format!(
                    "the report's answer was kept until {at}; `retry` where a person is asked, or \
                     another classifier_version, has the model asked again"
                ));
            }
            Self::RequestTimeout => "the body did not arrive in time",
            Self::TooLarge { bytes_max } => {
                return Some(format!("the body is longer than {bytes_max} bytes"));
            }
            Self::StaleEnvelope => "the envelope's time is too far from the clock here",
            Self::UnknownSource => "the edge and the backend have different configurations",
            Self::MappingChanged => {
                "the source's mapping differs from the one bound on first use; \
                 `fencepost source rebind` says that re-keying is meant"
            }
            Self::InputForm => {
                "the edge and the backend have different configurations: one forwards the content \
                 of this source, the other fetches it"
            }
            Self::Busy => "too many reports are being written at once",
            Self::NotStored => "the report could not be stored durably; nothing was written",
            Self::Unavailable => "the database can't be read at the moment",
            Self::Corrupt => "a row of the database can't be understood; the log names it",
            Self::Internal => "a defect; the log has more",
        };
        Some(text.to_owned())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let document = Document {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: self.detail(),
            code: self.code(),
        };
        let mut response = (status, Json(document)).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Problem; 28] = [
        Problem::BadEnvelope,
        Problem::KeyMismatch,
        Problem::HashMismatch,
        Problem::BadParameter {
            name: "limit",
            expected: "a number",
        },
        Problem::Unauthorized,
        Problem::UnknownReport,
        Problem::StaleRevision { revision: 2 },
        Problem::NotInReview {
            state: State::Accepted,
        },
        Problem::NothingToAccept,
        Problem::OtherSchema,
        Problem::NotFetched,
        Problem::UnknownPipeline,
        Problem::Erased,
        Problem::Outdated,
        Problem::NoAnswerKept { emptied: None },
        Problem::NotFound,
        Problem::MethodNotAllowed,
        Problem::RequestTimeout,
        Problem::TooLarge { bytes_max: 1 },
        Problem::StaleEnvelope,
        Problem::UnknownSource,
        Problem::MappingChanged,
        Problem::InputForm,
        Problem::Busy,
        Problem::NotStored,
        Problem::Unavailable,
        Problem::Corrupt,
        Problem::Internal,
    ];

    #[test]
    fn each_503_says_when_to_try_again_and_nothing_else_does() {
        for problem in ALL {
            let response = problem.clone().into_response();
            let unavailable = response.status() == StatusCode::SERVICE_UNAVAILABLE;
            assert_eq!(
                response.headers().contains_key("retry-after"),
                unavailable,
                "{problem:?}"
            );
        }
    }

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = ALL.iter().map(Problem::code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ALL.len());
    }
}
