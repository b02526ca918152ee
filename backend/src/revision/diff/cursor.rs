//! A text, line by line.

use std::{iter::Peekable, str::SplitTerminator};

use super::super::{Expected, Unreadable};

pub(super) struct Cursor<'t> {
    lines: Peekable<SplitTerminator<'t, char>>,
    taken: usize,
}

/// Where a line stands.
#[derive(Clone, Copy)]
pub(super) struct Place(usize);

impl Place {
    pub(super) fn expected(self, expected: Expected) -> Unreadable {
        let Self(line) = self;
        Unreadable::Diff { line, expected }
    }
}

impl<'t> Cursor<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            lines: text.split_terminator('\n').peekable(),
            taken: 0,
        }
    }

    /// Where the next line is, or would be.
    pub(super) fn place(&self) -> Place {
        Place(self.taken + 1)
    }

    /// The next line, without its line feed.
    pub(super) fn peek(&mut self) -> Option<&'t str> {
        self.lines.peek().copied()
    }

    pub(super) fn take(&mut self) -> Option<&'t str> {
        self.taken += 1;
        self.lines.next()
    }

    /// Takes the next line if it begins like this, and gives what follows. A carriage return at its
    /// end is none of it: on their way, diffs get another kind of line ends.
    pub(super) fn take_after(&mut self, beginning: &str) -> Option<&'t str> {
        let rest = self.peek()?.strip_prefix(beginning)?;
        self.take();
        Some(rest.strip_suffix('\r').unwrap_or(rest))
    }

    /// Whether there is a line after the blank ones.
    pub(super) fn skip_blank_lines(&mut self) -> bool {
        while let Some("" | "\r") = self.peek() {
            self.take();
        }
        self.peek().is_some()
    }
}
