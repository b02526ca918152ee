//! What the edge forwards: identity and immutable input, signed.
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

/// The path that an envelope is posted to, which its signature covers.
pub const REPORTS_PATH: &str = "/v1/reports";
