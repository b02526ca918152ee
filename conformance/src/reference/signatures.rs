//! What a delivery presents: signatures, or a token, and an id.

use base64::{
    Engine as _,
    engine::GeneralPurpose,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD},
};
use toml::Table;

use super::{BAD_SIGNATURE, Step, UNAUTHORIZED, table, text, texts};
use crate::Case;

/// More than these are no list that a sender makes.
const SIGNATURES_MAX: usize = 32;

/// What a delivery presents.
#[derive(Default)]
pub(super) struct Presented {
    /// Decoded signatures, or the one token as it stands.
    pub(super) codes: Vec<Vec<u8>>,
    pub(super) id: Vec<u8>,
    /// The values of the pair that holds the time.
    pub(super) stamps: Vec<Vec<u8>>,
    /// Which of several spellings of the headers is used.
    pub(super) spelling: usize,
}

/// All values of a header.
pub(super) fn header<'c>(case: &'c Case, name: &str) -> Vec<&'c [u8]> {
    let named = case.headers.iter();
    let named = named.filter(|header| header.name.eq_ignore_ascii_case(name));
    named.map(|header| header.value.as_slice()).collect()
}

impl Presented {
    pub(super) fn read(verify: &Table, case: &Case) -> Step<Self> {
        match text(verify, "kind").unwrap_or("hmac") {
            "token" => token(verify, case),
            "basic" => basic(case),
            "hmac" | "ed25519" => signed(verify, case),
            other => panic!("no kind `{other}`"),
        }
    }

    fn of(code: Vec<u8>) -> Self {
        Self {
            codes: vec![code],
            ..Self::default()
        }
    }
}

/// The one value of a header.
fn one<'c>(case: &'c Case, name: &str) -> Step<&'c [u8]> {
    match header(case, name).as_slice() {
        [] => Err(UNAUTHORIZED),
        [value] => Ok(value),
        _ => Err(BAD_SIGNATURE),
    }
}

fn token(verify: &Table, case: &Case) -> Step<Presented> {
    let signature = signature_table(verify);
    let value = one(case, text(signature, "header").unwrap_or_default())?;
    let prefix = text(signature, "prefix").unwrap_or_default();
    let token = value.strip_prefix(prefix.as_bytes());
    token
        .map(|token| Presented::of(token.to_vec()))
        .ok_or(BAD_SIGNATURE)
}

fn basic(case: &Case) -> Step<Presented> {
    let value = one(case, "authorization")?;
    let value = std::str::from_utf8(value).map_err(|_| BAD_SIGNATURE)?;
    let (scheme, credentials) = value.split_once(' ').ok_or(BAD_SIGNATURE)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(BAD_SIGNATURE);
    }
    let credentials = decoded("base64", credentials.trim_start_matches(' ').as_bytes());
    credentials.map(Presented::of).ok_or(BAD_SIGNATURE)
}

fn signed(verify: &Table, case: &Case) -> Step<Presented> {
    let signature = signature_table(verify);
    let mut presented = Presented::default();
    let mut used = vec![];
    for (spelling, name) in texts(signature, "header").into_iter().enumerate() {
        let values = header(case, name);
        if !values.is_empty() {
            used.push(values);
            presented.spelling = spelling;
        }
    }
    let is_list = text(signature, "shape") == Some("list");
    let mut values = match used.pop() {
        None => return Err(UNAUTHORIZED),
        Some(values) if used.is_empty() && (is_list || values.len() == 1) => values,
        Some(_) => return Err(BAD_SIGNATURE),
    };
    for name in texts(signature, "extra_headers") {
        match header(case, name).as_slice() {
            [] => {}
            [value] => values.push(value),
            _ => return Err(BAD_SIGNATURE),
        }
    }
    for value in values {
        take_apart(verify, value, &mut presented)?;
    }
    if presented.codes.len() > SIGNATURES_MAX {
        return Err(BAD_SIGNATURE);
    }
    presented.id = id(verify, case, presented.spelling)?;
    Ok(presented)
}

fn signature_table(verify: &Table) -> &Table {
    let Some(signature) = table(verify, "signature") else {
        panic!("a scheme says where its signature stands");
    };
    signature
}

/// Takes one header's value apart.
fn take_apart(verify: &Table, value: &[u8], presented: &mut Presented) -> Step<()> {
    let signature = signature_table(verify);
    let prefix = text(signature, "prefix").unwrap_or_default().as_bytes();
    let separator = text(signature, "separator").unwrap_or(",");
    let mut take = |encoded: Option<&[u8]>| {
        let code = encoded.and_then(|encoded| code(verify, encoded));
        presented.codes.push(code.ok_or(BAD_SIGNATURE)?);
        Ok(())
    };
    match text(signature, "shape").unwrap_or("value") {
        "value" => take(Some(value)),
        "prefix" => take(value.strip_prefix(prefix)),
        "list" => {
            for entry in split(value, separator) {
                take(blanks_off(entry).strip_prefix(prefix))?;
            }
            Ok(())
        }
        "versioned" => {
            let entries = split(value, " ").into_iter();
            let entries: Vec<_> = entries.filter(|entry| !entry.is_empty()).collect();
            if entries.is_empty() {
                return Err(BAD_SIGNATURE);
            }
            for entry in entries {
                let (version, encoded) = cut(entry, ",").ok_or(BAD_SIGNATURE)?;
                if version.is_empty() || encoded.is_empty() {
                    return Err(BAD_SIGNATURE);
                }
                if Some(version) == text(signature, "key").map(str::as_bytes) {
                    take(Some(encoded))?;
                }
            }
            Ok(())
        }
        "pairs" => {
            let equals = text(signature, "equals").unwrap_or("=");
            let stamp = table(verify, "timestamp").and_then(|stamp| text(stamp, "pair"));
            let mut stamps = vec![];
            for entry in split(value, separator) {
                let (name, value) = cut(blanks_off(entry), equals).ok_or(BAD_SIGNATURE)?;
                if name.is_empty() {
                    return Err(BAD_SIGNATURE);
                }
                if texts(signature, "key")
                    .iter()
                    .any(|key| key.as_bytes() == name)
                {
                    take(Some(value))?;
                } else if stamp.is_some_and(|stamp| stamp.as_bytes() == name) {
                    stamps.push(value.to_vec());
                }
            }
            presented.stamps.extend(stamps);
            Ok(())
        }
        other => panic!("no shape `{other}`"),
    }
}

fn split<'v>(value: &'v [u8], separator: &str) -> Vec<&'v [u8]> {
    let separator = separator.as_bytes();
    value.split(|byte| [*byte] == *separator).collect()
}

fn cut<'v>(entry: &'v [u8], mark: &str) -> Option<(&'v [u8], &'v [u8])> {
    let at = entry.iter().position(|byte| [*byte] == *mark.as_bytes())?;
    let (before, after) = entry.split_at_checked(at)?;
    Some((before, after.split_first()?.1))
}

fn blanks_off(mut entry: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = entry {
        entry = rest;
    }
    entry
}

/// A signature as bytes, if it has as many as the algorithm makes.
fn code(verify: &Table, encoded: &[u8]) -> Option<Vec<u8>> {
    let encoding = text(signature_table(verify), "encoding").unwrap_or_default();
    let bytes = match (text(verify, "kind"), text(verify, "algorithm")) {
        (Some("ed25519"), _) | (_, Some("sha512")) => 64,
        (_, Some("sha1")) => 20,
        _ => 32,
    };
    decoded(encoding, encoded).filter(|code| code.len() == bytes)
}

/// Bytes from their text form, which must be the only one: written again it is the same.
pub(super) fn decoded(encoding: &str, encoded: &[u8]) -> Option<Vec<u8>> {
    let encoded = std::str::from_utf8(encoded).ok()?;
    let engine: &GeneralPurpose = match encoding {
        "hex" => return hex(encoded),
        "base64" => &BASE64_STANDARD,
        "base64-unpadded" => &BASE64_STANDARD_NO_PAD,
        "base64url" => &BASE64_URL_SAFE,
        "base64url-unpadded" => &BASE64_URL_SAFE_NO_PAD,
        other => panic!("no encoding `{other}`"),
    };
    let bytes = engine.decode(encoded).ok()?;
    (engine.encode(&bytes) == encoded).then_some(bytes)
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    let digits: Vec<u8> = digits.bytes().collect();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect()
}

fn id(verify: &Table, case: &Case, spelling: usize) -> Step<Vec<u8>> {
    let names = table(verify, "id").map(|id| texts(id, "header"));
    let Some(names) = names else {
        return Ok(vec![]);
    };
    let name = names.get(spelling).copied().unwrap_or_default();
    let values = header(case, name);
    let template = text(verify, "template").unwrap_or_default();
    let after = template
        .split("{id}")
        .nth(1)
        .and_then(|rest| rest.bytes().next());
    let follows = after.filter(|byte| *byte != b'{');
    match values.as_slice() {
        [id] if (1..=255).contains(&id.len())
            && id
                .iter()
                .all(|byte| byte.is_ascii_graphic() && Some(*byte) != follows) =>
        {
            Ok(id.to_vec())
        }
        _ => Err(BAD_SIGNATURE),
    }
}
