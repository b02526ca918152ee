//! How signatures stand in headers.

use super::names::{header, one_of, spellings, visible};
use crate::{
    config::{Item, Section},
    signature::{Encoding, Shape},
};

/// How signatures stand in headers.
pub(super) struct Signature {
    pub(super) headers: Vec<String>,
    pub(super) extra_headers: Vec<String>,
    pub(super) shape: Shape,
    pub(super) encoding: Encoding,
}

pub(super) fn signature(mut table: Section<'_, '_>) -> Option<Signature> {
    let headers = table.require("header").and_then(|item| spellings(&item));
    let extra_headers = table
        .get("extra_headers")
        .map_or(Some(vec![]), |item| spellings(&item));
    let shape = shape(&mut table);
    let encoding = table
        .require("encoding")
        .and_then(|item| one_of(&item, &Encoding::NAMES));
    if let (Some(shape), Some(encoding)) = (&shape, encoding) {
        check_separator(&table, shape, encoding);
    }
    table.finish();
    Some(Signature {
        headers: headers?,
        extra_headers: extra_headers?,
        shape: shape?,
        encoding: encoding?,
    })
}

/// Notes a separator that the codes themselves have, or what stands before them.
fn check_separator(table: &Section<'_, '_>, shape: &Shape, encoding: Encoding) {
    let (separator, before) = match shape {
        Shape::Pairs { separator, .. } => (*separator, ""),
        Shape::List { separator, prefix } => (*separator, prefix.as_str()),
        Shape::Value | Shape::Prefix(_) | Shape::Versioned { .. } => return,
    };
    let digits = match encoding {
        Encoding::Hex => "",
        Encoding::Base64 => "+/=",
        Encoding::Base64Unpadded => "+/",
        Encoding::Base64Url => "-_=",
        Encoding::Base64UrlUnpadded => "-_",
    };
    if digits.contains(separator) || before.contains(separator) {
        table.error(format!(
            "the separator `{separator}` stands in the codes too"
        ));
    }
}

/// Asks only for the keys that the shape has, so that the others are told.
pub(super) fn shape(table: &mut Section<'_, '_>) -> Option<Shape> {
    let named = table.get("shape");
    let shape = match named.as_ref().map_or(Some("value"), Item::text)? {
        "value" => Shape::Value,
        "prefix" => Shape::Prefix(table.require("prefix")?.parse(visible)?),
        "pairs" => {
            let separator = character(table, "separator", ',');
            let equals = character(table, "equals", '=');
            let keys = table.require("key").and_then(|item| spellings(&item));
            if separator.is_some() && separator == equals {
                table.error("`separator` and `equals` are one character");
            }
            Shape::Pairs {
                separator: separator?,
                equals: equals?,
                keys: keys?,
            }
        }
        "versioned" => Shape::Versioned {
            version: table.require("key")?.parse(header)?,
        },
        "list" => {
            let separator = character(table, "separator", ',');
            let prefix = table.get("prefix").map(|item| item.parse(visible));
            Shape::List {
                separator: separator?,
                prefix: prefix.unwrap_or_else(|| Some(String::new()))?,
            }
        }
        _ => {
            named?.error("one of \"value\", \"prefix\", \"pairs\", \"versioned\" and \"list\"");
            return None;
        }
    };
    Some(shape)
}

fn character(table: &mut Section<'_, '_>, key: &'static str, default: char) -> Option<char> {
    let Some(item) = table.get(key) else {
        return Some(default);
    };
    item.parse(|text| match text.chars().collect::<Vec<_>>()[..] {
        [one] if one.is_ascii_punctuation() => Ok(one),
        _ => Err("one character of ASCII punctuation"),
    })
}
