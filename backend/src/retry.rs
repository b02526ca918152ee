//! When to try again. Pure: time and chance are arguments.

use std::time::Duration;

use jiff::{Timestamp, civil::DateTime, fmt::rfc2822, tz::Offset};

/// Longer waits are cut to this: the time for the whole job is over before.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The older forms of a date in HTTP, which a recipient has to read all the same: RFC 850's
/// without its two-digit year's century, and that of C's `asctime`.
const OLD_DATE_FORMATS: [&str; 2] = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// Reads the value of a `Retry-After` header: seconds, or a date.
///
/// What can't be read, is negative, or is past counts as absent, so that it never means "at once".
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    if value.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return date(value)
            .and_then(|at| at.duration_since(now).try_into().ok())
            .and_then(bounded);
    }
    decimal(value).and_then(bounded_seconds)
}

/// Reads the value of a `retry-after-ms` header, which some providers send besides.
pub fn retry_after_ms(value: &str) -> Option<Duration> {
    let milliseconds = decimal(value.trim_matches([' ', '\t']))?;
    bounded_seconds(milliseconds / 1000.0)
}

/// Digits with at most one point: no sign, no exponent, no name of a number.
fn decimal(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().ok() } else { None }
}

fn date(text: &str) -> Option<Timestamp> {
    if let Ok(at) = rfc2822::DateTimeParser::new().parse_timestamp(text) {
        return Some(at);
    }
    let in_format = |format| DateTime::strptime(format, text).ok();
    let civil = OLD_DATE_FORMATS.into_iter().find_map(in_format)?;
    Offset::UTC.to_timestamp(civil).ok()
}

fn bounded_seconds(seconds: f64) -> Option<Duration> {
    let seconds = seconds.min(RETRY_AFTER_MAX.as_secs_f64());
    Duration::try_from_secs_f64(seconds).ok().and_then(bounded)
}

fn bounded(wait: Duration) -> Option<Duration> {
    (!wait.is_zero()).then(|| wait.min(RETRY_AFTER_MAX))
}

/// How the waits grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The longest wait after the first failure.
    pub first: Duration,
    /// The longest wait at all.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(2),
            longest: Duration::from_secs(10 * 60),
        }
    }
}

impl Backoff {
    /// How long to wait after the `failures`th failure (1 is the first), by chance: uniformly
    /// between nothing and an end that doubles with each failure. A provider's own time is a
    /// minimum; chance only adds to it.
    pub fn wait(self, failures: u32, retry_after: Option<Duration>, chance: Chance) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let end = self.first.saturating_mul(1 << doublings).min(self.longest);
        match retry_after {
            Some(minimum) => minimum.saturating_add(chance.part_of(end.min(minimum / 2))),
            None => chance.part_of(end),
        }
    }
}

/// A random number, uniform over all its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance(pub u32);

impl Chance {
    fn part_of(self, whole: Duration) -> Duration {
        whole.mul_f64(f64::from(self.0) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2027-03-01T10:00:00Z".parse().unwrap()
    }

    #[test]
    fn seconds_and_dates_are_read() {
        for (value, milliseconds) in [
            ("1", 1_000),
            (" 37 ", 37_000),
            ("1.5", 1_500),
            ("0.25", 250),
            ("99999999999999999999", 24 * 3_600_000),
            ("Mon, 01 Mar 2027 10:00:42 GMT", 42_000),
            ("Monday, 01-Mar-27 10:00:42 GMT", 42_000),
            ("Mon Mar  1 10:00:42 2027", 42_000),
        ] {
            let expected = Some(Duration::from_millis(milliseconds));
            assert_eq!(retry_after(value, now()), expected, "{value:?}");
        }
    }

    #[test]
    fn junk_counts_as_absent_and_never_as_at_once() {
        for value in [
            "",
            "0",
            "0.0",
            "-1",
            "+5",
            "1e3",
            "NaN",
            "inf",
            "soon",
            "1.5.1",
            ".",
            "5s",
            "1, 2",
            "Mon, 01 Mar 2027 09:59:59 GMT",
            "Mon, 01 Mar 2027 10:00:00 GMT",
            "0x10",
            "٣",
        ] {
            assert_eq!(retry_after(value, now()), None, "{value:?}");
        }
    }

    #[test]
    fn milliseconds_are_read_alike() {
        assert_eq!(retry_after_ms("1500"), Some(Duration::from_millis(1_500)));
        assert_eq!(retry_after_ms("0.5"), Some(Duration::from_micros(500)));
        for value in ["", "0", "-1", "NaN", "soon"] {
            assert_eq!(retry_after_ms(value), None, "{value:?}");
        }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_are_spread_over_the_whole_range() {
        let backoff = Backoff {
            first: Duration::from_secs(2),
            longest: Duration::from_secs(60),
        };
        let longest = |failures| backoff.wait(failures, None, Chance(u32::MAX)).as_secs();
        let ends: Vec<_> = [0, 1, 2, 3, 5, 6, 7, 40, u32::MAX].map(longest).into();
        assert_eq!(ends, [2, 2, 4, 8, 32, 60, 60, 60, 60]);
        assert_eq!(backoff.wait(9, None, Chance(0)), Duration::ZERO);
        let half = backoff.wait(6, None, Chance(u32::MAX / 2));
        assert!((29..=31).contains(&half.as_secs()), "{half:?}");
    }

    #[test]
    fn chance_only_adds_to_a_providers_time() {
        let minimum = Some(Duration::from_secs(20));
        let wait = |chance| {
            Backoff::default()
                .wait(9, minimum, Chance(chance))
                .as_secs()
        };
        assert_eq!((wait(0), wait(u32::MAX)), (20, 30));
    }
}
