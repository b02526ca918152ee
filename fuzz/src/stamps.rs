//! The times that senders state, against a reader that counts days.

use fencepost_identity::signature::StampFormat;

use crate::Choices;

/// Times from here on are read by one of the two and not by the other: 9999-12-30T22:00:00Z.
const END: i64 = 253_402_207_200;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// A time in any of the formats: read alike by both, and never by two formats of numbers.
pub fn stamps(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (_, written_as) = choices.of(&StampFormat::NAMES);
    let mut text = match choices.below(3) {
        0 => choices.clone().rest().to_vec(),
        1 => {
            let seconds = choices.bytes(5).iter();
            let seconds = seconds.fold(0, |sum, byte| sum << 8 | u64::from(*byte));
            written_as.write(seconds).into_bytes()
        }
        _ => {
            let second = choices.below(64);
            let offset =
                choices.of(&["Z", "+01:00", "-00:30", ".5Z", ".123456789-23:59", "+24:00"]);
            format!("2028-02-29T23:59:{second:02}{offset}").into_bytes()
        }
    };
    choices.damage(&mut text);
    for (name, format) in StampFormat::NAMES {
        let read = format.read(&text);
        let expected = expected(format, &text);
        if expected.is_none_or(|seconds| seconds < END) {
            let expected = expected.and_then(|seconds| u64::try_from(seconds).ok());
            assert_eq!(read, expected, "{name}: {}", text.escape_ascii());
        }
    }
    let numbers = [StampFormat::UnixSeconds, StampFormat::UnixMilliseconds];
    assert!(
        numbers.iter().any(|format| format.read(&text).is_none()),
        "one number is two times"
    );
}

/// Seconds since 1970, before it too.
fn expected(format: StampFormat, text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    match format {
        StampFormat::UnixSeconds => plain_number(text, 1, 11),
        StampFormat::UnixMilliseconds => {
            plain_number(text, 12, 14).map(|milliseconds| milliseconds.div_euclid(1000))
        }
        StampFormat::Rfc3339 => rfc3339(text),
        StampFormat::ImfFixdate => imf_fixdate(text),
    }
}

fn plain_number(text: &str, shortest: usize, longest: usize) -> Option<i64> {
    let number: u64 = text.parse().ok()?;
    let plain = number.to_string() == text && (shortest..=longest).contains(&text.len());
    plain.then(|| i64::try_from(number).ok()).flatten()
}

fn two(text: &str, below: i64) -> Option<i64> {
    let digits = text.len() == 2 && text.chars().all(|c| c.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten()?;
    (number < below).then_some(number)
}

fn year_of(text: &str) -> Option<i64> {
    let digits = text.len() == 4 && text.chars().all(|c| c.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

fn rfc3339(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let [year, month, day] = date.split('-').collect::<Vec<_>>()[..] else {
        return None;
    };
    let clock = time.get(..8)?;
    let after = time.get(8..)?;
    let zone = match after.strip_prefix('.') {
        None => after,
        Some(decimals) => {
            let zone = decimals.trim_start_matches(|c: char| c.is_ascii_digit());
            let count = decimals.len() - zone.len();
            if count == 0 || count > 9 {
                return None;
            }
            zone
        }
    };
    let ahead = if zone == "Z" {
        0
    } else {
        let sign = match zone.chars().next()? {
            '+' => 1,
            '-' => -1,
            _ => return None,
        };
        let (hours, minutes) = zone.get(1..)?.split_once(':')?;
        sign * (two(hours, 24)? * 3600 + two(minutes, 60)? * 60)
    };
    let days = days(year_of(year)?, two(month, 13)?, two(day, 32)?)?;
    Some(days * 86_400 + second_of_day(clock)? - ahead)
}

fn imf_fixdate(text: &str) -> Option<i64> {
    let [week, day, month, year, clock, "GMT"] = text.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let month = i64::try_from(month).ok()?;
    let days = days(year_of(year)?, month, two(day, 32)?)?;
    let name = DAYS[usize::try_from(days.rem_euclid(7)).ok()?];
    (week == format!("{name},")).then_some(())?;
    Some(days * 86_400 + second_of_day(clock)?)
}

fn second_of_day(clock: &str) -> Option<i64> {
    let [hour, minute, second] = clock.split(':').collect::<Vec<_>>()[..] else {
        return None;
    };
    Some(two(hour, 24)? * 3600 + two(minute, 60)? * 60 + two(second, 60)?)
}

/// Days since 1970-01-01, counted year by year and month by month.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = |month: i64| match month {
        2 => 28 + i64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=12).contains(&month) || !(1..=length(month)).contains(&day) {
        return None;
    }
    let of = |year: i64| 365 + i64::from(leap(year));
    let years: i64 = match year < 1970 {
        true => -(year..1970).map(of).sum::<i64>(),
        false => (1970..year).map(of).sum(),
    };
    Some(years + (1..month).map(length).sum::<i64>() + day - 1)
}
