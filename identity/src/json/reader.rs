//! The recursive-descent reader behind [`super::parse`].

use std::{borrow::Cow, string::String, vec::Vec};

use super::{DEPTH_MAX, Number, Text, Value};
use crate::refusal::Refusal;

/// Reads a document that is one value with white space around it.
pub(super) fn read(text: &str) -> Result<Value<'_>, Refusal> {
    let mut reader = Reader {
        text,
        at: 0,
        duplicate: false,
    };
    reader.skip_white_space();
    let value = reader.value(0)?;
    reader.skip_white_space();
    if reader.at != text.len() {
        return Err(Refusal::InvalidJson);
    }
    // Told last: a document that isn't JSON has no members to be named twice.
    if reader.duplicate {
        Err(Refusal::DuplicateMember)
    } else {
        Ok(value)
    }
}

struct Reader<'a> {
    text: &'a str,
    /// The next byte; always on a character's first one.
    at: usize,
    /// Some object so far names a member twice.
    duplicate: bool,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Value<'a>, Refusal> {
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => Err(Refusal::InvalidJson),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>, Refusal> {
        self.enter(depth)?;
        let mut members = Vec::new();
        if self.skip_if(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            let name = self.string()?;
            self.skip_white_space();
            self.expect(b':')?;
            self.skip_white_space();
            members.push((name, self.value(depth)?));
            if self.end_of_item(b'}')? {
                break;
            }
        }
        self.duplicate |= has_duplicate(&members);
        Ok(Value::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Value<'a>, Refusal> {
        self.enter(depth)?;
        let mut items = Vec::new();
        if self.skip_if(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.end_of_item(b']')? {
                return Ok(Value::Array(items));
            }
        }
    }

    /// Steps over the opening bracket of a container at this depth.
    fn enter(&mut self, depth: usize) -> Result<(), Refusal> {
        if depth > DEPTH_MAX {
            return Err(Refusal::InvalidJson);
        }
        self.at += 1;
        self.skip_white_space();
        Ok(())
    }

    /// Steps over what follows an item: a comma and white space, or the closing bracket.
    fn end_of_item(&mut self, close: u8) -> Result<bool, Refusal> {
        self.skip_white_space();
        if self.skip_if(close) {
            return Ok(true);
        }
        self.expect(b',')?;
        self.skip_white_space();
        Ok(false)
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, Refusal> {
        if !self.rest().starts_with(word) {
            return Err(Refusal::InvalidJson);
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Number<'a>, Refusal> {
        let start = self.at;
        self.skip_if(b'-');
        if !self.skip_if(b'0') {
            self.digits()?;
        }
        if self.skip_if(b'.') {
            self.digits()?;
        }
        if self.skip_if(b'e') || self.skip_if(b'E') {
            let _sign = self.skip_if(b'+') || self.skip_if(b'-');
            self.digits()?;
        }
        self.text
            .get(start..self.at)
            .map(Number::new)
            .ok_or(Refusal::InvalidJson)
    }

    /// Steps over one or more digits.
    fn digits(&mut self) -> Result<(), Refusal> {
        let rest = self.rest().as_bytes();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 {
            Err(Refusal::InvalidJson)
        } else {
            Ok(())
        }
    }

    fn string(&mut self) -> Result<Text<'a>, Refusal> {
        self.expect(b'"')?;
        let plain = self.plain()?;
        if self.skip_if(b'"') {
            return Ok(Text::borrowed(plain));
        }
        let mut decoded = Decoded::default();
        decoded.push_str(plain);
        while !self.skip_if(b'"') {
            self.expect(b'\\')?;
            decoded.push_unit_or_char(self.escape()?);
            decoded.push_str(self.plain()?);
        }
        Ok(decoded.finish())
    }

    /// The characters up to the next quotation mark or backslash.
    fn plain(&mut self) -> Result<&'a str, Refusal> {
        let rest = self.rest();
        let end = rest
            .bytes()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
        let end = end.ok_or(Refusal::InvalidJson)?;
        let plain = rest.get(..end).ok_or(Refusal::InvalidJson)?;
        self.at += end;
        // A control character ends it too, and then neither mark follows.
        Ok(plain)
    }

    /// The code unit that an escape sequence stands for, its backslash already read.
    fn escape(&mut self) -> Result<u16, Refusal> {
        let letter = self.peek().ok_or(Refusal::InvalidJson)?;
        let unit = match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let digits = self.rest().get(1..5).ok_or(Refusal::InvalidJson)?;
                if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    return Err(Refusal::InvalidJson);
                }
                self.at += 5;
                return u16::from_str_radix(digits, 16).map_err(|_| Refusal::InvalidJson);
            }
            _ => return Err(Refusal::InvalidJson),
        };
        self.at += 1;
        Ok(u16::from(unit))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_if(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Refusal> {
        if self.skip_if(byte) {
            Ok(())
        } else {
            Err(Refusal::InvalidJson)
        }
    }

    fn skip_white_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }
}

/// Whether two members have one name, by their code units.
fn has_duplicate(members: &[(Text<'_>, Value<'_>)]) -> bool {
    let mut names: Vec<&Text<'_>> = members.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names
        .windows(2)
        .any(|pair| matches!(pair, [one, other] if one == other))
}

/// A string that has escape sequences, while it is read.
#[derive(Default)]
struct Decoded {
    text: String,
    /// The first half of a pair, until the next unit shows whether it is one.
    high: Option<u16>,
    /// The code units, from the first half surrogate on.
    units: Option<Vec<u16>>,
}

impl Decoded {
    fn push_str(&mut self, plain: &str) {
        if plain.is_empty() {
            return;
        }
        self.settle();
        self.text.push_str(plain);
        if let Some(units) = &mut self.units {
            units.extend(plain.encode_utf16());
        }
    }

    fn push_unit_or_char(&mut self, unit: u16) {
        let pair = self.high.and_then(|high| {
            char::decode_utf16([high, unit])
                .next()
                .and_then(Result::ok)
                .filter(|c| c.len_utf16() == 2)
        });
        if let Some(character) = pair {
            self.high = None;
            return self.push_char(character);
        }
        self.settle();
        match char::from_u32(u32::from(unit)) {
            Some(character) => self.push_char(character),
            None if (0xd800..0xdc00).contains(&unit) => self.high = Some(unit),
            None => self.push_half(unit),
        }
    }

    fn push_char(&mut self, character: char) {
        self.text.push(character);
        if let Some(units) = &mut self.units {
            units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
        }
    }

    fn push_half(&mut self, unit: u16) {
        let units = self
            .units
            .get_or_insert_with(|| self.text.encode_utf16().collect());
        units.push(unit);
        self.text.push(char::REPLACEMENT_CHARACTER);
    }

    /// A high half that no low half followed.
    fn settle(&mut self) {
        if let Some(high) = self.high.take() {
            self.push_half(high);
        }
    }

    fn finish<'a>(mut self) -> Text<'a> {
        self.settle();
        Text {
            text: Cow::Owned(self.text),
            units: self.units.map(Vec::into_boxed_slice),
        }
    }
}
