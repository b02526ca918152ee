//! What the edge forwards: identity and immutable input, or identity and links alone where the
//! backend fetches the content; signed.
//!
//! Nothing else of a delivery goes on: no signature header, no delivery id, no send time, no other
//! part of the payload. The backend trusts nothing in it that it can derive itself.

mod form;
mod seal;

pub use form::{Envelope, EnvelopeError};
pub use seal::{
    EdgeSecret, HEADER_KEY_ID, HEADER_SIGNATURE, HEADER_TIME, Seal, SealError, SecretTooShort,
    WINDOW_SECONDS, open, seal,
};

/// The most bytes of the envelope of a delivery whose body has at most these. A number such as
/// `1e20` is forwarded with all its digits, and one member may be named twice in an input; what
/// grows beyond this is refused at the edge, so that the backend need not.
#[must_use]
pub const fn bytes_max(body_bytes_max: usize) -> usize {
    body_bytes_max.saturating_mul(5).saturating_add(64 * 1024)
}

/// The path that an envelope is posted to, which its signature covers.
pub const REPORTS_PATH: &str = "/v1/reports";
