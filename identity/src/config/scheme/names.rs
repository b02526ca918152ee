//! The small texts of a scheme: names of headers, fixed texts, words of a list.

use crate::config::Item;

/// The names under a key of a table.
pub(super) fn names(item: &Item<'_, '_>, key: &'static str) -> Option<Vec<String>> {
    let mut table = item.table()?;
    let names = table.require(key).and_then(|item| spellings(&item));
    table.finish();
    names
}

/// One name, or several in an array.
pub(super) fn spellings(item: &Item<'_, '_>) -> Option<Vec<String>> {
    if item.as_text().is_some() {
        return Some(vec![item.parse(header)?]);
    }
    let items = item.array()?;
    if items.is_empty() {
        item.error("at least one name");
        return None;
    }
    let names: Vec<String> = items
        .iter()
        .map(|item| item.parse(header))
        .collect::<Option<_>>()?;
    let before = |at: usize, name: &String| {
        let mut before = names.iter().take(at);
        before.any(|other| other.eq_ignore_ascii_case(name))
    };
    if names.iter().enumerate().any(|(at, name)| before(at, name)) {
        item.error("a name stands twice; the case of its letters makes no other");
        return None;
    }
    Some(names)
}

pub(in crate::config) fn header(text: &str) -> Result<String, &'static str> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    match !text.is_empty() && text.bytes().all(allowed) {
        true => Ok(text.to_owned()),
        false => Err("a name of letters, digits, `-` and `_`"),
    }
}

pub(super) fn visible(text: &str) -> Result<String, &'static str> {
    let allowed = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    match !text.is_empty() && text.bytes().all(allowed) {
        true => Ok(text.to_owned()),
        false => Err("a text of visible ASCII"),
    }
}

pub(super) fn public_url(text: &str) -> Result<String, &'static str> {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    match rest.is_some_and(|rest| !rest.is_empty()) && plain {
        true => Ok(text.to_owned()),
        false => Err("the public URL as it is registered with the sender: https://…"),
    }
}

pub(super) fn one_of<T: Copy>(item: &Item<'_, '_>, known: &[(&str, T)]) -> Option<T> {
    let text = item.text()?;
    let found = known.iter().find(|(name, _)| *name == text);
    if found.is_none() {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        item.error(format!("one of: {}", names.join(", ")));
    }
    found.map(|(_, value)| *value)
}
