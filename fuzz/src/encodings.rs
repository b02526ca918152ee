//! The text forms of codes, against decoders that go digit by digit.

use fencepost_identity::signature::Encoding;

use crate::Choices;

const STANDARD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A text in any of the encodings: decoded alike by both, and one text per value.
pub fn encodings(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (_, encoding) = choices.of(&Encoding::NAMES);
    let mut text = match choices.below(2) {
        0 => choices.clone().rest().to_vec(),
        _ => encoding.encode(choices.bytes(70)).into_bytes(),
    };
    choices.damage(&mut text);
    for (name, encoding) in Encoding::NAMES {
        let decoded = encoding.decode(&text);
        let expected = expected(encoding, &text);
        assert_eq!(decoded, expected, "{name}: {}", text.escape_ascii());
        let Some(bytes) = decoded else {
            continue;
        };
        let again = encoding.encode(&bytes).into_bytes();
        match encoding {
            Encoding::Hex => assert!(again.eq_ignore_ascii_case(&text), "{name}"),
            Encoding::Base64
            | Encoding::Base64Unpadded
            | Encoding::Base64Url
            | Encoding::Base64UrlUnpadded => assert_eq!(again, text, "{name}"),
        }
    }
}

fn expected(encoding: Encoding, text: &[u8]) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Hex => hex(text),
        Encoding::Base64 => base64(text, STANDARD, "="),
        Encoding::Base64Unpadded => base64(text, STANDARD, ""),
        Encoding::Base64Url => base64(text, URL, "="),
        Encoding::Base64UrlUnpadded => base64(text, URL, ""),
    }
}

fn hex(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let digits: Vec<u32> = text
        .chars()
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect()
}

/// Decodes without looking at what is canonical, and takes only the text that encoding gives again.
fn base64(text: &[u8], alphabet: &[u8], padding: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'=').collect();
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for digit in &digits {
        let value = alphabet.iter().position(|known| known == digit)?;
        held = (held << 6 | u32::try_from(value).ok()?) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    let mut canonical = Vec::new();
    for group in bytes.chunks(3) {
        let mut number = group
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        number <<= 8 * (3 - group.len());
        let four = [18, 12, 6, 0].map(|shift| alphabet[number >> shift & 63]);
        canonical.extend_from_slice(&four[..=group.len()]);
        let missing = 3 - group.len();
        canonical.extend_from_slice(padding.repeat(missing).as_bytes());
    }
    (canonical == text).then_some(bytes)
}
