//! How often is tried, for how long, and what is kept of it.

use std::time::Duration;

use fencepost_identity::config::{Item, Section};

const SECONDS_MAX: u64 = 24 * 60 * 60;

/// Whether answers are stored as they came, and how long they are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawAnswers {
    /// They are: a crash after the call costs nothing, and replay can judge them again.
    Kept,
    /// The same, until so long after the end of their attempt.
    KeptFor(Duration),
    /// They are not: a crash after the call means another call.
    Dropped,
}

impl RawAnswers {
    /// How long those are kept that have been judged; for ever, if nothing is said. Where none is
    /// stored any more, older ones go too.
    #[must_use]
    pub const fn kept_for(self) -> Option<Duration> {
        match self {
            Self::Kept => None,
            Self::KeptFor(time) => Some(time),
            Self::Dropped => Some(Duration::ZERO),
        }
    }
}

pub(super) fn seconds(
    table: &mut Section<'_, '_>,
    key: &'static str,
    default: u64,
) -> Option<Duration> {
    let seconds = table
        .get(key)
        .map_or(Some(default), |item| item.integer(1, SECONDS_MAX));
    seconds.map(Duration::from_secs)
}

/// Yes, no, or how long.
pub(super) fn keep_raw(item: &Item<'_, '_>) -> Option<RawAnswers> {
    if item.as_text().is_some() {
        return item.parse(duration).map(RawAnswers::KeptFor);
    }
    match item.as_scalar().as_deref() {
        Some("true") => Some(RawAnswers::Kept),
        Some("false") => Some(RawAnswers::Dropped),
        Some(_) | None => {
            item.error("this must be true, false, or how long, such as \"30d\"");
            None
        }
    }
}

/// A number and one of `s`, `m`, `h` and `d`, such as `24h`.
pub(super) fn duration(text: &str) -> Result<Duration, &'static str> {
    const EXPECTED: &str = "a number and one of s, m, h and d, such as \"24h\"; up to a year";
    let split = text
        .find(|character: char| !character.is_ascii_digit())
        .ok_or(EXPECTED)?;
    let (number, unit) = text.split_at_checked(split).ok_or(EXPECTED)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(EXPECTED),
    };
    let number: u64 = number.parse().map_err(|_| EXPECTED)?;
    let seconds = number
        .checked_mul(unit)
        .filter(|s| (1..=366 * 24 * 60 * 60).contains(s));
    seconds.map(Duration::from_secs).ok_or(EXPECTED)
}

#[cfg(test)]
mod tests {
    use fencepost_identity::config::Document;

    use super::*;

    #[test]
    fn answers_are_kept_for_ever_for_a_time_or_not_at_all() {
        let read = |text: &str| {
            let document = Document::parse(text).unwrap();
            let mut root = document.root();
            let read = root.get("keep_raw").and_then(|item| keep_raw(&item));
            document.finish(read).map_err(|errors| errors.to_string())
        };
        let month = Duration::from_secs(30 * 24 * 60 * 60);
        assert_eq!(read("keep_raw = true"), Ok(RawAnswers::Kept));
        assert_eq!(read("keep_raw = false"), Ok(RawAnswers::Dropped));
        assert_eq!(read("keep_raw = \"30d\""), Ok(RawAnswers::KeptFor(month)));
        for (wrong, told) in [
            (
                "30",
                "this must be true, false, or how long, such as \"30d\"",
            ),
            (
                "[]",
                "this must be true, false, or how long, such as \"30d\"",
            ),
            (
                "\"30\"",
                "a number and one of s, m, h and d, such as \"24h\"; up to a year",
            ),
            (
                "\"true\"",
                "a number and one of s, m, h and d, such as \"24h\"; up to a year",
            ),
        ] {
            let expected = format!("line 1: `keep_raw`: {told}");
            assert_eq!(read(&format!("keep_raw = {wrong}")), Err(expected));
        }
        assert_eq!(RawAnswers::Kept.kept_for(), None);
        assert_eq!(RawAnswers::KeptFor(month).kept_for(), Some(month));
        assert_eq!(RawAnswers::Dropped.kept_for(), Some(Duration::ZERO));
    }

    #[test]
    fn durations_are_a_number_and_a_unit() {
        for (text, seconds) in [
            ("1s", 1),
            ("90m", 5400),
            ("24h", 86_400),
            ("366d", 31_622_400),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "0s",
            "24",
            "h",
            "-1h",
            "1.5h",
            "1 h",
            "1w",
            "367d",
            "99999999999999999h",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
