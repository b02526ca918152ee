//! Numbers, by their digits.

use std::{borrow::Cow, string::ToString};

use crate::refusal::Refusal;

/// A JSON number as it stands in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a>(&'a str);

impl<'a> Number<'a> {
    /// Takes a text that the grammar was checked of.
    pub(super) const fn new(lexeme: &'a str) -> Self {
        Self(lexeme)
    }

    /// The digits of an integer, however many, with the sign of a negative one. Nothing for `-0`,
    /// a fraction or an exponent.
    #[must_use]
    pub fn integer(self) -> Option<&'a str> {
        (self.is_integral() && self.0 != "-0").then_some(self.0)
    }

    /// The number as the document has it.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        self.0
    }

    /// The canonical form: digits stay as they are where there is neither fraction nor exponent
    /// (`-0` is `0`); any other number is its double, written as ECMAScript does.
    ///
    /// # Errors
    /// [`Refusal::NumberOutOfRange`] where no finite double stands for it.
    pub fn canonical(self) -> Result<Cow<'a, str>, Refusal> {
        if self.is_integral() {
            return Ok(Cow::Borrowed(if self.0 == "-0" { "0" } else { self.0 }));
        }
        let double: f64 = self.0.parse().map_err(|_| Refusal::InvalidJson)?;
        if !double.is_finite() {
            return Err(Refusal::NumberOutOfRange);
        }
        // ECMAScript has one zero.
        let double = if double == 0.0 { 0.0 } else { double };
        Ok(Cow::Owned(
            ryu_js::Buffer::new().format_finite(double).to_string(),
        ))
    }

    fn is_integral(self) -> bool {
        !self
            .0
            .bytes()
            .any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }
}
