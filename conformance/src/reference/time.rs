//! The time that a delivery states, in four forms.

use toml::{Table, Value};

use super::{
    BAD_TIMESTAMP, Judgement, Step, UNAUTHORIZED,
    signatures::{Presented, header},
    table, text, texts,
};
use crate::Case;

/// The time of a delivery, and how far it may be off.
pub(super) struct Stamp {
    text: Vec<u8>,
    /// Seconds since 1970, where it doesn't stand in the body.
    seconds: Option<i64>,
    past: Option<i64>,
    future: Option<i64>,
}

impl Stamp {
    pub(super) fn read(verify: &Table, case: &Case, presented: &Presented) -> Step<Self> {
        let (past, future) = tolerance(verify);
        let mut stamp = Self {
            text: vec![],
            seconds: None,
            past,
            future,
        };
        let Some(timestamp) = table(verify, "timestamp") else {
            return Ok(stamp);
        };
        let names = texts(timestamp, "header");
        let values: Vec<&[u8]> = match names.get(presented.spelling) {
            Some(name) => header(case, name),
            None if timestamp.contains_key("pair") => {
                presented.stamps.iter().map(Vec::as_slice).collect()
            }
            None => return Ok(stamp),
        };
        let [value] = values.as_slice() else {
            return Err(BAD_TIMESTAMP);
        };
        let seconds = seconds(format(timestamp), value);
        stamp.seconds = Some(seconds.ok_or(BAD_TIMESTAMP)?);
        stamp.text = value.to_vec();
        Ok(stamp)
    }

    /// The bytes that are signed.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn check(&self, clock: u64) -> Step<()> {
        let (Some(seconds), Ok(clock)) = (self.seconds, i64::try_from(clock)) else {
            return Ok(());
        };
        let late = self.past.is_some_and(|past| clock - seconds > past);
        let early = self.future.is_some_and(|future| seconds - clock > future);
        if late || early {
            Err(UNAUTHORIZED)
        } else {
            Ok(())
        }
    }

    /// The same for a time that stands in the body.
    pub(super) fn check_in_body(mut self, verify: &Table, body: &[u8], clock: u64) -> Step<()> {
        let timestamp = table(verify, "timestamp");
        let Some(pointer) = timestamp.and_then(|timestamp| text(timestamp, "pointer")) else {
            return Ok(());
        };
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let json: serde_json::Value =
            serde_json::from_slice(body).map_err(|_| Judgement::Refused("invalid_json"))?;
        let stated = match json.pointer(pointer) {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(serde_json::Value::Number(number)) if number.is_u64() => number.to_string(),
            _ => return Err(BAD_TIMESTAMP),
        };
        let seconds = timestamp.and_then(|it| seconds(format(it), stated.as_bytes()));
        self.seconds = Some(seconds.ok_or(BAD_TIMESTAMP)?);
        self.check(clock)
    }
}

/// Seconds since 1970 of a date and time with its offset.
pub(super) fn instant(text: &str) -> Option<i64> {
    seconds("rfc3339", text.as_bytes())
}

fn format(timestamp: &Table) -> &str {
    text(timestamp, "format").unwrap_or_default()
}

/// How old it may be, and how far ahead; nothing where that doesn't matter.
fn tolerance(verify: &Table) -> (Option<i64>, Option<i64>) {
    match verify.get("tolerance_seconds") {
        None => (Some(300), Some(300)),
        Some(Value::Integer(both)) => (Some(*both), Some(*both)),
        Some(Value::Table(sides)) => {
            let side = |key| sides.get(key).and_then(Value::as_integer);
            (side("past"), side("future"))
        }
        Some(_) => (None, None),
    }
}

/// Whole seconds since 1970.
fn seconds(format: &str, text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let seconds = match format {
        "unix-seconds" => plain(text, 1, 11)?,
        "unix-milliseconds" => plain(text, 12, 14)? / 1000,
        "rfc3339" => rfc3339(text)?,
        "imf-fixdate" => imf_fixdate(text)?,
        other => panic!("no format `{other}`"),
    };
    (seconds >= 0).then_some(seconds)
}

/// A number as one writes it: digits, as many as allowed, no zero in front.
fn plain(text: &str, least: usize, most: usize) -> Option<i64> {
    let number = digits(text)?;
    let canonical = number.to_string() == text && (least..=most).contains(&text.len());
    canonical.then_some(number)
}

fn digits(text: &str) -> Option<i64> {
    let only = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    only.then(|| text.parse().ok())?
}

fn two(text: &str) -> Option<i64> {
    if text.len() == 2 { digits(text) } else { None }
}

fn rfc3339(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once('T')?;
    let (time, mut zone) = rest.split_at_checked(8)?;
    if let Some(fraction) = zone.strip_prefix('.') {
        let end = fraction.find(|c: char| !c.is_ascii_digit())?;
        if !(1..=9).contains(&end) {
            return None;
        }
        zone = fraction.get(end..)?;
    }
    let [year, month, day] = date.split('-').collect::<Vec<_>>()[..] else {
        return None;
    };
    if year.len() != 4 {
        return None;
    }
    let days = days(digits(year)?, two(month)?, two(day)?)?;
    let ahead = match zone {
        "Z" => 0,
        zone => {
            let sign = match zone.chars().next()? {
                '+' => 1,
                '-' => -1,
                _ => return None,
            };
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let (hours, minutes) = (two(hours)?, two(minutes)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            sign * (hours * 3600 + minutes * 60)
        }
    };
    Some(days * 86_400 + of_day(time)? - ahead)
}

fn imf_fixdate(text: &str) -> Option<i64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const WEEKDAYS: [&str; 7] = ["Thu,", "Fri,", "Sat,", "Sun,", "Mon,", "Tue,", "Wed,"];
    let [weekday, day, month, year, time, "GMT"] = text.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    if month.len() != 3 || year.len() != 4 {
        return None;
    }
    let at = MONTHS.find(month).filter(|at| at.is_multiple_of(3))?;
    let month = i64::try_from(at / 3 + 1).ok()?;
    let days = days(digits(year)?, month, two(day)?)?;
    // The first of January 1970 was a Thursday.
    let index = usize::try_from(days.rem_euclid(7)).ok()?;
    (WEEKDAYS.get(index) == Some(&weekday)).then_some(days * 86_400 + of_day(time)?)
}

/// `08:00:00` in seconds.
fn of_day(time: &str) -> Option<i64> {
    let [hour, minute, second] = time.split(':').collect::<Vec<_>>()[..] else {
        return None;
    };
    let (hour, minute, second) = (two(hour)?, two(minute)?, two(second)?);
    let real = hour < 24 && minute < 60 && second < 60;
    real.then_some(hour * 3600 + minute * 60 + second)
}

/// Days since 1970 of a date that exists, counted year by year and month by month.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = |month: i64| match month {
        2 if leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=12).contains(&month) || !(1..=length(month)).contains(&day) {
        return None;
    }
    let years = if year >= 1970 { 1970..year } else { year..1970 };
    let whole: i64 = years.map(|year| if leap(year) { 366 } else { 365 }).sum();
    let months: i64 = (1..month).map(length).sum();
    let before = if year >= 1970 { whole } else { -whole };
    Some(before + months + day - 1)
}
