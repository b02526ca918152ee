//! How senders sign a webhook, and how that is checked: over the received bytes, never over a
//! document that was read and written again.
//!
//! A check has three steps, so that each refusal has its place in the edge's order:
//! [`Presented::read`] takes the headers apart, [`Presented::verify`] compares the code with that
//! of every live key in constant time, and only for a signature that holds looks at the clock.

use std::fmt;

mod key;
mod presented;
mod sign;

pub use key::{KEY_BYTES_MIN, KeyError, SigningKey, derive_secret};
pub use presented::{FormatError, Presented, Verdict};
pub use sign::{BadMessageId, sign};

/// How far a sender's clock may be off, either way.
pub const WINDOW_SECONDS: u64 = 300;

/// A way of signing that is known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// `X-Hub-Signature-256: sha256=<hex>` over the body; the key is the secret's text. Nothing in
    /// it is dated, so an old delivery stays valid: the report key alone makes it a duplicate.
    Github,
    /// Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature` (or the same
    /// with `svix-`), over `id.timestamp.body`; the key is what follows `whsec_`, base64 decoded.
    StandardWebhooks,
}

impl Preset {
    /// Every name, as the configuration spells it.
    pub const NAMES: [&str; 2] = ["github", "standard-webhooks"];

    /// The preset of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "github" => Some(Self::Github),
            "standard-webhooks" => Some(Self::StandardWebhooks),
            _ => None,
        }
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::StandardWebhooks => "standard-webhooks",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
