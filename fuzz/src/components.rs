//! Percent-encoding, undone byte by byte.

/// The bytes of a name or a value, `+` for a space; what is no escape stands for itself.
pub(crate) fn decode(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut decoded, mut at) = (Vec::new(), 0);
    while let Some(byte) = text.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.extend(u8::try_from(high * 16 + low));
                at += 3;
                continue;
            }
            (b'+', ..) => decoded.push(b' '),
            _ => decoded.push(*byte),
        }
        at += 1;
    }
    decoded
}
