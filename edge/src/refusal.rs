//! Why a delivery is refused: what its sender is told, and what only the log says.

use fencepost_identity::{refusal::Refusal as PayloadRefusal, signature::FormatError};

/// A delivery that nothing was stored of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another method than POST.
    MethodNotAllowed,
    /// No source has this route.
    UnknownSource,
    /// The body is compressed, so it isn't clear which bytes are signed.
    ContentEncoding,
    /// The body has more bytes than the source takes.
    TooLarge {
        /// The most that it takes.
        limit: usize,
    },
    /// The body ended before its end.
    Interrupted,
    /// The signature is absent or malformed.
    Signature(FormatError),
    /// None of the live secrets, whose variables are named here, made the signature.
    Mismatch {
        /// The variables.
        secrets: Vec<String>,
    },
    /// The signature holds and its time is out of the window.
    OutOfWindow {
        /// The variable of the secret that it was made with.
        secret: String,
        /// Seconds that the sender's time lies before ours; negative where it lies after.
        skew_seconds: i64,
    },
    /// The tenant of the route has no secret.
    NoSecret,
    /// The sender may not name the tenant that the payload names.
    TenantNotAllowed,
    /// The payload, or the tenant in the route, is no identity.
    Payload(PayloadRefusal),
    /// The edge can't do its work, whatever the sender does.
    Misconfigured(Misconfigured),
    /// The backend hasn't said in time that the report is stored.
    NotStored(NotStored),
}

/// What is wrong with the edge's own surroundings. No text in it contains a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misconfigured {
    /// The configuration file: which key on which line, and what would be right.
    File(String),
    /// A variable that isn't there, or has no value that serves: its name, and why.
    Variable {
        /// The variable.
        name: String,
        /// Why it doesn't serve.
        why: String,
    },
}

/// Why it is not known that a report is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// The backend didn't answer within the source's deadline.
    Deadline,
    /// There was no answer: no connection, or it broke.
    Unreachable,
    /// The runtime doesn't allow calls to the backend's address.
    Denied,
    /// The backend answered that it hasn't stored the report.
    Refused {
        /// The status of its answer.
        status: u16,
        /// The code of its answer, where it is one that a backend has.
        code: Option<&'static str>,
    },
    /// The answer isn't one that a backend gives for this report.
    Odd {
        /// The status of the answer.
        status: u16,
    },
}

impl Refusal {
    /// The HTTP status that the sender gets.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Interrupted | Self::Payload(_) => 400,
            Self::Signature(FormatError::Unsigned) => 401,
            Self::Signature(
                FormatError::Repeated
                | FormatError::Signature
                | FormatError::MessageId
                | FormatError::Timestamp,
            ) => 400,
            Self::Mismatch { .. }
            | Self::OutOfWindow { .. }
            | Self::NoSecret
            | Self::TenantNotAllowed => 401,
            Self::UnknownSource => 404,
            Self::MethodNotAllowed => 405,
            Self::TooLarge { .. } => 413,
            Self::ContentEncoding => 415,
            Self::Misconfigured(_) | Self::NotStored(_) => 503,
        }
    }

    /// The stable code that the sender gets.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::MethodNotAllowed => "method_not_allowed",
            Self::UnknownSource => "unknown_source",
            Self::ContentEncoding => "unsupported_content_encoding",
            Self::TooLarge { .. } => "too_large",
            Self::Interrupted => "incomplete_body",
            Self::Signature(FormatError::Unsigned)
            | Self::Mismatch { .. }
            | Self::OutOfWindow { .. }
            | Self::NoSecret
            | Self::TenantNotAllowed => "unauthorized",
            Self::Signature(FormatError::Timestamp) => "bad_timestamp",
            Self::Signature(
                FormatError::Repeated | FormatError::Signature | FormatError::MessageId,
            ) => "bad_signature_format",
            Self::Payload(refusal) => refusal.code(),
            Self::Misconfigured(_) => "misconfigured",
            Self::NotStored(NotStored::Refused {
                code: Some(code), ..
            }) => code,
            Self::NotStored(
                NotStored::Deadline
                | NotStored::Unreachable
                | NotStored::Denied
                | NotStored::Refused { code: None, .. }
                | NotStored::Odd { .. },
            ) => "not_stored",
        }
    }

    /// One sentence for the sender. All that is 401 reads alike.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        match self {
            Self::MethodNotAllowed => "Deliveries are sent with POST",
            Self::UnknownSource => "There is no source at this address",
            Self::ContentEncoding => "The body has to be sent without a content encoding",
            Self::TooLarge { .. } => "The body is larger than this source takes",
            Self::Interrupted => "The body ended too early",
            Self::Signature(FormatError::Unsigned)
            | Self::Mismatch { .. }
            | Self::OutOfWindow { .. }
            | Self::NoSecret
            | Self::TenantNotAllowed => "The delivery is not signed as this source requires",
            Self::Signature(FormatError::Timestamp) => {
                "The signed timestamp is absent, repeated or malformed"
            }
            Self::Signature(FormatError::MessageId) => {
                "The signed message id is absent or malformed"
            }
            Self::Signature(FormatError::Repeated | FormatError::Signature) => {
                "The signature is repeated or malformed"
            }
            Self::Payload(refusal) => refusal.describe(),
            Self::Misconfigured(_) => "This source can't take deliveries now",
            Self::NotStored(_) => "The report is not known to be stored; deliver it again",
        }
    }

    /// What the log says beside the code: a token for each cause.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Signature(FormatError::Unsigned) => "no_signature",
            Self::Signature(FormatError::Repeated) => "repeated_header",
            Self::Signature(FormatError::Signature) => "malformed_signature",
            Self::Signature(FormatError::MessageId) => "malformed_message_id",
            Self::Signature(FormatError::Timestamp) => "malformed_timestamp",
            Self::Mismatch { .. } => "signature_mismatch",
            Self::OutOfWindow { .. } => "outside_window",
            Self::NoSecret => "tenant_without_secret",
            Self::TenantNotAllowed => "tenant_not_allowed",
            Self::Misconfigured(Misconfigured::File(_)) => "configuration_file",
            Self::Misconfigured(Misconfigured::Variable { .. }) => "variable",
            Self::NotStored(NotStored::Deadline) => "backend_too_slow",
            Self::NotStored(NotStored::Unreachable) => "backend_unreachable",
            Self::NotStored(NotStored::Denied) => "backend_not_an_allowed_host",
            Self::NotStored(NotStored::Refused { .. }) => "backend_refused",
            Self::NotStored(NotStored::Odd { .. }) => "backend_answer_not_understood",
            Self::MethodNotAllowed
            | Self::UnknownSource
            | Self::ContentEncoding
            | Self::TooLarge { .. }
            | Self::Interrupted
            | Self::Payload(_) => self.code(),
        }
    }
}

impl From<FormatError> for Refusal {
    fn from(error: FormatError) -> Self {
        Self::Signature(error)
    }
}

impl From<PayloadRefusal> for Refusal {
    fn from(refusal: PayloadRefusal) -> Self {
        Self::Payload(refusal)
    }
}

impl From<Misconfigured> for Refusal {
    fn from(what: Misconfigured) -> Self {
        Self::Misconfigured(what)
    }
}

impl From<NotStored> for Refusal {
    fn from(why: NotStored) -> Self {
        Self::NotStored(why)
    }
}
