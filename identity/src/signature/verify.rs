//! Whether a signature holds, and in time.

use ed25519_dalek::Signature;
use hmac::Mac;
use subtle::{Choice, ConstantTimeEq};

use super::{
    FormatError, Presented, SigningKey, Stamp, StampSource, Word,
    key::Material,
    presented::{Sealed, What},
};
use crate::{json::Value, mapping::text_of, pointer::Pointer};

/// What made a signature hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proven {
    /// Index into the keys that were tried.
    pub by: usize,
    /// Index into the signatures that the delivery carries.
    pub candidate: usize,
    /// Seconds that the sender's time lies before ours, negative where it lies after; nothing where
    /// the scheme has no time.
    pub skew_seconds: Option<i64>,
}

/// Whether a delivery is signed. Callers answer [`Verdict::Mismatch`] and [`Verdict::OutOfWindow`]
/// alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<'s> {
    /// Signed, and in time.
    Signed(Proven),
    /// No key made this signature over these bytes.
    Mismatch,
    /// Signed, with a time outside of the window.
    OutOfWindow(Proven),
    /// What is left to check stands in the payload: [`Presented::verify_payload`].
    Payload(InPayload<'s>),
}

/// What stands in the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InPayload<'s> {
    /// The time; the signature holds.
    Stamp(Proven, &'s Stamp, &'s Pointer),
    /// The token itself; nothing is proven yet.
    Token(&'s Pointer),
}

impl<'s> Presented<'s, '_> {
    /// Compares with what each key makes over the body, in constant time and whether or not an
    /// earlier key fits; then holds the time against `now`, in seconds since 1970.
    #[must_use]
    pub fn verify(&self, keys: &[SigningKey], body: &[u8], now: u64) -> Verdict<'s> {
        match &self.0 {
            What::Signed(sealed) => sealed.verify(keys, body, now),
            What::Shown(shown) => by_token(keys, shown),
            What::ShownInBody(pointer) => Verdict::Payload(InPayload::Token(pointer)),
        }
    }

    /// Finishes a check whose rest stands in the payload.
    ///
    /// # Errors
    /// [`FormatError::Timestamp`] for a time that is absent or malformed.
    pub fn verify_payload(
        &self,
        rest: InPayload<'s>,
        keys: &[SigningKey],
        payload: &Value<'_>,
        now: u64,
    ) -> Result<Verdict<'s>, FormatError> {
        match rest {
            InPayload::Stamp(proven, stamp, pointer) => {
                let text = text_of(pointer, payload).ok_or(FormatError::Timestamp)?;
                let seconds = stamp.format.read(text.as_bytes());
                Ok(in_time(
                    proven,
                    stamp,
                    seconds.ok_or(FormatError::Timestamp)?,
                    now,
                ))
            }
            InPayload::Token(pointer) => {
                let shown = pointer.find(payload).and_then(Value::as_str);
                Ok(by_token(keys, shown.unwrap_or_default().as_bytes()))
            }
        }
    }
}

impl<'s> Sealed<'s, '_> {
    fn verify(&self, keys: &[SigningKey], body: &[u8], now: u64) -> Verdict<'s> {
        let mut proven = None;
        for (by, key) in keys.iter().enumerate() {
            for (candidate, holds) in self.holds(key, body).into_iter().enumerate() {
                if bool::from(holds) {
                    proven = proven.or(Some(Proven {
                        by,
                        candidate,
                        skew_seconds: None,
                    }));
                }
            }
        }
        let Some(proven) = proven else {
            return Verdict::Mismatch;
        };
        match (&self.signed.stamp, self.seconds) {
            (Some(stamp), Some(seconds)) => in_time(proven, stamp, seconds, now),
            (Some(stamp), None) => match &stamp.source {
                StampSource::Body(pointer) => {
                    Verdict::Payload(InPayload::Stamp(proven, stamp, pointer))
                }
                // Reading made sure that these are there.
                StampSource::Header | StampSource::Pair(_) => Verdict::Mismatch,
            },
            (None, _) => Verdict::Signed(proven),
        }
    }

    /// Whether each of the signatures is one by this key.
    fn holds(&self, key: &SigningKey, body: &[u8]) -> Vec<Choice> {
        match &key.0 {
            Material::Ed25519(key) => {
                let message = self.parts(body).fold(Vec::new(), |mut message, part| {
                    message.extend_from_slice(part);
                    message
                });
                let holds = |code: &Vec<u8>| {
                    let signature = Signature::from_slice(code);
                    signature.is_ok_and(|it| key.verify_strict(&message, &it).is_ok())
                };
                let codes = self.codes.iter();
                codes
                    .map(|code| Choice::from(u8::from(holds(code))))
                    .collect()
            }
            Material::Sha1(_) | Material::Sha256(_) | Material::Sha512(_) => {
                let made = code(key, self.parts(body));
                let codes = self.codes.iter();
                codes.map(|code| code.as_slice().ct_eq(&made)).collect()
            }
            Material::Shown(_) => vec![],
        }
    }

    fn parts<'p>(&'p self, body: &'p [u8]) -> impl Iterator<Item = &'p [u8]> {
        self.signed.template.fill(move |word| match word {
            Word::Body => body,
            Word::Timestamp => self.timestamp,
            Word::Id => self.id,
            Word::Url => self.url.as_bytes(),
            Word::Method => self.method.as_bytes(),
        })
    }
}

/// The code that a key makes over these parts, one after the other; nothing for a key that makes
/// none.
pub(super) fn code<'p>(key: &SigningKey, parts: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
    fn over<'p, M: Mac + Clone>(mac: &M, parts: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
        let mac = parts.fold(mac.clone(), |mac, part| mac.chain_update(part));
        mac.finalize().into_bytes().to_vec()
    }
    match &key.0 {
        Material::Sha1(mac) => over(mac, parts),
        Material::Sha256(mac) => over(mac, parts),
        Material::Sha512(mac) => over(mac, parts),
        Material::Ed25519(_) | Material::Shown(_) => vec![],
    }
}

fn by_token<'s>(keys: &[SigningKey], shown: &[u8]) -> Verdict<'s> {
    let mut proven = None;
    for (by, key) in keys.iter().enumerate() {
        if bool::from(key.is_shown(shown)) {
            proven = proven.or(Some(Proven {
                by,
                candidate: 0,
                skew_seconds: None,
            }));
        }
    }
    proven.map_or(Verdict::Mismatch, Verdict::Signed)
}

fn in_time<'s>(proven: Proven, stamp: &Stamp, seconds: u64, now: u64) -> Verdict<'s> {
    let distance = i64::try_from(now.abs_diff(seconds)).unwrap_or(i64::MAX);
    let skew = if now >= seconds { distance } else { -distance };
    let proven = Proven {
        skew_seconds: Some(skew),
        ..proven
    };
    match stamp.window.holds(skew) {
        true => Verdict::Signed(proven),
        false => Verdict::OutOfWindow(proven),
    }
}
