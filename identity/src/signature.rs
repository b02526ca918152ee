//! How senders sign a webhook, and how that is checked: over the received bytes, never over a
//! document that was read and written again.
//!
//! A [`Scheme`] says as data how a source's deliveries are signed. A check has three steps, so that
//! each refusal has its place in the edge's order: [`Presented::read`] takes the headers apart,
//! [`Presented::verify`] compares with what every live key makes in constant time, and only for a
//! signature that holds looks at the clock.

mod encoding;
mod key;
mod presented;
mod scheme;
mod sign;
mod stamp;
mod template;
mod value;
mod verify;

pub use encoding::Encoding;
pub use key::{KEY_BYTES_MIN, KeyError, SigningKey, derive_secret, key_bytes};
pub use presented::{FormatError, Presented, Request, SIGNATURES_MAX};
pub use scheme::{
    Algorithm, Place, Proof, Scheme, SecretEncoding, SecretForm, Shape, Signed, Stamp, StampSource,
    Token, Window,
};
pub use sign::{Sending, SignError, sign};
pub use stamp::StampFormat;
pub use template::{Template, TemplateError, Word};
pub use verify::{InPayload, Proven, Verdict};

/// How far a sender's clock may be off, either way, where a scheme says nothing else.
pub const WINDOW_SECONDS: u64 = 300;
