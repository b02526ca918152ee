//! Points in time.

use std::{fmt, time::Duration};

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
///
/// When a lease ends and when a job is due is decided by the database's clock, so a value of this
/// type that takes part in such a decision comes from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnixMillis(i64);

impl UnixMillis {
    /// Takes milliseconds since the epoch; negative ones lie before it.
    #[must_use]
    pub const fn new(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    /// Reads this machine's clock, for what concerns this machine alone: the age of a signed
    /// envelope, the date in a provider's answer. Never for a lease or a due time.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self(jiff::Timestamp::now().as_millisecond())
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Later by `wait`, or the end of time.
    #[must_use]
    pub fn plus(self, wait: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// Earlier by `time`, or the beginning of it.
    #[must_use]
    pub fn minus(self, time: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// How long after `earlier` this is; nothing when it is not after it, as when a clock was set
    /// back.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let milliseconds = self.0.saturating_sub(earlier.0);
        Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
    }
}

impl fmt::Display for UnixMillis {
    /// RFC 3339 in UTC; the bare number for what lies beyond the years that it can write.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(timestamp) => write!(f, "{timestamp:.3}"),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}

impl serde::Serialize for UnixMillis {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_with_milliseconds() {
        assert_eq!(UnixMillis::new(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            UnixMillis::new(1_803_895_200_007).to_string(),
            "2027-03-01T10:00:00.007Z"
        );
        assert_eq!(UnixMillis::new(i64::MAX).to_string(), "9223372036854775807");
    }

    #[test]
    fn sums_and_differences_stay_in_range() {
        let now = UnixMillis::new(10);
        assert_eq!(now.plus(Duration::MAX), UnixMillis::new(i64::MAX));
        assert_eq!(
            now.plus(Duration::from_secs(1)).since(now),
            Duration::from_secs(1)
        );
        assert_eq!(now.since(now.plus(Duration::from_secs(1))), Duration::ZERO);
    }
}
