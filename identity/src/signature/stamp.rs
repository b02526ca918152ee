//! The times that senders state, each in one strict form. They only serve to compare clocks: what
//! is signed are the bytes as received.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// How a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampFormat {
    /// Seconds since 1970 in 1 to 11 digits: enough for the year 5138, too few for milliseconds.
    UnixSeconds,
    /// Milliseconds since 1970 in 12 to 14 digits: too many for seconds.
    UnixMilliseconds,
    /// `2027-01-15T08:00:00Z`, with up to 9 decimals and an offset.
    Rfc3339,
    /// `Fri, 15 Jan 2027 08:00:00 GMT`.
    ImfFixdate,
}

impl StampFormat {
    /// Every format by the name that a configuration has for it.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("unix-seconds", Self::UnixSeconds),
        ("unix-milliseconds", Self::UnixMilliseconds),
        ("rfc3339", Self::Rfc3339),
        ("imf-fixdate", Self::ImfFixdate),
    ];

    /// Seconds since 1970, cut to whole ones; nothing for any other text, or an earlier time.
    #[must_use]
    pub fn read(self, text: &[u8]) -> Option<u64> {
        match self {
            Self::UnixSeconds if text.len() <= 11 => number(text),
            Self::UnixMilliseconds if (12..=14).contains(&text.len()) => {
                number(text).map(|milliseconds| milliseconds / 1000)
            }
            Self::UnixSeconds | Self::UnixMilliseconds => None,
            Self::Rfc3339 => rfc3339(text),
            Self::ImfFixdate => imf_fixdate(text),
        }
    }

    /// The text of a time in seconds since 1970, as a sender writes it.
    #[must_use]
    pub fn write(self, seconds: u64) -> String {
        let timestamp = || {
            let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
            Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
        };
        match self {
            Self::UnixSeconds => seconds.to_string(),
            Self::UnixMilliseconds => seconds.saturating_mul(1000).to_string(),
            Self::Rfc3339 => timestamp().to_string(),
            Self::ImfFixdate => timestamp()
                .strftime("%a, %d %b %Y %H:%M:%S GMT")
                .to_string(),
        }
    }
}

/// Decimal digits without sign and leading zero.
fn number(text: &[u8]) -> Option<u64> {
    let plain = text.len() == 1 || !text.starts_with(b"0");
    if text.is_empty() || !plain {
        return None;
    }
    digits(text)
}

/// Decimal digits, leading zeros included.
fn digits(text: &[u8]) -> Option<u64> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn field<T: TryFrom<u64>>(text: &[u8], from: usize, to: usize) -> Option<T> {
    T::try_from(digits(text.get(from..to)?)?).ok()
}

fn rfc3339(text: &[u8]) -> Option<u64> {
    let punctuation = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if !punctuation
        .iter()
        .all(|(at, byte)| text.get(*at) == Some(byte))
    {
        return None;
    }
    let (year, month, day) = (field(text, 0, 4)?, field(text, 5, 7)?, field(text, 8, 10)?);
    let (hour, minute) = (field(text, 11, 13)?, field(text, 14, 16)?);
    let local = DateTime::new(year, month, day, hour, minute, field(text, 17, 19)?, 0).ok()?;
    let mut rest = text.get(19..)?;
    if let Some(decimals) = rest.strip_prefix(b".") {
        let count = decimals
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if !(1..=9).contains(&count) {
            return None;
        }
        rest = decimals.get(count..)?;
    }
    let seconds = utc(local)?;
    u64::try_from(seconds.checked_sub(offset(rest)?)?).ok()
}

/// The seconds that local time is ahead by.
fn offset(text: &[u8]) -> Option<i64> {
    match text {
        b"Z" => Some(0),
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes): (i64, i64) = (field(text, 1, 3)?, field(text, 4, 6)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            Some(if *sign == b'+' { seconds } else { -seconds })
        }
        _ => None,
    }
}

fn imf_fixdate(text: &[u8]) -> Option<u64> {
    const MONTHS: [&[u8]; 12] = [
        b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov",
        b"Dec",
    ];
    let month = MONTHS
        .iter()
        .position(|name| text.get(8..11) == Some(name))?;
    let month = i8::try_from(month).ok()?.checked_add(1)?;
    let (day, year) = (field(text, 5, 7)?, field(text, 12, 16)?);
    let (hour, minute) = (field(text, 17, 19)?, field(text, 20, 22)?);
    let time = DateTime::new(year, month, day, hour, minute, field(text, 23, 25)?, 0).ok()?;
    let seconds = u64::try_from(utc(time)?).ok()?;
    // The rest of the form, the day of the week included, is what writing it again gives.
    (StampFormat::ImfFixdate.write(seconds).as_bytes() == text).then_some(seconds)
}

fn utc(time: DateTime) -> Option<i64> {
    Some(TimeZone::UTC.to_timestamp(time).ok()?.as_second())
}
