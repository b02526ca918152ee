//! The time that a sender states, and how far it may be off.

use super::names::{header, one_of, spellings};
use crate::{
    config::Item,
    pointer::Pointer,
    signature::{Stamp, StampFormat, StampSource, WINDOW_SECONDS, Window},
};

/// A day: who takes older deliveries has no window at all, and should say so.
const TOLERANCE_SECONDS_MAX: u64 = 86_400;

/// Reads the time and the names of its header's spellings.
pub(super) fn stamp(
    item: &Item<'_, '_>,
    tolerance: Option<&Item<'_, '_>>,
) -> Option<(Stamp, Vec<String>)> {
    let mut table = item.table()?;
    let names = table.get("header").map(|item| spellings(&item));
    let pair = table.get("pair").map(|item| item.parse(header));
    let pointer = table
        .get("pointer")
        .map(|item| item.parse(|text| Pointer::new(text)));
    let format = table
        .require("format")
        .and_then(|item| one_of(&item, &StampFormat::NAMES));
    table.finish();
    let window = tolerance.map_or(Some(within(WINDOW_SECONDS)), window);
    let (source, names) = match (names, pair, pointer) {
        (Some(names), None, None) => (StampSource::Header, names?),
        (None, Some(pair), None) => (StampSource::Pair(pair?), vec![]),
        (None, None, Some(pointer)) => (StampSource::Body(pointer?), vec![]),
        _ => {
            item.error("exactly one of `header`, `pair` and `pointer`");
            return None;
        }
    };
    let stamp = Stamp {
        source,
        format: format?,
        window: window?,
    };
    Some((stamp, names))
}

const fn within(seconds: u64) -> Window {
    Window::Within {
        past: seconds,
        future: seconds,
    }
}

fn window(item: &Item<'_, '_>) -> Option<Window> {
    if item.as_text() == Some("off") {
        return Some(Window::Off);
    }
    if let Some(mut table) = item.as_table() {
        let mut side = |key| table.require(key)?.integer(1, TOLERANCE_SECONDS_MAX);
        let (past, future) = (side("past"), side("future"));
        table.finish();
        return Some(Window::Within {
            past: past?,
            future: future?,
        });
    }
    if item.as_text().is_some() || item.as_scalar().as_deref() == Some("0") {
        item.error(format!(
            "an integer from 1 to {TOLERANCE_SECONDS_MAX}, {{ past = …, future = … }}, or \"off\" \
             where any time is to be taken"
        ));
        return None;
    }
    item.integer(1, TOLERANCE_SECONDS_MAX).map(within)
}
