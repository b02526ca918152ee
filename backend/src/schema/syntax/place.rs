//! Where in an answer something is wrong. Whether it is wrong was decided before, by the strict
//! reader, which keeps no places; the reader here only goes as far as it gets.

use std::{collections::HashSet, fmt};

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A line and a column, both from 1; the column counts bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    line: usize,
    column: usize,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// What keeps the text from being one JSON value.
    NotJson,
    /// What can't be held: a name for the second time, a number, half of a pair.
    Unreadable,
}

impl Place {
    fn of(text: &str, offset: usize) -> Option<Self> {
        let before = text.as_bytes().get(..offset)?;
        let line_start = before.iter().rposition(|byte| *byte == b'\n');
        Some(Self {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: offset - line_start.map_or(0, |at| at + 1) + 1,
        })
    }

    pub(super) fn below(self, lines: usize) -> Self {
        Self {
            line: self.line + lines,
            ..self
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The first such place.
pub(super) fn find(text: &str, finding: Finding) -> Option<Place> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let error = match finding {
        Finding::NotJson => serde_json::from_str::<IgnoredAny>(text).err(),
        Finding::Unreadable => serde_json::from_str::<Readable>(text).err(),
    }?;
    // Of a control character in a string the library names the byte before.
    let behind = usize::from(error.to_string().starts_with("control character"));
    (error.line() > 0).then(|| Place {
        line: error.line(),
        column: error.column().max(1) + behind,
    })
}

/// Where more containers stand inside one another than may.
pub(super) fn too_deep(text: &str, levels_max: usize) -> Option<Place> {
    let mut levels = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => levels += 1,
            b'}' | b']' => levels = levels.saturating_sub(1),
            _ => {}
        }
        if levels > levels_max {
            return Place::of(text, offset);
        }
    }
    None
}

/// Reads anything in which no object names a member twice. What else it can't hold, numbers out of
/// range and half surrogates, the library refuses by itself.
struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Readable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_str<E>(self, _: &str) -> Result<Readable, E> {
        Ok(Readable)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Readable, A::Error> {
        while items.next_element::<Readable>()?.is_some() {}
        Ok(Readable)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Readable, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if !names.insert(name) {
                return Err(A::Error::custom("a member for the second time"));
            }
            members.next_value::<Readable>()?;
        }
        Ok(Readable)
    }
}
