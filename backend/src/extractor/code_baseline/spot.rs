//! An added line, and as much of what is around it as the rules look at.

use std::borrow::Cow;

use super::place::{Language, Place, Purpose};
use crate::revision::File;

/// From here on a line is data or was made by a program: only tokens are looked for in it, which
/// takes time in proportion to its length.
const LINE_BYTES_MAX: usize = 2000;
/// How far back the beginning of a chain of calls is looked for.
const CHAIN_LINES_MAX: u32 = 8;

/// The lines of one file.
pub(super) struct Spots<'r> {
    file: &'r File,
    place: Place,
    /// From which line on it is tests.
    tests_from: Option<u32>,
}

/// How a line can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    Code,
    /// A comment, or too long to have been written by hand.
    Else,
}

pub(super) struct Spot<'r> {
    file: &'r File,
    pub(super) number: u32,
    pub(super) line: &'r str,
    pub(super) language: Language,
    pub(super) purpose: Purpose,
    pub(super) writing: Writing,
}

impl<'r> Spots<'r> {
    pub(super) fn of(file: &'r File, place: Place) -> Self {
        let begins_tests = |(number, line): (u32, &str)| {
            let module = file.line(number.checked_add(1)?)?.trim();
            let begins = line.trim() == "#[cfg(test)]" && module.starts_with("mod ");
            (begins && module.ends_with('{')).then_some(number)
        };
        let is_rust = place.language == Language::Rust;
        let tests_from = is_rust
            .then(|| file.lines().find_map(begins_tests))
            .flatten();
        Self {
            file,
            place,
            tests_from,
        }
    }

    pub(super) fn added(&self) -> impl Iterator<Item = Spot<'r>> {
        self.file.added().map(|(number, line)| {
            let Place { language, purpose } = self.place;
            let in_tests = self.tests_from.is_some_and(|from| number >= from);
            let is_else = line.len() > LINE_BYTES_MAX || language.is_comment(line.trim());
            Spot {
                file: self.file,
                number,
                line,
                language,
                purpose: match in_tests {
                    true => Purpose::Beside,
                    false => purpose,
                },
                writing: match is_else {
                    true => Writing::Else,
                    false => Writing::Code,
                },
            }
        })
    }
}

impl<'r> Spot<'r> {
    /// Whether this is a line of the product's own code.
    pub(super) fn is_code(&self) -> bool {
        self.purpose == Purpose::Product && self.writing == Writing::Code
    }

    /// The shown lines that follow without a gap.
    pub(super) fn following(&self) -> impl Iterator<Item = &'r str> {
        let numbers = self.number.saturating_add(1)..;
        numbers.map_while(|number| self.file.line(number))
    }

    /// What this line continues, where it begins with a call on what stands above, and where in
    /// that text the line itself begins.
    pub(super) fn chain(&self) -> (Cow<'r, str>, usize) {
        let mut above = Vec::new();
        let mut first = self.line;
        for back in 1..=CHAIN_LINES_MAX {
            let number = self.number.checked_sub(back);
            match number.and_then(|number| self.file.line(number)) {
                Some(line) if first.trim_start().starts_with('.') => {
                    if line.len() > LINE_BYTES_MAX {
                        break;
                    }
                    above.push(line.trim());
                    first = line;
                }
                Some(_) | None => break,
            }
        }
        if above.is_empty() {
            return (Cow::Borrowed(self.line), 0);
        }
        above.reverse();
        let above = above.concat();
        let begins = above.len();
        (Cow::Owned(above + self.line.trim()), begins)
    }
}
