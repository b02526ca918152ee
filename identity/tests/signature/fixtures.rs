//! Secrets, bodies and signatures that the other files take for granted.

use fencepost_identity::signature::{FormatError, Presented, Preset, SigningKey, Verdict};

pub(crate) const SECRET: &str = "fp_test_secret_0123456789abcdef";
pub(crate) const OLD_SECRET: &str = "fp_old_secret_0123456789abcdef";
pub(crate) const WHSEC: &str = "whsec_ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==";
pub(crate) const OLD_WHSEC: &str = "whsec_ZnBfb2xkX3NlY3JldF8wMTIzNDU2Nzg5YWJjZGVm";
pub(crate) const NOW: u64 = 1_800_000_000;
pub(crate) const BODY: &[u8] = br#"{"id":"r-1","rev":1}"#;
pub(crate) const GITHUB: &str =
    "sha256=7ecc9b841c875559e7d3dba817b775de01447900abbf3ee90e859a8981fb72d5";
pub(crate) const STANDARD: &str = "v1,mm2OdA021t2H6MqxqHHknyJP8cKIAf50uJ/0NDwZxpY=";
pub(crate) const OLD_STANDARD: &str = "v1,kX7SGx3JvDYiORIYmCxni5hBpLE04AIRLxVaEiAelSs=";

pub(crate) fn key(preset: Preset, text: &str) -> SigningKey {
    SigningKey::parse(preset, text).unwrap()
}

pub(crate) fn github(value: &[u8], secrets: &[&str], body: &[u8]) -> Result<Verdict, FormatError> {
    let keys: Vec<_> = secrets
        .iter()
        .map(|text| key(Preset::Github, text))
        .collect();
    let presented = Presented::read(Preset::Github, &[("X-Hub-Signature-256", value)])?;
    Ok(presented.verify(&keys, body, NOW))
}

/// A delivery by Standard Webhooks, signed with `WHSEC` unless something is changed.
pub(crate) struct Standard<'a> {
    pub(crate) id: &'a str,
    pub(crate) timestamp: &'a str,
    pub(crate) signature: &'a str,
    pub(crate) secrets: &'a [&'a str],
    pub(crate) body: &'a [u8],
    pub(crate) now: u64,
}

pub(crate) const GOOD: Standard<'_> = Standard {
    id: "msg_1",
    timestamp: "1800000000",
    signature: STANDARD,
    secrets: &[WHSEC],
    body: BODY,
    now: NOW,
};

impl Standard<'_> {
    pub(crate) fn check(&self) -> Result<Verdict, FormatError> {
        let keys = self
            .secrets
            .iter()
            .map(|text| key(Preset::StandardWebhooks, text));
        let keys: Vec<_> = keys.collect();
        let headers = [
            ("webhook-id", self.id.as_bytes()),
            ("webhook-timestamp", self.timestamp.as_bytes()),
            ("webhook-signature", self.signature.as_bytes()),
        ];
        let presented = Presented::read(Preset::StandardWebhooks, &headers)?;
        Ok(presented.verify(&keys, self.body, self.now))
    }
}

pub(crate) const SIGNED: Result<Verdict, FormatError> = Ok(Verdict::Signed { by: 0 });
pub(crate) const MISMATCH: Result<Verdict, FormatError> = Ok(Verdict::Mismatch);
