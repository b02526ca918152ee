//! Signing keys and the texts that they are given as.

use std::fmt;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::Preset;

/// The fewest bytes of a key: with fewer, guessing begins to pay.
pub const KEY_BYTES_MIN: usize = 16;

/// Why a text is no signing secret. The message never contains any of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key that the text stands for is too short.
    #[error("the secret stands for {bytes} bytes; at least {KEY_BYTES_MIN} are needed")]
    TooShort {
        /// The bytes that there are.
        bytes: usize,
    },
    /// A line ending or another control character, which is nearly always an accident of a file.
    #[error("the secret contains a control character, such as a line ending")]
    ControlCharacter,
    /// A Standard Webhooks secret without its mark.
    #[error("a Standard Webhooks secret begins with `whsec_`")]
    NoPrefix,
    /// The signature's version was pasted with the secret.
    #[error("the secret begins with `v1,`, as a signature does; leave it away: `whsec_…`")]
    VersionBefore,
    /// What follows `whsec_` is not base64.
    #[error("what follows `whsec_` is not standard base64 with its padding")]
    NotBase64,
}

/// A key that deliveries are signed with under one preset.
#[derive(Clone)]
pub struct SigningKey {
    preset: Preset,
    mac: Hmac<Sha256>,
}

impl SigningKey {
    /// Reads the secret's text in the form that the preset gives it.
    ///
    /// # Errors
    /// [`KeyError`] for a text that is malformed or stands for fewer than [`KEY_BYTES_MIN`] bytes.
    pub fn parse(preset: Preset, text: &str) -> Result<Self, KeyError> {
        if text.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(KeyError::ControlCharacter);
        }
        let mac = match preset {
            Preset::Github => mac_of(text.as_bytes())?,
            Preset::StandardWebhooks => mac_of(&standard_key(text)?)?,
        };
        Ok(Self { preset, mac })
    }

    /// How deliveries are signed with it.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// The code over these parts, one after the other.
    pub(super) fn code<'p>(&self, parts: impl IntoIterator<Item = &'p [u8]>) -> [u8; 32] {
        let parts = parts.into_iter();
        let mac = parts.fold(self.mac.clone(), |mac, part| mac.chain_update(part));
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.preset)
    }
}

/// The secret of one tenant, in the preset's form: HMAC-SHA256 of the tenant under the master
/// secret's text. Who knows it can sign for this tenant and learns nothing of the others'.
///
/// # Errors
/// [`KeyError`] for a master secret that is too short or contains control characters.
pub fn derive_secret(preset: Preset, master: &str, tenant: &str) -> Result<String, KeyError> {
    if master.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(KeyError::ControlCharacter);
    }
    let code = mac_of(master.as_bytes())?.chain_update(tenant.as_bytes());
    let code = code.finalize().into_bytes();
    Ok(match preset {
        Preset::Github => code.iter().map(|byte| format!("{byte:02x}")).collect(),
        Preset::StandardWebhooks => format!("whsec_{}", BASE64_STANDARD.encode(code)),
    })
}

fn standard_key(text: &str) -> Result<Vec<u8>, KeyError> {
    if text.starts_with("v1,") {
        return Err(KeyError::VersionBefore);
    }
    let encoded = text.strip_prefix("whsec_").ok_or(KeyError::NoPrefix)?;
    BASE64_STANDARD
        .decode(encoded)
        .map_err(|_| KeyError::NotBase64)
}

fn mac_of(key: &[u8]) -> Result<Hmac<Sha256>, KeyError> {
    let too_short = KeyError::TooShort { bytes: key.len() };
    if key.len() < KEY_BYTES_MIN {
        return Err(too_short);
    }
    // HMAC takes keys of every length, so this can't fail.
    Hmac::new_from_slice(key).map_err(|_| too_short)
}
