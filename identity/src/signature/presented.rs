//! The signature that came with a delivery, and whether it holds.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use subtle::{Choice, ConstantTimeEq};

use super::{Preset, SigningKey, WINDOW_SECONDS};

/// The longest timestamp in digits: enough for the year 5138, too short for milliseconds.
const TIMESTAMP_DIGITS_MAX: usize = 11;

/// Why the headers are no signature. No message contains a header's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// There is no signature at all.
    #[error("the delivery carries no signature")]
    Unsigned,
    /// A signature header, or the header of the id, stands twice.
    #[error("a header of the signature stands twice")]
    Repeated,
    /// The signature header's value has another form.
    #[error("the signature header is malformed")]
    Signature,
    /// The id that is signed is absent or malformed.
    #[error("the signed id is absent or malformed")]
    MessageId,
    /// The time that is signed is absent, stands twice, or is not whole seconds in plain digits.
    #[error("the signed timestamp is absent or malformed")]
    Timestamp,
}

/// Whether a delivery is signed. Callers answer the last two alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Signed with the key at this index, and in time.
    Signed {
        /// Index into the keys that were tried.
        by: usize,
    },
    /// No key made this signature over these bytes.
    Mismatch,
    /// Signed with the key at this index, outside of the window.
    OutOfWindow {
        /// Index into the keys that were tried.
        by: usize,
        /// Seconds that the sender's time lies before ours; negative where it lies after.
        skew_seconds: i64,
    },
}

/// A signature as it was received, its form checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presented<'h> {
    preset: Preset,
    codes: Vec<[u8; 32]>,
    dated: Option<Dated<'h>>,
}

/// The parts beside the body that are signed, byte for byte as received.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Dated<'h> {
    message_id: &'h [u8],
    timestamp: &'h [u8],
    seconds: u64,
}

impl<'h> Presented<'h> {
    /// Takes the signature out of a delivery's headers. Names are compared without regard to case;
    /// headers that the preset doesn't name are not looked at.
    ///
    /// # Errors
    /// The first of the signature's, the id's and the timestamp's [`FormatError`].
    pub fn read(preset: Preset, headers: &[(&str, &'h [u8])]) -> Result<Self, FormatError> {
        match preset {
            Preset::Github => read_github(headers),
            Preset::StandardWebhooks => read_standard(headers),
        }
    }

    /// Compares with the code that each key makes over the body, in constant time and whether or
    /// not an earlier key fits; then holds the signed time against `now`, in seconds since 1970.
    #[must_use]
    pub fn verify(&self, keys: &[SigningKey], body: &[u8], now: u64) -> Verdict {
        let mut signed_by = None;
        for (index, key) in keys.iter().enumerate() {
            if key.preset() == self.preset && bool::from(self.holds(key, body)) {
                signed_by = signed_by.or(Some(index));
            }
        }
        match (signed_by, &self.dated) {
            (None, _) => Verdict::Mismatch,
            (Some(by), Some(dated)) if now.abs_diff(dated.seconds) > WINDOW_SECONDS => {
                Verdict::OutOfWindow {
                    by,
                    skew_seconds: skew(now, dated.seconds),
                }
            }
            (Some(by), _) => Verdict::Signed { by },
        }
    }

    fn holds(&self, key: &SigningKey, body: &[u8]) -> Choice {
        let code = match &self.dated {
            None => key.code([body]),
            Some(dated) => key.code([dated.message_id, b".", dated.timestamp, b".", body]),
        };
        let none = Choice::from(0);
        self.codes
            .iter()
            .fold(none, |any, presented| any | presented.ct_eq(&code))
    }
}

fn skew(now: u64, seconds: u64) -> i64 {
    let distance = i64::try_from(now.abs_diff(seconds)).unwrap_or(i64::MAX);
    if now >= seconds { distance } else { -distance }
}

fn read_github<'h>(headers: &[(&str, &'h [u8])]) -> Result<Presented<'h>, FormatError> {
    let signature = single(headers, "x-hub-signature-256", FormatError::Repeated)?;
    let signature = signature.ok_or(FormatError::Unsigned)?;
    let digits = signature
        .strip_prefix(b"sha256=")
        .ok_or(FormatError::Signature)?;
    let code = read_hex(digits).ok_or(FormatError::Signature)?;
    Ok(Presented {
        preset: Preset::Github,
        codes: vec![code],
        dated: None,
    })
}

fn read_standard<'h>(headers: &[(&str, &'h [u8])]) -> Result<Presented<'h>, FormatError> {
    let plain = single(headers, "webhook-signature", FormatError::Repeated)?;
    let svix = single(headers, "svix-signature", FormatError::Repeated)?;
    let (signature, id, timestamp) = match (plain, svix) {
        (None, None) => return Err(FormatError::Unsigned),
        // Both spellings at once are two signatures, even where they agree.
        (Some(_), Some(_)) => return Err(FormatError::Repeated),
        (Some(signature), None) => (signature, "webhook-id", "webhook-timestamp"),
        (None, Some(signature)) => (signature, "svix-id", "svix-timestamp"),
    };
    let codes = read_codes(signature)?;
    let message_id = single(headers, id, FormatError::Repeated)?;
    let message_id = message_id
        .filter(|id| is_message_id(id))
        .ok_or(FormatError::MessageId)?;
    let timestamp = single(headers, timestamp, FormatError::Timestamp)?;
    let timestamp = timestamp.ok_or(FormatError::Timestamp)?;
    let seconds = read_seconds(timestamp).ok_or(FormatError::Timestamp)?;
    let dated = Some(Dated {
        message_id,
        timestamp,
        seconds,
    });
    Ok(Presented {
        preset: Preset::StandardWebhooks,
        codes,
        dated,
    })
}

/// The value of a header that may stand once.
fn single<'h>(
    headers: &[(&str, &'h [u8])],
    name: &str,
    repeated: FormatError,
) -> Result<Option<&'h [u8]>, FormatError> {
    let mut values = headers
        .iter()
        .filter(|(header, _)| header.eq_ignore_ascii_case(name));
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(repeated),
        (first, None) => Ok(first.map(|(_, value)| *value)),
    }
}

/// The codes of version 1 in a list by spaces. Other versions are passed over, so that a sender may
/// add one; they never count.
fn read_codes(list: &[u8]) -> Result<Vec<[u8; 32]>, FormatError> {
    let list = std::str::from_utf8(list).map_err(|_| FormatError::Signature)?;
    let mut codes = Vec::new();
    let mut entries = list.split(' ').filter(|entry| !entry.is_empty()).peekable();
    if entries.peek().is_none() {
        return Err(FormatError::Signature);
    }
    for entry in entries {
        let (version, value) = entry.split_once(',').ok_or(FormatError::Signature)?;
        if version.is_empty() || value.is_empty() {
            return Err(FormatError::Signature);
        }
        if version == "v1" {
            let code = BASE64_STANDARD.decode(value).ok();
            let code = code.and_then(|code| code.try_into().ok());
            codes.push(code.ok_or(FormatError::Signature)?);
        }
    }
    Ok(codes)
}

/// An id that can't be taken for id and timestamp: without the dot that separates them.
pub(super) fn is_message_id(id: &[u8]) -> bool {
    !id.is_empty()
        && id
            .iter()
            .all(|byte| byte.is_ascii_graphic() && *byte != b'.')
}

/// Whole seconds in decimal digits, without sign and leading zero.
fn read_seconds(text: &[u8]) -> Option<u64> {
    let digits = text.iter().all(u8::is_ascii_digit);
    let plain = text.len() == 1 || !text.starts_with(b"0");
    if !digits || !plain || text.is_empty() || text.len() > TIMESTAMP_DIGITS_MAX {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Exactly 64 hexadecimal digits of either case.
fn read_hex(digits: &[u8]) -> Option<[u8; 32]> {
    let digits: &[u8; 64] = digits.try_into().ok()?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = *pair else { return None };
        *byte = (nibble(high)? << 4) | nibble(low)?;
    }
    Some(bytes)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}
