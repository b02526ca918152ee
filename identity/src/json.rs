//! Strict JSON: what is read is what the sender wrote, or it is refused.
//!
//! Libraries for JSON forgive what an identity can't: they let the last of two equal members win,
//! turn long integers into doubles and replace or reject half surrogates. This reader keeps every
//! digit, knows half surrogates apart and refuses a document that two parsers could read in two
//! ways.

use std::{borrow::Cow, boxed::Box, vec::Vec};

use crate::refusal::Refusal;

mod number;
mod reader;

pub use number::Number;

/// The most containers inside one another.
pub const DEPTH_MAX: usize = 64;

/// A JSON value, borrowed from the document where nothing had to be decoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, by its digits.
    Number(Number<'a>),
    /// A string.
    String(Text<'a>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object, its members in the document's order; no name stands twice.
    Object(Vec<(Text<'a>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// The member of an object; nothing in another value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else {
            return None;
        };
        members
            .iter()
            .find(|(member, _)| member.as_str() == Some(name))
            .map(|(_, value)| value)
    }

    /// The text of a string without half surrogates; nothing of another value.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self {
            text.as_str()
        } else {
            None
        }
    }

    /// The members of an object; nothing of another value.
    #[must_use]
    pub fn as_object(&self) -> Option<&[(Text<'a>, Value<'a>)]> {
        if let Self::Object(members) = self {
            Some(members)
        } else {
            None
        }
    }
}

/// A JSON string, which may contain half surrogates that no UTF-8 text can.
///
/// The order is that of UTF-16 code units, which RFC 8785 sorts members by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// With U+FFFD for each half surrogate.
    text: Cow<'a, str>,
    /// The code units, where the text has a half surrogate.
    units: Option<Box<[u16]>>,
}

impl<'a> Text<'a> {
    /// The text, unless it contains half a surrogate pair.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if self.units.is_some() {
            None
        } else {
            Some(&self.text)
        }
    }

    /// The text with U+FFFD for each half surrogate.
    #[must_use]
    pub fn to_str_lossy(&self) -> &str {
        &self.text
    }

    pub(crate) fn borrowed(text: &'a str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            units: None,
        }
    }

    fn code_units(&self) -> impl Iterator<Item = u16> {
        let plain = self.units.is_none().then(|| self.text.encode_utf16());
        plain
            .into_iter()
            .flatten()
            .chain(self.units.iter().flatten().copied())
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // ASCII, which nearly all member names are, sorts alike in both encodings.
        if self.text.is_ascii() && other.text.is_ascii() {
            return self.text.cmp(&other.text);
        }
        self.text
            .encode_utf16()
            .cmp(other.text.encode_utf16())
            .then_with(|| self.code_units().cmp(other.code_units()))
    }
}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Reads a whole document; a leading byte order mark is ignored.
///
/// Memory is proportional to the document. The stack is bounded by [`DEPTH_MAX`].
///
/// # Errors
/// [`Refusal::InvalidJson`] for anything but one JSON value in UTF-8 at most [`DEPTH_MAX`] deep;
/// then [`Refusal::DuplicateMember`].
pub fn parse(document: &[u8]) -> Result<Value<'_>, Refusal> {
    let text = std::str::from_utf8(document).map_err(|_| Refusal::InvalidJson)?;
    reader::read(text.strip_prefix('\u{feff}').unwrap_or(text))
}
