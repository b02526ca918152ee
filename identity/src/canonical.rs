//! Canonical bytes: one form of a JSON value, whatever order, spacing and escapes it came in.

use std::fmt::Write as _;
use std::{string::String, vec::Vec};

use crate::{
    json::{Text, Value},
    refusal::Refusal,
};

/// Appends the canonical form of a value: RFC 8785, except that an integer keeps its digits.
///
/// # Errors
/// [`Refusal::NumberOutOfRange`] for a number that no finite double stands for.
pub fn write_value(value: &Value<'_>, out: &mut String) -> Result<(), Refusal> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number.canonical()?),
        Value::String(text) => write_str(text.to_str_lossy(), out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, out)?;
            }
            out.push(']');
        }
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(name, value)| (name, value)).collect();
            write_members(members, out)?;
        }
    }
    Ok(())
}

/// The canonical form of a value.
///
/// # Errors
/// As [`write_value`].
pub fn to_canonical(value: &Value<'_>) -> Result<String, Refusal> {
    let mut out = String::new();
    write_value(value, &mut out)?;
    Ok(out)
}

/// Appends an object of these members, sorted by their names' UTF-16 code units.
pub(crate) fn write_members(
    mut members: Vec<(&Text<'_>, &Value<'_>)>,
    out: &mut String,
) -> Result<(), Refusal> {
    members.sort_by_key(|(name, _)| *name);
    out.push('{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_str(name.to_str_lossy(), out);
        out.push(':');
        write_value(value, out)?;
    }
    out.push('}');
    Ok(())
}

/// Appends a JSON string with the escapes that RFC 8785 names and no others.
pub fn write_str(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest
        .bytes()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
    {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = tail.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            // Writing to a string can't fail.
            Some(other) => drop(write!(out, "\\u{:04x}", u32::from(other))),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
