//! Signing, as a sender does it.

use super::{
    Algorithm, Encoding, Place, Scheme, Shape, Signed, SigningKey, Stamp, StampSource, Token, Word,
    key::Material, presented::is_message_id, verify::code,
};

/// What a sender says of a delivery beside its body.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'d> {
    /// The method, in capitals.
    pub method: &'d str,
    /// The route's last segment, where that names the tenant.
    pub segment: Option<&'d str>,
    /// Names the delivery and never the report; only some schemes sign one.
    pub message_id: &'d str,
    /// Seconds since 1970; only some schemes sign them.
    pub now: u64,
    /// The body.
    pub body: &'d [u8],
}

/// Why a delivery can't be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The id is empty, or has a character that can't stand in one.
    #[error("a message id is visible ASCII, without the character that ends it where it is signed")]
    BadMessageId,
    /// The scheme's key only verifies.
    #[error("this scheme's key is public: only the sender has the one that signs")]
    PublicKey,
    /// The secret stands in the payload itself.
    #[error("this scheme's secret stands in the payload, so there is no header to add")]
    InPayload,
}

/// The headers that a sender adds to a delivery.
///
/// # Errors
/// [`SignError`] says what keeps it from being signed.
pub fn sign(
    scheme: &Scheme,
    key: &SigningKey,
    sending: &Sending<'_>,
) -> Result<Vec<(String, String)>, SignError> {
    match (scheme, &key.0) {
        (Scheme::Signed(signed), _) => sign_with(signed, key, sending),
        (Scheme::Token(Token::Body(_)), _) => Err(SignError::InPayload),
        (Scheme::Token(Token::Header { name, prefix }), Material::Shown(secret)) => {
            Ok(vec![(name.clone(), format!("{prefix}{secret}"))])
        }
        (Scheme::Basic, Material::Shown(secret)) => {
            let credentials = Encoding::Base64.encode(secret.as_bytes());
            let name = "authorization".to_owned();
            Ok(vec![(name, format!("Basic {credentials}"))])
        }
        // A key of another scheme.
        (Scheme::Token(_) | Scheme::Basic, _) => Err(SignError::PublicKey),
    }
}

fn sign_with(
    signed: &Signed,
    key: &SigningKey,
    sending: &Sending<'_>,
) -> Result<Vec<(String, String)>, SignError> {
    if signed.algorithm == Algorithm::Ed25519 {
        return Err(SignError::PublicKey);
    }
    if signed.template.names(Word::Id) && !is_message_id(signed, sending.message_id.as_bytes()) {
        return Err(SignError::BadMessageId);
    }
    let time = signed
        .stamp
        .as_ref()
        .map(|stamp| stamp.format.write(sending.now));
    let time = time.unwrap_or_default();
    let url = signed.url.as_deref().unwrap_or_default();
    let url = url.replace("{tenant}", sending.segment.unwrap_or_default());
    let parts = signed.template.fill(|word| match word {
        Word::Body => sending.body,
        Word::Timestamp => time.as_bytes(),
        Word::Id => sending.message_id.as_bytes(),
        Word::Url => url.as_bytes(),
        Word::Method => sending.method.as_bytes(),
    });
    let code = signed.encoding.encode(&code(key, parts));
    let mut headers = Vec::new();
    // A scheme has at least one spelling.
    for Place {
        signature,
        id,
        timestamp,
    } in signed.places.iter().take(1)
    {
        headers.extend(id.clone().map(|name| (name, sending.message_id.to_owned())));
        headers.extend(timestamp.clone().map(|name| (name, time.clone())));
        headers.push((signature.clone(), value(signed, &code, &time)));
    }
    Ok(headers)
}

fn value(signed: &Signed, code: &str, time: &str) -> String {
    match &signed.shape {
        Shape::Value => code.to_owned(),
        Shape::Prefix(prefix) | Shape::List { prefix, .. } => format!("{prefix}{code}"),
        Shape::Versioned { version } => format!("{version},{code}"),
        Shape::Pairs {
            separator,
            equals,
            keys,
        } => {
            let key = keys.first().map(String::as_str).unwrap_or_default();
            let code = format!("{key}{equals}{code}");
            match &signed.stamp {
                Some(Stamp {
                    source: StampSource::Pair(name),
                    ..
                }) => format!("{name}{equals}{time}{separator}{code}"),
                Some(_) | None => code,
            }
        }
    }
}
