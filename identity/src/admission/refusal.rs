//! Why a delivery is refused: what its sender is told, and what only the log says.

use super::Proof;
use crate::{refusal::Refusal as PayloadRefusal, signature::FormatError};

/// A delivery that is no report, and no answer to it that its sender may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A method that the source doesn't take.
    MethodNotAllowed {
        /// Those that it takes, as `Allow` has them.
        allow: &'static str,
    },
    /// No source has this route.
    UnknownSource,
    /// The body is compressed in a way that the source doesn't take.
    ContentEncoding,
    /// The body isn't what its content encoding says.
    BadContentEncoding,
    /// The body has more bytes than the source takes, compressed or not.
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
    OutOfWindow(Proof),
    /// The tenant of the route has no secret.
    NoSecret,
    /// The sender may not name the tenant that the payload names.
    TenantNotAllowed,
    /// A handshake without what belongs to it, or with too much.
    Handshake,
    /// A handshake with a token that isn't ours.
    HandshakeRefused,
    /// The form has the field of the payload twice.
    Form,
    /// The payload, or the tenant in the route, is no identity.
    Payload(PayloadRefusal),
}

impl Refusal {
    /// The HTTP status that the sender gets.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Interrupted
            | Self::Payload(_)
            | Self::BadContentEncoding
            | Self::Handshake
            | Self::Form => 400,
            Self::Signature(FormatError::Unsigned) => 401,
            Self::Signature(
                FormatError::Repeated
                | FormatError::Signature
                | FormatError::MessageId
                | FormatError::Timestamp,
            ) => 400,
            Self::Mismatch { .. }
            | Self::OutOfWindow(_)
            | Self::NoSecret
            | Self::TenantNotAllowed => 401,
            Self::HandshakeRefused => 403,
            Self::UnknownSource => 404,
            Self::MethodNotAllowed { .. } => 405,
            Self::TooLarge { .. } => 413,
            Self::ContentEncoding => 415,
        }
    }

    /// The stable code that the sender gets.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::MethodNotAllowed { .. } => "method_not_allowed",
            Self::UnknownSource => "unknown_source",
            Self::ContentEncoding => "unsupported_content_encoding",
            Self::BadContentEncoding => "bad_content_encoding",
            Self::TooLarge { .. } => "too_large",
            Self::Interrupted => "incomplete_body",
            Self::Signature(FormatError::Unsigned)
            | Self::Mismatch { .. }
            | Self::OutOfWindow(_)
            | Self::NoSecret
            | Self::TenantNotAllowed => "unauthorized",
            Self::Signature(FormatError::Timestamp) => "bad_timestamp",
            Self::Signature(
                FormatError::Repeated | FormatError::Signature | FormatError::MessageId,
            ) => "bad_signature_format",
            Self::Handshake => "bad_handshake",
            Self::HandshakeRefused => "handshake_refused",
            Self::Form => "invalid_form",
            Self::Payload(refusal) => refusal.code(),
        }
    }

    /// One sentence for the sender. All that is 401 reads alike.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        match self {
            Self::MethodNotAllowed { .. } => "This source does not take the method",
            Self::UnknownSource => "There is no source at this address",
            Self::ContentEncoding => "The body has to be sent without this content encoding",
            Self::BadContentEncoding => "The body is not what its content encoding says",
            Self::TooLarge { .. } => "The body is larger than this source takes",
            Self::Interrupted => "The body ended too early",
            Self::Signature(FormatError::Unsigned)
            | Self::Mismatch { .. }
            | Self::OutOfWindow(_)
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
            Self::Handshake => "The handshake is malformed",
            Self::HandshakeRefused => "The handshake's token is not the one that is expected",
            Self::Form => "The form has the field of the payload twice",
            Self::Payload(refusal) => refusal.describe(),
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
            Self::OutOfWindow(_) => "outside_window",
            Self::NoSecret => "tenant_without_secret",
            Self::TenantNotAllowed => "tenant_not_allowed",
            Self::HandshakeRefused => "verify_token_mismatch",
            Self::MethodNotAllowed { .. }
            | Self::UnknownSource
            | Self::ContentEncoding
            | Self::BadContentEncoding
            | Self::TooLarge { .. }
            | Self::Interrupted
            | Self::Handshake
            | Self::Form
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
