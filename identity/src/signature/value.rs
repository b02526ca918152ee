//! The value of a signature's header, taken apart.

use super::{FormatError, SIGNATURES_MAX, Shape, Signed, StampSource};

/// What stands in the headers that carry signatures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Codes<'h> {
    /// Each as long as the algorithm makes them.
    pub(super) codes: Vec<Vec<u8>>,
    /// Each time that stands among them; more than one is one too many.
    pub(super) stamps: Vec<&'h [u8]>,
}

impl<'h> Codes<'h> {
    /// Adds what one header's value has.
    pub(super) fn read(&mut self, signed: &Signed, value: &'h [u8]) -> Result<(), FormatError> {
        match &signed.shape {
            Shape::Value => self.code(signed, value)?,
            Shape::Prefix(prefix) => self.code(signed, behind(prefix, value)?)?,
            Shape::Pairs {
                separator,
                equals,
                keys,
            } => {
                let mut buffer = [0; 4];
                let equals = equals.encode_utf8(&mut buffer).as_bytes().to_vec();
                for entry in entries(value, *separator) {
                    self.pair(signed, keys, &equals, entry)?;
                }
            }
            Shape::Versioned { version } => self.versioned(signed, version, value)?,
            Shape::List { separator, prefix } => {
                for entry in entries(value, *separator) {
                    self.code(signed, behind(prefix, entry)?)?;
                }
            }
        }
        Ok(())
    }

    fn code(&mut self, signed: &Signed, text: &[u8]) -> Result<(), FormatError> {
        let bytes = signed.algorithm.code_bytes();
        // No encoding has more than two characters for a byte; what is longer is not even decoded.
        let text = Some(text).filter(|text| text.len() <= bytes.saturating_mul(2));
        let code = text.and_then(|text| signed.encoding.decode(text));
        let code = code.filter(|code| code.len() == bytes);
        self.codes.push(code.ok_or(FormatError::Signature)?);
        match self.codes.len() > SIGNATURES_MAX {
            true => Err(FormatError::Signature),
            false => Ok(()),
        }
    }

    fn pair(
        &mut self,
        signed: &Signed,
        keys: &[String],
        equals: &[u8],
        entry: &'h [u8],
    ) -> Result<(), FormatError> {
        let at = entry
            .windows(equals.len())
            .position(|bytes| bytes == equals);
        let at = at.filter(|at| *at > 0).ok_or(FormatError::Signature)?;
        let (name, value) = entry.split_at(at);
        let value = value.get(equals.len()..).unwrap_or_default();
        if keys.iter().any(|key| key.as_bytes() == name) {
            return self.code(signed, value);
        }
        let stamp = signed.stamp.as_ref().map(|stamp| &stamp.source);
        if matches!(stamp, Some(StampSource::Pair(pair)) if pair.as_bytes() == name) {
            self.stamps.push(value);
        }
        Ok(())
    }

    /// Other versions are passed over, so that a sender may add one; they never count.
    fn versioned(
        &mut self,
        signed: &Signed,
        version: &str,
        value: &[u8],
    ) -> Result<(), FormatError> {
        let list = value.split(|byte| *byte == b' ');
        let mut list = list.filter(|entry| !entry.is_empty()).peekable();
        if list.peek().is_none() {
            return Err(FormatError::Signature);
        }
        for entry in list {
            let at = entry.iter().position(|byte| *byte == b',');
            let at = at.filter(|at| *at > 0).ok_or(FormatError::Signature)?;
            let (name, code) = (entry.get(..at), entry.get(at.saturating_add(1)..));
            let code = code.filter(|code| !code.is_empty());
            let code = code.ok_or(FormatError::Signature)?;
            if name == Some(version.as_bytes()) {
                self.code(signed, code)?;
            }
        }
        Ok(())
    }
}

fn behind<'h>(prefix: &str, value: &'h [u8]) -> Result<&'h [u8], FormatError> {
    value
        .strip_prefix(prefix.as_bytes())
        .ok_or(FormatError::Signature)
}

/// The entries of a list, without the blanks around them.
fn entries(list: &[u8], separator: char) -> impl Iterator<Item = &[u8]> {
    list.split(move |byte| char::from(*byte) == separator)
        .map(trim_blanks)
}

fn trim_blanks(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}
