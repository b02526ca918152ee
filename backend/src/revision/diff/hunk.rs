//! The hunks of one section.

use super::{
    super::{Expected, Standing, Unreadable},
    cursor::{Cursor, Place},
};

/// A shown line of the new side.
pub(super) type Shown<'t> = (u32, Standing, &'t str);

/// A hunk's first line.
struct Announced {
    old: Span,
    new: Span,
}

/// Lines of one side.
#[derive(Clone, Copy)]
struct Span {
    /// The first one; where there are none, the one that they would stand behind.
    first: u32,
    count: u32,
}

impl Span {
    fn read(text: &str) -> Option<Self> {
        let (first, count) = match text.split_once(',') {
            Some((first, count)) => (number(first)?, number(count)?),
            None => (number(text)?, 1),
        };
        // Lines are counted from 1, and the last one has a number, too.
        (first > 0 || count == 0).then_some(())?;
        first.checked_add(count)?;
        Some(Self { first, count })
    }

    /// The last line that is not behind this span.
    fn end(self) -> u32 {
        self.first + self.count.saturating_sub(1)
    }

    fn is_behind(self, end: u32) -> bool {
        match self.count {
            0 => self.first >= end,
            _ => self.first > end,
        }
    }
}

fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

impl Announced {
    /// What follows `@@ ` in a hunk's first line.
    fn read(text: &str) -> Option<Self> {
        let (spans, heading) = text.split_once(" @@")?;
        (heading.is_empty() || heading.starts_with(' ')).then_some(())?;
        let (old, new) = spans.split_once(' ')?;
        Some(Self {
            old: Span::read(old.strip_prefix('-')?)?,
            new: Span::read(new.strip_prefix('+')?)?,
        })
    }
}

/// The lines of the new side; at least one hunk.
pub(super) fn hunks<'t>(cursor: &mut Cursor<'t>) -> Result<Vec<Shown<'t>>, Unreadable> {
    let mut shown = Vec::new();
    let (mut old_end, mut new_end) = (0, 0);
    let mut place = cursor.place();
    let mut next = cursor.take_after("@@ ");
    if next.is_none() {
        return Err(place.expected(Expected::Hunk));
    }
    while let Some(text) = next {
        let hunk = Announced::read(text).ok_or_else(|| place.expected(Expected::Hunk))?;
        if !hunk.old.is_behind(old_end) || !hunk.new.is_behind(new_end) {
            return Err(place.expected(Expected::LaterHunk));
        }
        (old_end, new_end) = (hunk.old.end(), hunk.new.end());
        lines(cursor, &hunk, &mut shown)?;
        place = cursor.place();
        next = cursor.take_after("@@ ");
    }
    Ok(shown)
}

/// As many lines as were announced, whatever they look like.
fn lines<'t>(
    cursor: &mut Cursor<'t>,
    hunk: &Announced,
    shown: &mut Vec<Shown<'t>>,
) -> Result<(), Unreadable> {
    let (mut old, mut new) = (hunk.old.count, hunk.new.count);
    let mut number = hunk.new.first;
    while old > 0 || new > 0 {
        let place = cursor.place();
        let (standing, text) = match cursor.take() {
            // A blank line that lost its blank on the way.
            Some(blank @ ("" | "\r")) => (Some(Standing::Kept), blank),
            Some(line) => match line.split_at_checked(1) {
                Some(("+", text)) => (Some(Standing::Added), text),
                Some(("-", _)) => (None, ""),
                Some((" ", text)) => (Some(Standing::Kept), text),
                Some(_) | None => return Err(place.expected(Expected::HunkLine)),
            },
            None => return Err(place.expected(Expected::HunkLine)),
        };
        if standing != Some(Standing::Added) {
            old = one_less(old, place)?;
        }
        if let Some(standing) = standing {
            new = one_less(new, place)?;
            shown.push((number, standing, text));
            number += 1;
        }
        // Says of the line above that no line feed follows it.
        cursor.take_after("\\ ");
    }
    Ok(())
}

fn one_less(count: u32, place: Place) -> Result<u32, Unreadable> {
    count
        .checked_sub(1)
        .ok_or_else(|| place.expected(Expected::HunkLine))
}
