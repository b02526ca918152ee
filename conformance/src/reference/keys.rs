//! The secrets that are live, and what was made with them.

use ed25519_dalek::{Signature, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use toml::{Table, Value};

use super::{
    Judgement, Reference, Step, UNAUTHORIZED,
    signatures::{Presented, decoded},
    table, text,
};

const KEY_BYTES_MIN: usize = 16;

/// The keys that are live, by how they are used.
pub(super) enum Keys {
    Hmac(fn(&[u8], &[u8]) -> Vec<u8>, Vec<Vec<u8>>),
    Ed25519(Vec<VerifyingKey>),
    Shown(Vec<Vec<u8>>),
}

impl Keys {
    pub(super) fn live(judge: &Reference, clock: u64, tenant: Option<&str>) -> Step<Self> {
        let texts = live_texts(judge, clock, tenant)?;
        let usable = |text: &String| {
            let blank = !text.is_empty() && text.trim().is_empty();
            !blank && !text.bytes().any(|byte| byte.is_ascii_control())
        };
        let keys: Option<Vec<Vec<u8>>> = texts
            .iter()
            .map(|text| key_of(&judge.verify, text).filter(|_| usable(text)))
            .map(|key| key.filter(|key| key.len() >= KEY_BYTES_MIN))
            .map(|key| key.filter(|key| key.iter().any(|byte| *byte != 0)))
            .collect();
        let keys = keys.ok_or(Judgement::Misconfigured)?;
        let algorithm = text(&judge.verify, "algorithm").unwrap_or("sha256");
        match text(&judge.verify, "kind").unwrap_or("hmac") {
            "ed25519" => {
                let keys: Option<Vec<_>> = keys.iter().map(|key| point(key)).collect();
                keys.map(Self::Ed25519).ok_or(Judgement::Misconfigured)
            }
            "token" => Ok(Self::Shown(keys)),
            "basic" if keys.iter().all(|key| has_password(key)) => Ok(Self::Shown(keys)),
            "basic" => Err(Judgement::Misconfigured),
            _ => Ok(Self::Hmac(mac(algorithm), keys)),
        }
    }

    /// Whether one of them made what is presented.
    pub(super) fn made(&self, presented: &Presented, message: &[u8]) -> bool {
        let codes = &presented.codes;
        match self {
            Self::Shown(keys) => keys.iter().any(|key| codes.contains(key)),
            Self::Hmac(mac, keys) => keys.iter().any(|key| codes.contains(&mac(key, message))),
            Self::Ed25519(keys) => codes.iter().any(|code| {
                let signature = Signature::from_slice(code);
                signature.is_ok_and(|signature| {
                    let holds = |key: &VerifyingKey| key.verify_strict(message, &signature);
                    keys.iter().any(|key| holds(key).is_ok())
                })
            }),
        }
    }
}

/// Whether what stands behind the first colon is long enough for a secret.
fn has_password(credentials: &[u8]) -> bool {
    let colon = credentials.iter().position(|byte| *byte == b':');
    colon.is_some_and(|colon| credentials.len() - colon > KEY_BYTES_MIN)
}

fn point(key: &[u8]) -> Option<VerifyingKey> {
    let key = VerifyingKey::from_bytes(key.try_into().ok()?).ok()?;
    (!key.is_weak()).then_some(key)
}

fn mac(algorithm: &str) -> fn(&[u8], &[u8]) -> Vec<u8> {
    match algorithm {
        "sha1" => |key, message| match Hmac::<Sha1>::new_from_slice(key) {
            Ok(mac) => mac.chain_update(message).finalize().into_bytes().to_vec(),
            Err(error) => panic!("{error}"),
        },
        "sha256" => |key, message| match Hmac::<Sha256>::new_from_slice(key) {
            Ok(mac) => mac.chain_update(message).finalize().into_bytes().to_vec(),
            Err(error) => panic!("{error}"),
        },
        "sha512" => |key, message| match Hmac::<Sha512>::new_from_slice(key) {
            Ok(mac) => mac.chain_update(message).finalize().into_bytes().to_vec(),
            Err(error) => panic!("{error}"),
        },
        other => panic!("no algorithm `{other}`"),
    }
}

/// The texts of the secrets that may sign now.
fn live_texts(judge: &Reference, clock: u64, tenant: Option<&str>) -> Step<Vec<String>> {
    let variable = |name: &str| judge.variables.get(name).cloned();
    let names = match judge.source.get("secrets") {
        Some(Value::Table(derived)) => {
            let master = text(derived, "derive_from").and_then(variable);
            let master = master.filter(|master| {
                let plain = !master.bytes().any(|byte| byte.is_ascii_control());
                plain && !master.trim().is_empty() && master.len() >= KEY_BYTES_MIN
            });
            let master = master.ok_or(Judgement::Misconfigured)?;
            let code = mac("sha256")(master.as_bytes(), tenant.unwrap_or_default().as_bytes());
            return Ok(vec![derived_text(&judge.verify, &code)]);
        }
        Some(Value::Array(names)) => names,
        _ => panic!("a source names its secrets"),
    };
    let live = names.iter().filter_map(|name| live_name(name, clock));
    let Some(tenant) = tenant else {
        let texts: Option<Vec<String>> = live.map(variable).collect();
        return texts.ok_or(Judgement::Misconfigured);
    };
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !tenant.bytes().all(fits) {
        return Err(UNAUTHORIZED);
    }
    let texts = live.filter_map(|name| variable(&name.replace("{tenant}", tenant)));
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        Err(UNAUTHORIZED)
    } else {
        Ok(texts)
    }
}

/// The name of a variable, unless its secret has ended.
fn live_name(name: &Value, clock: u64) -> Option<&str> {
    let Some(rotated) = name.as_table() else {
        return name.as_str();
    };
    let ends = rotated.get("not_after").map(|end| {
        let end = end.as_datetime().map(ToString::to_string);
        end.and_then(|end| super::time::instant(&end))
            .unwrap_or_else(|| panic!("`not_after` is a time"))
    });
    let live = ends.is_none_or(|end| i64::try_from(clock).is_ok_and(|clock| clock <= end));
    text(rotated, "name").filter(|_| live)
}

fn derived_text(verify: &Table, code: &[u8]) -> String {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    let form = table(verify, "secret");
    let prefix = form.and_then(|form| text(form, "prefix"));
    let written = match form.and_then(|form| text(form, "encoding")) {
        Some("base64") => BASE64_STANDARD.encode(code),
        _ => code.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    format!("{}{written}", prefix.unwrap_or_default())
}

/// The bytes that a secret's text stands for.
fn key_of(verify: &Table, secret: &str) -> Option<Vec<u8>> {
    let Some(form) = table(verify, "secret") else {
        return Some(secret.as_bytes().to_vec());
    };
    let rest = secret.strip_prefix(text(form, "prefix").unwrap_or_default())?;
    match text(form, "encoding") {
        None | Some("text") => Some(rest.as_bytes().to_vec()),
        Some(encoding) => decoded(encoding, rest.as_bytes()),
    }
}
