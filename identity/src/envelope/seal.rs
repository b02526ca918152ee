//! The signature between edge and backend.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{Envelope, EnvelopeError, REPORTS_PATH};
use crate::{
    key::read_hex,
    preimage::{Preimage, length},
};

/// The time of signing: seconds since 1970 in decimal digits.
pub const HEADER_TIME: &str = "fencepost-time";
/// Which of the live secrets signed.
pub const HEADER_KEY_ID: &str = "fencepost-key-id";
/// `v1=` and the signature as lower-case hexadecimal digits.
pub const HEADER_SIGNATURE: &str = "fencepost-signature";

/// How far the edge's clock may be off, either way.
pub const WINDOW_SECONDS: u64 = 300;

/// The fewest bytes of a secret.
const SECRET_BYTES_MIN: usize = 16;

/// A secret that is too short to sign with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the edge secret has fewer than {SECRET_BYTES_MIN} bytes")]
pub struct SecretTooShort;

/// The secret that edge and backend share. While it is rotated, the backend knows two.
#[derive(Clone)]
pub struct EdgeSecret {
    mac: Hmac<Sha256>,
    key_id: String,
}

impl EdgeSecret {
    /// Takes the secret's text as it is.
    ///
    /// # Errors
    /// [`SecretTooShort`] for fewer than 16 bytes.
    pub fn new(text: &str) -> Result<Self, SecretTooShort> {
        if text.len() < SECRET_BYTES_MIN {
            return Err(SecretTooShort);
        }
        let mac = Hmac::new_from_slice(text.as_bytes()).map_err(|_| SecretTooShort)?;
        let digest = Preimage::of("fencepost/edge-key/1")
            .field(text.as_bytes())
            .finish();
        let id = digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(Self { mac, key_id: id })
    }

    /// Names the secret without telling anything of it: 16 hexadecimal digits of a digest.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    fn mac(&self, time: &str, body: &[u8]) -> Hmac<Sha256> {
        let parts = [
            b"fencepost/envelope/1",
            b"POST".as_slice(),
            REPORTS_PATH.as_bytes(),
        ];
        let parts = parts
            .into_iter()
            .chain([time.as_bytes(), self.key_id.as_bytes(), body]);
        parts.fold(self.mac.clone(), |mac, part| {
            mac.chain_update(length(part)).chain_update(part)
        })
    }
}

impl std::fmt::Debug for EdgeSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EdgeSecret({})", self.key_id)
    }
}

/// The three header values that go with an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal<'a> {
    /// [`HEADER_TIME`]
    pub time: &'a str,
    /// [`HEADER_KEY_ID`]
    pub key_id: &'a str,
    /// [`HEADER_SIGNATURE`]
    pub signature: &'a str,
}

/// Signs a body: the values of [`HEADER_TIME`], [`HEADER_KEY_ID`] and [`HEADER_SIGNATURE`].
/// `now` is in seconds since 1970.
#[must_use]
pub fn seal(secret: &EdgeSecret, now: u64, body: &[u8]) -> [String; 3] {
    let time = now.to_string();
    let code = secret.mac(&time, body).finalize().into_bytes();
    let hex: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
    [time, secret.key_id.clone(), format!("v1={hex}")]
}

/// Why a request is not from the edge, or not now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// No secret that is live has made this signature over this body.
    #[error("the envelope is not signed with a live edge secret")]
    Unauthorized,
    /// The signature holds, and its time is out of the window: by how many seconds.
    #[error("the envelope's time is {skew_seconds} s away from the backend's clock")]
    Stale {
        /// Positive where the edge is behind.
        skew_seconds: i64,
    },
    /// The signature holds, and the body is no envelope.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
}

/// Checks the signature over the received bytes, then the time, then reads the envelope. `now` is
/// in seconds since 1970.
///
/// # Errors
/// [`SealError`], in this order.
pub fn open(
    secrets: &[EdgeSecret],
    seal: Seal<'_>,
    now: u64,
    body: &[u8],
) -> Result<Envelope, SealError> {
    let signature = seal
        .signature
        .strip_prefix("v1=")
        .ok_or(SealError::Unauthorized)?;
    let signature = read_hex(signature).map_err(|_| SealError::Unauthorized)?;
    let signed = secrets
        .iter()
        .filter(|secret| secret.key_id == seal.key_id)
        .any(|secret| secret.mac(seal.time, body).verify_slice(&signature).is_ok());
    if !signed {
        return Err(SealError::Unauthorized);
    }
    // Signed, so written by the edge; still nothing is assumed about its range.
    let time: u64 = seal.time.parse().map_err(|_| SealError::Unauthorized)?;
    if now.abs_diff(time) > WINDOW_SECONDS {
        let skew = i128::from(now) - i128::from(time);
        let skew_seconds =
            i64::try_from(skew).unwrap_or(if skew > 0 { i64::MAX } else { i64::MIN });
        return Err(SealError::Stale { skew_seconds });
    }
    Ok(Envelope::from_json(body)?)
}
