//! An identity as a JSON document: `{"tenant", "namespace", "report_id", "version"}`.

use crate::{
    envelope::EnvelopeError,
    identity::{Identity, Namespace, ReportId, Revision, Tenant, Version},
    json::{self, Value},
    refusal::Refusal,
};

impl Identity {
    /// Reads an identity from its JSON form; its version is one of `{"revision": 3}`,
    /// `{"content": "<hex>"}` and `"event"`.
    ///
    /// # Errors
    /// [`EnvelopeError`] that names the member.
    pub fn from_json(document: &[u8]) -> Result<Self, EnvelopeError> {
        identity_of(&json::parse(document).map_err(EnvelopeError::Unreadable)?)
    }
}

const MEMBERS: [&str; 4] = ["tenant", "namespace", "report_id", "version"];

/// Reads an identity from a value of its JSON form.
pub(crate) fn identity_of(value: &Value<'_>) -> Result<Identity, EnvelopeError> {
    let members = value
        .as_object()
        .ok_or(EnvelopeError::Malformed("identity"))?;
    if members
        .iter()
        .any(|(name, _)| !MEMBERS.contains(&name.to_str_lossy()))
    {
        return Err(EnvelopeError::UnknownMember("tenant"));
    }
    Ok(Identity {
        tenant: Tenant::new(text(value, "tenant")?).map_err(EnvelopeError::Identity)?,
        namespace: Namespace::new(text(value, "namespace")?).map_err(EnvelopeError::Identity)?,
        report_id: ReportId::new(text(value, "report_id")?).map_err(EnvelopeError::Identity)?,
        version: version(value.get("version"))?,
    })
}

/// The text of an identity's field, which unlike a payload's id is always a string.
fn text<'v>(value: &'v Value<'_>, name: &'static str) -> Result<&'v str, EnvelopeError> {
    match value.get(name) {
        None | Some(Value::Null) => Err(EnvelopeError::Identity(Refusal::MissingField)),
        Some(Value::String(text)) => text
            .as_str()
            .ok_or(EnvelopeError::Identity(Refusal::LoneSurrogate)),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(EnvelopeError::Identity(Refusal::NotAnIdentifier))
        }
    }
}

fn version(value: Option<&Value<'_>>) -> Result<Version, EnvelopeError> {
    const MALFORMED: EnvelopeError = EnvelopeError::Malformed("version");
    let value = value.ok_or(EnvelopeError::Identity(Refusal::MissingField))?;
    if value.as_str() == Some("event") {
        return Ok(Version::Event);
    }
    let [(name, form)] = value.as_object().ok_or(MALFORMED)? else {
        return Err(MALFORMED);
    };
    match (name.as_str(), form) {
        (Some("revision"), Value::Number(number)) => {
            let digits = number.integer().ok_or(Refusal::NotARevision);
            let revision = digits.and_then(Revision::from_digits);
            revision
                .map(Version::Revision)
                .map_err(EnvelopeError::Identity)
        }
        (Some("content"), Value::String(hash)) => {
            let hash = hash.as_str().and_then(|hex| hex.parse().ok());
            hash.map(Version::Content).ok_or(MALFORMED)
        }
        _ => Err(MALFORMED),
    }
}
