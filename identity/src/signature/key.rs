//! Signing keys and the texts that they are given as.

use std::fmt;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ed25519_dalek::VerifyingKey;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use subtle::{Choice, ConstantTimeEq};

use super::{
    Algorithm, Scheme, SecretEncoding, SecretForm, Signed,
    encoding::{Encoding, write_hex},
};

/// The fewest bytes of a key: with fewer, guessing begins to pay.
pub const KEY_BYTES_MIN: usize = 16;

/// Why a text is no signing secret. The message never contains any of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key that the text stands for is too short.
    #[error("the secret stands for {bytes} bytes; at least {KEY_BYTES_MIN} are needed")]
    TooShort {
        /// The bytes that there are.
        bytes: usize,
    },
    /// Nothing but blanks, or but zero bytes, which HMAC can't tell from no key.
    #[error("the secret is blank")]
    Blank,
    /// A line ending or another control character, which is nearly always an accident of a file.
    #[error("the secret contains a control character, such as a line ending")]
    ControlCharacter,
    /// The text that has to stand before the secret doesn't.
    #[error("a secret of this scheme begins with `{0}`")]
    NoPrefix(String),
    /// The signature's version was pasted with the secret.
    #[error("the secret begins with `v1,`, as a signature does; leave it away: `whsec_…`")]
    VersionBefore,
    /// It is not base64.
    #[error("the secret is not standard base64 with its padding")]
    NotBase64,
    /// It is not hexadecimal.
    #[error("the secret is not an even number of hexadecimal digits")]
    NotHex,
    /// It is no Ed25519 public key, or one that makes signatures worthless.
    #[error("this is no Ed25519 public key of 32 bytes")]
    NotAPublicKey,
    /// Basic needs a user and a password.
    #[error("the secret of Basic is `user:password`")]
    NotBasic,
    /// Nothing can be derived from a master secret under this scheme.
    #[error("a scheme with public keys or Basic derives no secrets for tenants")]
    NotDerivable,
}

/// A key that deliveries are signed with under one scheme.
#[derive(Clone)]
pub struct SigningKey(pub(super) Material);

#[derive(Clone)]
pub(super) enum Material {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha512(Hmac<Sha512>),
    Ed25519(Box<VerifyingKey>),
    /// What is shown as it is.
    Shown(String),
}

impl SigningKey {
    /// Reads the secret's text in the form that the scheme gives it.
    ///
    /// # Errors
    /// [`KeyError`] for a text that is malformed or stands for fewer than [`KEY_BYTES_MIN`] bytes.
    pub fn parse(scheme: &Scheme, text: &str) -> Result<Self, KeyError> {
        check_text(text)?;
        let material = match scheme {
            Scheme::Signed(signed) => material(signed, text)?,
            Scheme::Basic => {
                long_enough(password_of(text)?.as_bytes())?;
                Material::Shown(text.to_owned())
            }
            Scheme::Token(_) => return Self::shown(text),
        };
        Ok(Self(material))
    }

    /// Takes a token that is shown as it is, such as that of a handshake.
    ///
    /// # Errors
    /// [`KeyError`] for a text that is blank, holds a control character, or has fewer than
    /// [`KEY_BYTES_MIN`] bytes.
    pub fn shown(text: &str) -> Result<Self, KeyError> {
        check_text(text)?;
        long_enough(text.as_bytes())?;
        Ok(Self(Material::Shown(text.to_owned())))
    }

    /// HMAC-SHA256 of a text in hexadecimal digits, under a key that makes such codes.
    #[must_use]
    pub fn answer(&self, text: &str) -> Option<String> {
        match &self.0 {
            Material::Sha256(mac) => {
                let code = mac.clone().chain_update(text.as_bytes()).finalize();
                Some(write_hex(&code.into_bytes()))
            }
            Material::Sha1(_) | Material::Sha512(_) | Material::Ed25519(_) | Material::Shown(_) => {
                None
            }
        }
    }

    /// Whether these are the bytes of a secret that is shown: digests are compared, so that the
    /// time tells not even its length.
    pub(crate) fn is_shown(&self, presented: &[u8]) -> Choice {
        match &self.0 {
            Material::Shown(own) => {
                let (own, other) = (Sha256::digest(own.as_bytes()), Sha256::digest(presented));
                own.as_slice().ct_eq(other.as_slice())
            }
            Material::Sha1(_)
            | Material::Sha256(_)
            | Material::Sha512(_)
            | Material::Ed25519(_) => Choice::from(0),
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(redacted)")
    }
}

/// The secret of one tenant, in the scheme's form: HMAC-SHA256 of the tenant under the master
/// secret's text. Who knows it can sign for this tenant and learns nothing of the others'.
///
/// # Errors
/// [`KeyError`] for a master secret that is too short or contains control characters, and for a
/// scheme whose secrets have a form of their own.
pub fn derive_secret(scheme: &Scheme, master: &str, tenant: &str) -> Result<String, KeyError> {
    check_text(master)?;
    long_enough(master.as_bytes())?;
    let too_short = KeyError::TooShort {
        bytes: master.len(),
    };
    // HMAC takes keys of every length, so this can't fail.
    let mac = Hmac::<Sha256>::new_from_slice(master.as_bytes()).map_err(|_| too_short)?;
    let code = mac.chain_update(tenant.as_bytes()).finalize().into_bytes();
    match scheme {
        Scheme::Signed(Signed {
            algorithm: Algorithm::Ed25519,
            ..
        })
        | Scheme::Basic => Err(KeyError::NotDerivable),
        Scheme::Signed(signed) => {
            let SecretForm { encoding, prefix } = &signed.secret;
            Ok(match encoding {
                SecretEncoding::Text | SecretEncoding::Hex => {
                    format!("{prefix}{}", write_hex(&code))
                }
                SecretEncoding::Base64 => format!("{prefix}{}", BASE64_STANDARD.encode(code)),
            })
        }
        Scheme::Token(_) => Ok(write_hex(&code)),
    }
}

/// The bytes of the key that a secret's text stands for, however few they are.
///
/// # Errors
/// [`KeyError`] for a text that is malformed.
pub fn key_bytes(scheme: &Scheme, text: &str) -> Result<usize, KeyError> {
    match scheme {
        Scheme::Signed(signed) => Ok(bytes_of(&signed.secret, text)?.len()),
        Scheme::Token(_) => Ok(text.len()),
        Scheme::Basic => Ok(password_of(text)?.len()),
    }
}

fn check_text(text: &str) -> Result<(), KeyError> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(KeyError::ControlCharacter);
    }
    if !text.is_empty() && text.trim().is_empty() {
        return Err(KeyError::Blank);
    }
    Ok(())
}

/// The part of Basic's credentials that is a secret; the user is none.
fn password_of(text: &str) -> Result<&str, KeyError> {
    let (_, password) = text.split_once(':').ok_or(KeyError::NotBasic)?;
    Ok(password)
}

fn long_enough(key: &[u8]) -> Result<(), KeyError> {
    let bytes = key.len();
    match bytes < KEY_BYTES_MIN {
        true => Err(KeyError::TooShort { bytes }),
        false => Ok(()),
    }
}

fn material(signed: &Signed, text: &str) -> Result<Material, KeyError> {
    let key = bytes_of(&signed.secret, text)?;
    long_enough(&key)?;
    if signed.algorithm != Algorithm::Ed25519 && key.iter().all(|byte| *byte == 0) {
        return Err(KeyError::Blank);
    }
    let too_short = |_| KeyError::TooShort { bytes: key.len() };
    Ok(match signed.algorithm {
        Algorithm::HmacSha1 => Material::Sha1(Hmac::new_from_slice(&key).map_err(too_short)?),
        Algorithm::HmacSha256 => Material::Sha256(Hmac::new_from_slice(&key).map_err(too_short)?),
        Algorithm::HmacSha512 => Material::Sha512(Hmac::new_from_slice(&key).map_err(too_short)?),
        Algorithm::Ed25519 => {
            let key = key
                .as_slice()
                .try_into()
                .map_err(|_| KeyError::NotAPublicKey)?;
            let key = VerifyingKey::from_bytes(key).map_err(|_| KeyError::NotAPublicKey)?;
            if key.is_weak() {
                return Err(KeyError::NotAPublicKey);
            }
            Material::Ed25519(Box::new(key))
        }
    })
}

fn bytes_of(form: &SecretForm, text: &str) -> Result<Vec<u8>, KeyError> {
    let without = text.strip_prefix(form.prefix.as_str());
    let rest = without.ok_or_else(|| match text.starts_with("v1,") {
        true => KeyError::VersionBefore,
        false => KeyError::NoPrefix(form.prefix.clone()),
    })?;
    match form.encoding {
        SecretEncoding::Text => Ok(rest.as_bytes().to_vec()),
        SecretEncoding::Base64 => Encoding::Base64
            .decode(rest.as_bytes())
            .ok_or(KeyError::NotBase64),
        SecretEncoding::Hex => Encoding::Hex
            .decode(rest.as_bytes())
            .ok_or(KeyError::NotHex),
    }
}
