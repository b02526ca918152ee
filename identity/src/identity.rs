//! What a report is.

use std::fmt;

use crate::{
    key::{ContentHash, ReportKey, read_hex},
    refusal::Refusal,
};

/// The most bytes of a tenant.
pub const TENANT_BYTES_MAX: usize = 255;
/// The most bytes of a namespace.
pub const NAMESPACE_BYTES_MAX: usize = 64;
/// The most bytes of a report id.
pub const REPORT_ID_BYTES_MAX: usize = 1024;
/// The largest revision, 2^63-1: it fits a database's signed integer.
pub const REVISION_MAX: u64 = i64::MAX.unsigned_abs();

macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Checks the text; it is kept as it is, without trimming, folding or normalization.
            ///
            /// # Errors
            /// Empty, too long or with a character that is not allowed: in this order.
            pub fn new(text: impl Into<String>) -> Result<Self, Refusal> {
                let text = text.into();
                let check: fn(&str) -> Result<(), Refusal> = $check;
                check(&text)?;
                Ok(Self(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub(crate) fn as_bytes(&self) -> &[u8] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }
    };
}

text_type! {
    /// Whose report it is: 1 to 255 bytes without control characters.
    Tenant, |text| check_id(text, TENANT_BYTES_MAX)
}
text_type! {
    /// One space of ids: 1 to 64 of `a-z 0-9 - _`.
    Namespace, check_namespace
}
text_type! {
    /// The upstream's own id, opaque: 1 to 1024 bytes without control characters.
    ReportId, |text| check_id(text, REPORT_ID_BYTES_MAX)
}

fn check_bounds(text: &str, bytes_max: usize) -> Result<(), Refusal> {
    match text.len() {
        0 => Err(Refusal::EmptyField),
        len if len > bytes_max => Err(Refusal::FieldTooLong),
        _ => Ok(()),
    }
}

fn check_id(text: &str, bytes_max: usize) -> Result<(), Refusal> {
    check_bounds(text, bytes_max)?;
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(Refusal::ControlCharacter);
    }
    Ok(())
}

fn check_namespace(text: &str) -> Result<(), Refusal> {
    check_bounds(text, NAMESPACE_BYTES_MAX)?;
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    if text.bytes().all(allowed) {
        return Ok(());
    }
    match text.bytes().any(|byte| byte.is_ascii_control()) {
        true => Err(Refusal::ControlCharacter),
        false => Err(Refusal::NotAnIdentifier),
    }
}

/// A revision: 0 to 2^63-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(u64);

impl Revision {
    /// Checks the range.
    ///
    /// # Errors
    /// [`Refusal::NumberOutOfRange`] above 2^63-1.
    pub const fn new(number: u64) -> Result<Self, Refusal> {
        if number > REVISION_MAX {
            Err(Refusal::NumberOutOfRange)
        } else {
            Ok(Self(number))
        }
    }

    /// Reads decimal digits without a leading zero.
    ///
    /// # Errors
    /// [`Refusal::NotARevision`] for another text, [`Refusal::NumberOutOfRange`] above 2^63-1.
    pub fn from_digits(text: &str) -> Result<Self, Refusal> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || (text.len() > 1 && text.starts_with('0')) {
            return Err(Refusal::NotARevision);
        }
        text.parse()
            .map_err(|_| Refusal::NumberOutOfRange)
            .and_then(Self::new)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Which of a report's versions is meant. A re-opened report is a new version, not a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// The sender counts revisions.
    Revision(Revision),
    /// The sender doesn't, so chosen members of the payload tell versions apart.
    Content(ContentHash),
    /// The id names one immutable event.
    Event,
}

impl fmt::Display for Version {
    /// The text that goes into the report key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision(revision) => write!(f, "revision:{}", revision.get()),
            Self::Content(hash) => write!(f, "content:{hash}"),
            Self::Event => f.write_str("event"),
        }
    }
}

impl std::str::FromStr for Version {
    type Err = Refusal;

    /// Reads the text form back, as a database keeps it.
    fn from_str(text: &str) -> Result<Self, Refusal> {
        if let Some(digits) = text.strip_prefix("revision:") {
            return Revision::from_digits(digits).map(Self::Revision);
        }
        if let Some(hex) = text.strip_prefix("content:") {
            let bytes = read_hex(hex).map_err(|_| Refusal::NotAnIdentifier)?;
            return Ok(Self::Content(ContentHash::from_bytes(bytes)));
        }
        if text == "event" {
            Ok(Self::Event)
        } else {
            Err(Refusal::NotAnIdentifier)
        }
    }
}

impl serde::Serialize for Version {
    /// `{"revision": 3}`, `{"content": "<hex>"}` or `"event"`.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = match self {
            Self::Event => return serializer.serialize_str("event"),
            Self::Revision(_) | Self::Content(_) => serializer.serialize_map(Some(1))?,
        };
        match self {
            Self::Revision(revision) => map.serialize_entry("revision", &revision.get())?,
            Self::Content(hash) => map.serialize_entry("content", hash)?,
            Self::Event => {}
        }
        map.end()
    }
}

/// What a report is: everything that must happen once is keyed by what this derives.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Identity {
    /// Whose report it is.
    pub tenant: Tenant,
    /// The space that the id belongs to.
    pub namespace: Namespace,
    /// The upstream's own id.
    pub report_id: ReportId,
    /// Which version of the report.
    pub version: Version,
}

impl Identity {
    /// The key that names this report for ever.
    #[must_use]
    pub fn report_key(&self) -> ReportKey {
        ReportKey::of(self)
    }
}
