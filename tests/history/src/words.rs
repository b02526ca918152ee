//! The words that rows hold. They are listed here once more, not taken from the program: a word
//! that it misspells must not be understood.

use std::{fmt, str::FromStr};

/// A word that no row may hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no word of this column")]
pub struct UnknownWord(pub String);

macro_rules! words {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            /// The word, as databases spell it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                match word {
                    $($word => Ok(Self::$variant),)*
                    other => Err(UnknownWord(other.to_owned())),
                }
            }
        }
    };
}

words! {
    /// `job.state`.
    JobState {
        /// Stored; nobody works on it.
        Accepted = "accepted",
        /// A worker holds its lease.
        Running = "running",
        /// The last answer was not valid, and another attempt is due.
        ValidationRejected = "validation_rejected",
        /// A person has to look at it.
        ReadyForReview = "ready_for_review",
        /// It came to rest.
        Terminal = "terminal",
    }
}

impl JobState {
    /// Whether a worker still has something to do.
    #[must_use]
    pub const fn is_unfinished(self) -> bool {
        match self {
            Self::Accepted | Self::Running | Self::ValidationRejected => true,
            Self::ReadyForReview | Self::Terminal => false,
        }
    }
}

words! {
    /// `job.outcome`: how a job came to rest.
    Ending {
        /// A model's answer was committed, and no person was needed.
        Committed = "committed",
        /// A person decided.
        Decided = "decided",
        /// A person set it aside.
        Dismissed = "dismissed",
        /// A newer version, or another job of the report, took its place.
        Superseded = "superseded",
        /// Its contents were erased.
        Erased = "erased",
    }
}

words! {
    /// `attempt.outcome`.
    AttemptOutcome {
        /// Its answer was committed.
        Committed = "committed",
        /// A later grant cut it off.
        LeaseLost = "lease_lost",
        /// Its worker gave it back.
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
    /// Whether this judged an answer, so that the next question has another call key.
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
}

words! {
    /// `result.status`.
    ResultStatus {
        /// The one that the report names.
        Current = "current",
        /// A machine's, beside one that a person decided.
        Candidate = "candidate",
        /// It was current once.
        History = "history",
    }
}

words! {
    /// `finding.status`.
    FindingStatus {
        /// The result lists it.
        Present = "present",
        /// It did, and a newer answer does not.
        Withdrawn = "withdrawn",
    }
}

words! {
    /// `review.status`.
    ReviewStatus {
        /// Somebody has to decide.
        Open = "open",
        /// Nobody has to any more.
        Closed = "closed",
    }
}

words! {
    /// `decision.kind`.
    DecisionKind {
        /// The result stands.
        Accept = "accept",
        /// Another value takes its place.
        Correct = "correct",
        /// Nothing comes of the report.
        Dismiss = "dismiss",
        /// The model is asked again.
        Retry = "retry",
    }
}

words! {
    /// `outbox.kind`.
    EventKind {
        /// A report was stored.
        ReportAccepted = "report.accepted",
        /// A person is asked.
        ReviewOpened = "review.opened",
        /// A result is final.
        ResultFinal = "result.final",
        /// Findings are no longer listed.
        FindingWithdrawn = "finding.withdrawn",
    }
}
