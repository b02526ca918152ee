//! Attempts: how they are numbered, how they end, and why a person is asked.

use std::fmt;

use super::words;

/// The number of an attempt within its report: 1 is the first; grants of all its jobs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptNumber(u32);

impl AttemptNumber {
    /// Takes a number that a database kept; attempts start at 1.
    #[must_use]
    pub fn from_stored(number: i64) -> Option<Self> {
        u32::try_from(number)
            .ok()
            .filter(|number| *number > 0)
            .map(Self)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for AttemptNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl serde::Serialize for AttemptNumber {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0)
    }
}

words! {
    /// How an attempt ended.
    AttemptOutcome {
        /// Its answer was committed.
        Committed = "committed",
        /// Its lease ran out and another worker, or nobody any more, took the job.
        LeaseLost = "lease_lost",
        /// Its worker gave it back, as at a graceful stop.
        Released = "released",
        /// The answer was not JSON.
        SyntaxInvalid = "syntax_invalid",
        /// The answer did not fit the schema.
        SchemaInvalid = "schema_invalid",
        /// The answer broke a rule that a schema can't say.
        PolicyInvalid = "policy_invalid",
        /// The model declined to answer.
        Refused = "refused",
        /// The answer was cut off.
        Truncated = "truncated",
        /// The provider could not be reached, or the connection broke.
        Transport = "transport",
        /// The provider asked for fewer calls.
        RateLimited = "rate_limited",
        /// The provider had no capacity.
        Overloaded = "overloaded",
        /// No answer came in time.
        Timeout = "timeout",
        /// The provider did not accept the credential.
        Auth = "auth",
        /// The credential's quota was used up.
        Quota = "quota",
        /// The provider did not accept the request.
        InvalidRequest = "invalid_request",
        /// The input did not fit the model.
        ContextTooLong = "context_too_long",
        /// The database failed at the commit.
        Database = "database",
    }
}

impl AttemptOutcome {
    /// Whether this is a verdict on an answer: after one, the same question is asked under a new
    /// call key, and the judged answer is not used again.
    #[must_use]
    pub const fn is_verdict(self) -> bool {
        match self {
            Self::Committed
            | Self::SyntaxInvalid
            | Self::SchemaInvalid
            | Self::PolicyInvalid
            | Self::Refused
            | Self::Truncated => true,
            Self::LeaseLost
            | Self::Released
            | Self::Transport
            | Self::RateLimited
            | Self::Overloaded
            | Self::Timeout
            | Self::Auth
            | Self::Quota
            | Self::InvalidRequest
            | Self::ContextTooLong
            | Self::Database => false,
        }
    }

    /// Whether the provider failed in a way that passes by itself.
    #[must_use]
    pub const fn is_transient(self) -> bool {
        match self {
            Self::Transport | Self::RateLimited | Self::Overloaded | Self::Timeout => true,
            Self::Committed
            | Self::LeaseLost
            | Self::Released
            | Self::SyntaxInvalid
            | Self::SchemaInvalid
            | Self::PolicyInvalid
            | Self::Refused
            | Self::Truncated
            | Self::Auth
            | Self::Quota
            | Self::InvalidRequest
            | Self::ContextTooLong
            | Self::Database => false,
        }
    }
}

words! {
    /// Why a person is asked.
    ReviewReason {
        /// The answer is valid, and the pipeline's `review_when` wants a person to see it.
        Policy = "policy",
        /// All attempts are spent.
        AttemptsSpent = "attempts_spent",
        /// The time for the whole job is over.
        Elapsed = "elapsed",
        /// The model declined to answer.
        Refused = "refused",
        /// The answer was cut off again, with a larger cap.
        Truncated = "truncated",
        /// The provider does not accept the request.
        InvalidRequest = "invalid_request",
        /// The input does not fit the model.
        ContextTooLong = "context_too_long",
    }
}
