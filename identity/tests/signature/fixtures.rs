//! Secrets, bodies and signatures that the other files take for granted.

use fencepost_identity::{
    config::Verify,
    signature::{FormatError, Presented, Proven, Request, Scheme, SigningKey, Verdict},
};

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

/// The scheme of a preset, or of a table as TOML has it in one line.
pub(crate) fn scheme(verify: &str) -> Scheme {
    let verify = match verify.starts_with('{') {
        true => format!("verify = {verify}"),
        false => format!("verify = \"{verify}\""),
    };
    Verify::parse(&verify).unwrap().scheme
}

pub(crate) fn key(preset: &str, text: &str) -> SigningKey {
    SigningKey::parse(&scheme(preset), text).unwrap()
}

/// What a scheme says of a delivery with these headers.
pub(crate) fn check(
    scheme: &Scheme,
    headers: &[(&str, &[u8])],
    keys: &[SigningKey],
    body: &[u8],
    now: u64,
) -> Checked {
    let request = Request {
        method: "POST",
        segment: None,
        headers,
    };
    Ok(
        match Presented::read(scheme, &request)?.verify(keys, body, now) {
            Verdict::Signed(proven) => Outcome::Signed(proven.by),
            Verdict::Mismatch => Outcome::Mismatch,
            Verdict::OutOfWindow(Proven { skew_seconds, .. }) => {
                Outcome::OutOfWindow(skew_seconds.unwrap())
            }
            Verdict::Payload(_) => Outcome::InPayload,
        },
    )
}

/// A verdict without what these tests don't look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Signed(usize),
    Mismatch,
    OutOfWindow(i64),
    InPayload,
}

pub(crate) type Checked = Result<Outcome, FormatError>;

pub(crate) fn github(value: &[u8], secrets: &[&str], body: &[u8]) -> Checked {
    let keys: Vec<_> = secrets.iter().map(|text| key("github", text)).collect();
    let headers = [("X-Hub-Signature-256", value)];
    check(&scheme("github"), &headers, &keys, body, NOW)
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
    pub(crate) fn check(&self) -> Checked {
        let secrets = self.secrets.iter();
        let keys: Vec<_> = secrets.map(|text| key("standard-webhooks", text)).collect();
        let headers = [
            ("webhook-id", self.id.as_bytes()),
            ("webhook-timestamp", self.timestamp.as_bytes()),
            ("webhook-signature", self.signature.as_bytes()),
        ];
        let scheme = scheme("standard-webhooks");
        check(&scheme, &headers, &keys, self.body, self.now)
    }
}

pub(crate) const SIGNED: Checked = Ok(Outcome::Signed(0));
pub(crate) const MISMATCH: Checked = Ok(Outcome::Mismatch);
