//! Signing, as a sender does it.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{Preset, SigningKey, presented::is_message_id};

/// A message id that can't be signed: empty, with a dot, or not visible ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message id is visible ASCII without a dot")]
pub struct BadMessageId;

/// The headers that a sender adds to a delivery of this body. `now` is in seconds since 1970; only
/// Standard Webhooks sign it, and the message id, which names the delivery and never the report.
///
/// # Errors
/// [`BadMessageId`], where the preset signs one.
pub fn sign(
    key: &SigningKey,
    message_id: &str,
    now: u64,
    body: &[u8],
) -> Result<Vec<(&'static str, String)>, BadMessageId> {
    match key.preset() {
        Preset::Github => {
            let code = key.code([body]);
            let hex: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
            Ok(vec![("x-hub-signature-256", format!("sha256={hex}"))])
        }
        Preset::StandardWebhooks => {
            if !is_message_id(message_id.as_bytes()) {
                return Err(BadMessageId);
            }
            let time = now.to_string();
            let code = key.code([message_id.as_bytes(), b".", time.as_bytes(), b".", body]);
            let signature = format!("v1,{}", BASE64_STANDARD.encode(code));
            Ok(vec![
                ("webhook-id", message_id.to_owned()),
                ("webhook-timestamp", time),
                ("webhook-signature", signature),
            ])
        }
    }
}
