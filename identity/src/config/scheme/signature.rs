//! How signatures stand in headers.

use super::names::{one_of, spellings, visible};
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
    table.finish();
    Some(Signature {
        headers: headers?,
        extra_headers: extra_headers?,
        shape: shape?,
        encoding: encoding?,
    })
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
            Shape::Pairs {
                separator: separator?,
                equals: equals?,
                keys: keys?,
            }
        }
        "versioned" => Shape::Versioned {
            version: table.require("key")?.parse(visible)?,
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
