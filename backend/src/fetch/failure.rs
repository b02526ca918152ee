//! Why content was not fetched, and what follows.

use std::time::Duration;

use fencepost_identity::config::Unplaceable;
use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};

use super::REDIRECTS_MAX;
use crate::{clock::UnixMillis, retry};

/// Why content was not fetched. Its text is made of fixed words, numbers and names of the
/// configuration: nothing of what a report or a server says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The report has no address.
    #[error("{0}")]
    Unplaceable(#[from] Unplaceable),
    /// What a link or a redirect says is no URL that could be asked, or it holds a credential.
    #[error("the address is not one of `http` or `https` without a name and password")]
    NotAnAddress,
    /// The host is not listed.
    #[error("the address leads to a host that `hosts` does not list")]
    Elsewhere,
    /// An address of the host is neither public nor listed, or not listed where there is no TLS.
    #[error("the host has an address that is private, and that `allow_private` does not list")]
    Private,
    /// It leads on and on.
    #[error("there are more than {REDIRECTS_MAX} redirects")]
    Redirects,
    /// The credential is refused: it was shown, and whoever was asked wants another one. What is
    /// closed to whoever may read the rest, with 403, tells nothing of the credential.
    #[error("the credential is not accepted (status {0})")]
    Credential(u16),
    /// Too many requests.
    #[error("the rate is limited (status {status})")]
    RateLimited {
        /// What was answered.
        status: u16,
        /// For how long to wait, where it is said.
        retry_after: Option<Duration>,
    },
    /// The server can't answer now.
    #[error("the server can't answer now (status {status})")]
    Overloaded {
        /// What was answered.
        status: u16,
        /// For how long to wait, where it is said.
        retry_after: Option<Duration>,
    },
    /// The server does not have it, or answers otherwise than with content.
    #[error("the server has no content there (status {0})")]
    NoContent(u16),
    /// There is more than is taken.
    #[error("the content has more than {0} bytes")]
    TooLarge(usize),
    /// It is no text.
    #[error("the content is not UTF-8")]
    NotText,
    /// It is compressed, though that was not asked for.
    #[error("the content is compressed")]
    Compressed,
    /// No connection, or it broke.
    #[error("the server could not be reached, or the connection broke")]
    Transport,
    /// It took too long.
    #[error("there is no content within the time for it")]
    Timeout,
}

/// What follows when content was not fetched. No inference can have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// Fetching again would not help: a person looks at it.
    Review,
    /// Later, and not before the server's own time where it named one.
    Later {
        /// What the server asked for.
        retry_after: Option<Duration>,
    },
    /// Nothing can be fetched with this credential.
    PauseCredential,
}

impl FetchError {
    /// What follows.
    #[must_use]
    pub fn consequence(&self) -> Consequence {
        match self {
            Self::Unplaceable(_)
            | Self::NotAnAddress
            | Self::Elsewhere
            | Self::Private
            | Self::Redirects
            | Self::NoContent(_)
            | Self::TooLarge(_)
            | Self::NotText
            | Self::Compressed => Consequence::Review,
            Self::Credential(_) => Consequence::PauseCredential,
            Self::RateLimited { retry_after, .. } | Self::Overloaded { retry_after, .. } => {
                Consequence::Later {
                    retry_after: *retry_after,
                }
            }
            Self::Transport | Self::Timeout => Consequence::Later { retry_after: None },
        }
    }

    /// What an answer without content means.
    pub(super) fn of(status: StatusCode, headers: &HeaderMap, now: UnixMillis) -> Self {
        let retry_after = wait(headers, now);
        let limited = retry_after.is_some() || said(headers, REMAINING) == Some("0");
        match status.as_u16() {
            status @ 429 => Self::RateLimited {
                status,
                retry_after,
            },
            // Some servers say so that the rate is limited.
            status @ 403 if limited => Self::RateLimited {
                status,
                retry_after,
            },
            status @ 401 => Self::Credential(status),
            status @ (408 | 425 | 500..=599) => Self::Overloaded {
                status,
                retry_after,
            },
            status => Self::NoContent(status),
        }
    }
}

/// How many requests are left until the time of [`RESET`].
const REMAINING: &str = "x-ratelimit-remaining";
/// When there are some again: seconds since 1970.
const RESET: &str = "x-ratelimit-reset";

fn said<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// For how long the server wants to be left alone.
fn wait(headers: &HeaderMap, now: UnixMillis) -> Option<Duration> {
    let at = jiff::Timestamp::from_millisecond(now.get()).unwrap_or_default();
    let after = said(headers, RETRY_AFTER.as_str());
    let after = after.and_then(|value| retry::retry_after(value, at));
    after.or_else(|| {
        said(headers, REMAINING).filter(|left| *left == "0")?;
        let reset: i64 = said(headers, RESET)?.parse().ok()?;
        let seconds = reset.checked_sub(at.as_second())?;
        retry::retry_after(&seconds.to_string(), at)
    })
}
