//! What another status than 200 means: one table for all who are asked over HTTP. Some things that
//! have to be told apart share a status, and then the provider's own words tell them apart.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value;

use super::{
    Call, Failure, RequestId,
    client::{Reply, STRANGE},
};

/// What went wrong, as far as a status or a provider's words say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Refused,
    /// Another program stands there, or the provider gave up: nobody can tell whether it was paid.
    Strange,
    /// The provider can't ask its model yet, so nothing is paid.
    #[cfg(feature = "bedrock")]
    NotReady,
    RateLimited,
    Overloaded,
    Auth,
    Quota,
    InvalidRequest,
    ContextTooLong,
}

/// What a provider says besides the status, in words of its own.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Its word for what is wrong, if it is one that is known. Another might be the report's.
    pub(super) word: Option<&'static str>,
    /// Its id of the request, where the body has one.
    pub(super) request_id: Option<RequestId>,
    /// For how long to wait, where the body says it.
    pub(super) delay: Option<Duration>,
    /// What is meant, where the status does not say it, or not rightly.
    pub(super) meant: Option<Meaning>,
}

/// The failure that a reply tells of; it is told in the log, too.
pub(super) fn read(reply: &Reply, said: fn(&Reply, &Value) -> Said, call: &mut Call) -> Failure {
    let said = said(reply, &reply.said());
    call.request_id = call.request_id.take().or(said.request_id);
    let retry_after = reply.retry_after().or(said.delay);
    let meaning = said.meant.unwrap_or_else(|| meaning(reply.status));
    let failure = meaning.failure(retry_after);
    reply.log(said.word, failure);
    failure
}

/// What a status means where nothing else is said.
fn meaning(status: StatusCode) -> Meaning {
    match status.as_u16() {
        401 | 403 => Meaning::Auth,
        402 => Meaning::Quota,
        408 | 409 | 425 => Meaning::Strange,
        429 => Meaning::RateLimited,
        400..=499 => Meaning::InvalidRequest,
        503 | 529 => Meaning::Overloaded,
        // Also what is no answer at all, such as a redirect.
        _ => Meaning::Strange,
    }
}

impl Meaning {
    fn failure(self, retry_after: Option<Duration>) -> Failure {
        match self {
            Self::Refused => Failure::Refused,
            Self::Strange => STRANGE,
            #[cfg(feature = "bedrock")]
            Self::NotReady => Failure::Transport(super::Inference::NotBegun),
            Self::RateLimited => Failure::RateLimited { retry_after },
            Self::Overloaded => Failure::Overloaded { retry_after },
            Self::Auth => Failure::Auth,
            Self::Quota => Failure::Quota { retry_after },
            Self::InvalidRequest => Failure::InvalidRequest,
            Self::ContextTooLong => Failure::ContextTooLong,
        }
    }
}
