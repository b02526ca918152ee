//! JSON Pointers, RFC 6901.

use std::fmt;
use std::{string::String, vec::Vec};

use crate::json::Value;

/// A well-formed JSON Pointer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    text: String,
    tokens: Vec<String>,
}

/// A text that is no JSON Pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAPointer {
    /// It is not empty and does not begin with `/`.
    #[error("a JSON Pointer is empty or begins with `/`")]
    NoSlash,
    /// A `~` that neither `0` nor `1` follows.
    #[error(
        "in a JSON Pointer `~` is written `~0` and `/` is written `~1`; no other `~` may stand"
    )]
    BadEscape,
}

impl Pointer {
    /// Reads the text form; `""` is the whole document.
    ///
    /// # Errors
    /// [`NotAPointer`], a mistake of configuration.
    pub fn new(text: impl Into<String>) -> Result<Self, NotAPointer> {
        let text = text.into();
        if text.is_empty() {
            return Ok(Self {
                text,
                tokens: Vec::new(),
            });
        }
        let path = text.strip_prefix('/').ok_or(NotAPointer::NoSlash)?;
        let tokens = path.split('/').map(unescape).collect::<Result<_, _>>()?;
        Ok(Self { text, tokens })
    }

    /// The text form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What it points to.
    #[must_use]
    pub fn find<'v, 'a>(&self, document: &'v Value<'a>) -> Option<&'v Value<'a>> {
        self.tokens
            .iter()
            .try_fold(document, |value, token| match value {
                Value::Object(_) => value.get(token),
                Value::Array(items) => items.get(index(token)?),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            })
    }
}

fn unescape(token: &str) -> Result<String, NotAPointer> {
    let mut parts = token.split('~');
    let mut plain = String::from(parts.next().unwrap_or_default());
    for part in parts {
        let (character, rest) = match (part.strip_prefix('0'), part.strip_prefix('1')) {
            (Some(rest), _) => ('~', rest),
            (_, Some(rest)) => ('/', rest),
            (None, None) => return Err(NotAPointer::BadEscape),
        };
        plain.push(character);
        plain.push_str(rest);
    }
    Ok(plain)
}

/// An array index: digits without a leading zero.
fn index(token: &str) -> Option<usize> {
    let digits = token.bytes().all(|byte| byte.is_ascii_digit());
    (digits && (token == "0" || !token.starts_with('0')))
        .then(|| token.parse().ok())
        .flatten()
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
