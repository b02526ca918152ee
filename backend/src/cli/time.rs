//! A moment that a person names.

use fencepost_identity::signature::StampFormat;

use crate::clock::UnixMillis;

/// Seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment(u64);

impl Moment {
    /// The moment that is named, or now.
    pub(super) fn or_now(named: Option<Self>) -> u64 {
        named.map_or_else(
            || u64::try_from(UnixMillis::of_this_machine().get() / 1000).unwrap_or(0),
            |Self(seconds)| seconds,
        )
    }
}

impl std::str::FromStr for Moment {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = match digits {
            true => text.parse().ok(),
            false => StampFormat::Rfc3339.read(text.as_bytes()),
        };
        let seconds =
            seconds.ok_or("seconds since 1970, or a time such as 2027-01-15T08:00:00Z")?;
        Ok(Self(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_seconds_or_a_time_with_an_offset() {
        for text in [
            "1800000000",
            "2027-01-15T08:00:00Z",
            "2027-01-15T09:00:00.5+01:00",
        ] {
            assert_eq!(text.parse(), Ok(Moment(1_800_000_000)), "{text}");
        }
        for text in ["", "now", "-1", "2027-01-15", "2027-01-15T08:00:00", "1e9"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
        assert_eq!(Moment::or_now(Some(Moment(7))), 7);
        assert!(Moment::or_now(None) > 1_700_000_000);
    }
}
