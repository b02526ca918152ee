//! Which of two versions of one thing is newer.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::words;

words! {
    /// What a version of a thing is among the others, where an order is known.
    VersionStatus {
        /// The newest one.
        Current = "current",
        /// A newer one is there, whichever came first.
        Superseded = "superseded",
    }
}

impl VersionStatus {
    /// Takes what a database kept.
    #[must_use]
    pub fn from_stored(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::Superseded),
            1 => Some(Self::Current),
            _ => None,
        }
    }

    /// What a database keeps.
    #[must_use]
    pub const fn stored(self) -> i64 {
        match self {
            Self::Superseded => 0,
            Self::Current => 1,
        }
    }
}

/// A value that orders versions: a revision's digits, a time of change, or any other text.
///
/// Numbers are compared as numbers whatever their size, times as moments whatever their offset,
/// other texts byte by byte. A source that changes from one kind to another (which a mapping that
/// is bound does not do) has its numbers before its times before its texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderValue {
    /// An integer.
    Number(Digits),
    /// A moment, by RFC 3339.
    Time(Timestamp),
    /// Anything else.
    Text(String),
}

impl OrderValue {
    /// Reads a value as what it looks like.
    #[must_use]
    pub fn read(text: &str) -> Self {
        if let Some(digits) = Digits::read(text) {
            return Self::Number(digits);
        }
        match text.parse() {
            Ok(time) => Self::Time(time),
            Err(_) => Self::Text(text.to_owned()),
        }
    }
}

/// An integer of any size, by its decimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digits {
    negative: bool,
    magnitude: String, // without leading zeros
}

impl Digits {
    fn read(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let magnitude = digits.trim_start_matches('0').to_owned();
        Some(Self {
            negative: negative && !magnitude.is_empty(),
            magnitude,
        })
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        let length = self.magnitude.len().cmp(&other.magnitude.len());
        length.then_with(|| self.magnitude.cmp(&other.magnitude))
    }
}

impl PartialOrd for Digits {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Digits {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ones_are_greater() {
        for (earlier, later) in [
            ("9", "10"),
            ("9007199254740992", "9007199254740993"),
            ("99999999999999999999999998", "99999999999999999999999999"),
            ("-10", "-9"),
            ("-1", "0"),
            ("007", "8"),
            ("2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00Z"),
            ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00.001Z"),
            ("2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z"),
            ("a", "b"),
            ("v1.10", "v1.9"),
        ] {
            let (earlier_value, later_value) = (OrderValue::read(earlier), OrderValue::read(later));
            assert!(earlier_value < later_value, "{earlier} {later}");
            assert!(later_value > earlier_value, "{earlier} {later}");
        }
    }

    #[test]
    fn the_same_moment_and_number_are_equal_however_they_are_written() {
        for (one, other) in [
            ("2026-01-01T12:00:00+02:00", "2026-01-01T10:00:00Z"),
            ("007", "7"),
            ("-0", "0"),
        ] {
            assert_eq!(OrderValue::read(one), OrderValue::read(other));
        }
    }
}
