//! What a configuration can say of a signature.

use super::{Encoding, StampFormat, Template};
use crate::pointer::Pointer;

/// How a source's deliveries prove who sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// By a code over what a template puts together.
    Signed(Signed),
    /// By showing the secret itself, which says nothing of the body.
    Token(Token),
    /// By HTTP's Basic, which says nothing of the body; the secret is `user:password`.
    Basic,
}

/// What a proof covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The body's bytes.
    Body,
    /// Only that the sender knows the secret, as whoever saw one delivery does.
    SenderOnly,
}

impl Scheme {
    /// What a delivery under this scheme proves.
    #[must_use]
    pub const fn proof(&self) -> Proof {
        match self {
            Self::Signed(_) => Proof::Body,
            Self::Token(_) | Self::Basic => Proof::SenderOnly,
        }
    }
}

/// A code over parts of the delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// What makes the code.
    pub algorithm: Algorithm,
    /// The spellings of the headers' names, of which a delivery uses one. Never empty.
    pub places: Vec<Place>,
    /// Headers that may carry one more signature each.
    pub extra_headers: Vec<String>,
    /// What the header's value looks like.
    pub shape: Shape,
    /// How a code is written in it.
    pub encoding: Encoding,
    /// What is signed.
    pub template: Template,
    /// The signed time, where there is one.
    pub stamp: Option<Stamp>,
    /// How the secret is written.
    pub secret: SecretForm,
    /// The public URL as the sender has it; `{tenant}` in it is the route's last segment.
    pub url: Option<String>,
}

/// Names of headers that belong together, in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Carries the signature.
    pub signature: String,
    /// Carries the signed id.
    pub id: Option<String>,
    /// Carries the signed time.
    pub timestamp: Option<String>,
}

/// What makes a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// HMAC-SHA1: still unbroken, and no longer taken unless a configuration says so.
    HmacSha1,
    /// HMAC-SHA256.
    HmacSha256,
    /// HMAC-SHA512.
    HmacSha512,
    /// Ed25519: the source's secret is a public key.
    Ed25519,
}

impl Algorithm {
    /// The bytes of a code.
    #[must_use]
    pub const fn code_bytes(self) -> usize {
        match self {
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
            Self::HmacSha512 | Self::Ed25519 => 64,
        }
    }
}

/// The form of a signature header's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The code alone.
    Value,
    /// The code behind a fixed text.
    Prefix(String),
    /// Names with values, such as `t=…,v1=…`.
    Pairs {
        /// Between pairs; blanks around it are allowed.
        separator: char,
        /// Between a name and its value.
        equals: char,
        /// The names whose values are codes. Others are passed over, and never count.
        keys: Vec<String>,
    },
    /// Versions with codes in a list by spaces, such as `v1,… v1a,…`.
    Versioned {
        /// The version that counts. Others are passed over.
        version: String,
    },
    /// Codes in a list.
    List {
        /// Between codes; blanks around it are allowed.
        separator: char,
        /// Stands before each of them.
        prefix: String,
    },
}

/// The time that a sender states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Where it stands.
    pub source: StampSource,
    /// How it is written.
    pub format: StampFormat,
    /// How far it may be from ours.
    pub window: Window,
}

/// Where a time stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StampSource {
    /// In the header that the place names.
    Header,
    /// In the pair of this name, in the signature's header.
    Pair(String),
    /// In the body, which the code covers: it is read once that holds.
    Body(Pointer),
}

/// How far a sender's time may be from ours; the ends are inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Any time will do.
    Off,
    /// So many seconds.
    Within {
        /// How long ago it may be, in seconds.
        past: u64,
        /// How far ahead it may be, in seconds.
        future: u64,
    },
}

/// How a secret is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretForm {
    /// What the text stands for.
    pub encoding: SecretEncoding,
    /// What stands before it and is no part of it.
    pub prefix: String,
}

/// What a secret's text stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretEncoding {
    /// Its own bytes.
    Text,
    /// Standard base64 with its padding.
    Base64,
    /// Hexadecimal digits.
    Hex,
}

/// A secret that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// In a header, behind a fixed text.
    Header {
        /// Its name.
        name: String,
        /// What stands before the secret; often nothing.
        prefix: String,
    },
    /// In the body, as Microsoft Graph's `clientState`. The body has to be read before anything is
    /// proven.
    Body(Pointer),
}

impl Window {
    /// Whether a time so many seconds before ours is inside; negative where it lies after.
    #[must_use]
    pub const fn holds(self, skew_seconds: i64) -> bool {
        match self {
            Self::Off => true,
            Self::Within { past, future } => {
                let limit = if skew_seconds < 0 { future } else { past };
                skew_seconds.unsigned_abs() <= limit
            }
        }
    }
}
