//! The envelope's JSON form.

use super::bytes_max;
use crate::{
    canonical::write_str,
    document::identity_of,
    identity::{Identity, Version},
    json::{self, Value},
    key::{InputHash, MappingDigest, ReportKey},
    mapping::Input,
    refusal::Refusal,
};

/// One report as the edge forwards it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The source that it came in by.
    pub source: String,
    /// What the report is.
    pub identity: Identity,
    /// The immutable input; none where the backend fetches it.
    pub input: Option<Input>,
    /// The value that tells which version is current, where the source has one.
    pub order: Option<String>,
    /// For people, and what content is fetched by: by name, not hashed.
    pub links: Vec<(String, String)>,
    /// What the identity was read with.
    pub mapping_digest: MappingDigest,
}

/// Why a body is no envelope. The text names members, never their values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// Not strict JSON.
    #[error("the envelope can't be read: {0}")]
    Unreadable(Refusal),
    /// A member is absent or of another form.
    #[error("the envelope's member `{0}` is absent or malformed")]
    Malformed(&'static str),
    /// A member that the envelope doesn't have: nothing may be carried along.
    #[error("the envelope has a member that is not known, beside `{0}`")]
    UnknownMember(&'static str),
    /// The identity is not one.
    #[error("the envelope's identity is refused: {0}")]
    Identity(Refusal),
    /// The key that stands in it is not that of its identity.
    #[error("the envelope's report key is not the one that its identity has")]
    KeyMismatch,
    /// The hash that stands in it is not that of its input.
    #[error("the envelope's input hash is not the one that its input has")]
    HashMismatch,
}

const MEMBERS: [&str; 8] = [
    "identity",
    "input",
    "input_hash",
    "links",
    "mapping_digest",
    "order",
    "report_key",
    "source",
];

impl Envelope {
    /// Whether it is short enough to be forwarded from a source that takes bodies of so many bytes.
    #[must_use]
    pub fn fits(&self, body_bytes_max: usize) -> bool {
        self.to_json().len() <= bytes_max(body_bytes_max)
    }

    /// Writes the body, its key and hash derived anew.
    #[must_use]
    pub fn to_json(&self) -> String {
        let input = self.input.as_ref();
        let mut out = String::with_capacity(input.map_or(0, |it| it.as_str().len()) + 1024);
        out.push_str("{\"identity\":");
        write_identity(&self.identity, &mut out);
        if let Some(input) = input {
            out.push_str(",\"input\":");
            out.push_str(input.as_str());
            out.push_str(",\"input_hash\":");
            write_str(&input.hash().to_string(), &mut out);
        }
        out.push_str(",\"links\":{");
        for (index, (name, link)) in self.links.iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            write_str(name, &mut out);
            out.push(':');
            write_str(link, &mut out);
        }
        out.push_str("},\"mapping_digest\":");
        write_str(&self.mapping_digest.to_string(), &mut out);
        if let Some(order) = &self.order {
            out.push_str(",\"order\":");
            write_str(order, &mut out);
        }
        out.push_str(",\"report_key\":");
        write_str(&self.identity.report_key().to_string(), &mut out);
        out.push_str(",\"source\":");
        write_str(&self.source, &mut out);
        out.push('}');
        out
    }

    /// Reads a body, derives its key and hash again and compares.
    ///
    /// # Errors
    /// [`EnvelopeError`]: for an unknown member too.
    pub fn from_json(body: &[u8]) -> Result<Self, EnvelopeError> {
        let value = json::parse(body).map_err(EnvelopeError::Unreadable)?;
        let members = value
            .as_object()
            .ok_or(EnvelopeError::Malformed("identity"))?;
        if members
            .iter()
            .any(|(name, _)| !MEMBERS.contains(&name.to_str_lossy()))
        {
            return Err(EnvelopeError::UnknownMember("identity"));
        }
        let envelope = Self {
            source: string(&value, "source")?.to_owned(),
            identity: identity_of(value.get("identity").unwrap_or(&Value::Null))?,
            input: input(&value)?,
            order: match value.get("order") {
                None => None,
                Some(_) => Some(string(&value, "order")?.to_owned()),
            },
            links: links(&value)?,
            mapping_digest: string(&value, "mapping_digest")?
                .parse::<MappingDigest>()
                .map_err(|_| EnvelopeError::Malformed("mapping_digest"))?,
        };
        envelope.compare(&value)?;
        Ok(envelope)
    }

    fn compare(&self, value: &Value<'_>) -> Result<(), EnvelopeError> {
        let key: ReportKey = string(value, "report_key")?
            .parse()
            .map_err(|_| EnvelopeError::Malformed("report_key"))?;
        if key != self.identity.report_key() {
            return Err(EnvelopeError::KeyMismatch);
        }
        let Some(input) = &self.input else {
            // A hash tells of the content, too.
            return match value.get("input_hash") {
                None => Ok(()),
                Some(_) => Err(EnvelopeError::Malformed("input")),
            };
        };
        let hash: InputHash = string(value, "input_hash")?
            .parse()
            .map_err(|_| EnvelopeError::Malformed("input_hash"))?;
        if hash != input.hash() {
            return Err(EnvelopeError::HashMismatch);
        }
        Ok(())
    }
}

fn string<'v>(value: &'v Value<'_>, name: &'static str) -> Result<&'v str, EnvelopeError> {
    value
        .get(name)
        .and_then(Value::as_str)
        .ok_or(EnvelopeError::Malformed(name))
}

fn input(value: &Value<'_>) -> Result<Option<Input>, EnvelopeError> {
    let input = value.get("input").map(Input::of_object);
    input
        .transpose()
        .map_err(|_| EnvelopeError::Malformed("input"))
}

fn links(value: &Value<'_>) -> Result<Vec<(String, String)>, EnvelopeError> {
    let members = value.get("links").and_then(Value::as_object);
    let members = members.ok_or(EnvelopeError::Malformed("links"))?.iter();
    let texts = members.map(|(name, link)| Some((name.as_str()?.into(), link.as_str()?.into())));
    texts
        .collect::<Option<_>>()
        .ok_or(EnvelopeError::Malformed("links"))
}

fn write_identity(identity: &Identity, out: &mut String) {
    out.push_str("{\"namespace\":");
    write_str(identity.namespace.as_str(), out);
    out.push_str(",\"report_id\":");
    write_str(identity.report_id.as_str(), out);
    out.push_str(",\"tenant\":");
    write_str(identity.tenant.as_str(), out);
    out.push_str(",\"version\":");
    match &identity.version {
        Version::Revision(revision) => {
            out.push_str("{\"revision\":");
            out.push_str(&revision.get().to_string());
            out.push('}');
        }
        Version::Content(hash) => {
            out.push_str("{\"content\":");
            write_str(&hash.to_string(), out);
            out.push('}');
        }
        Version::Event => write_str("event", out),
    }
    out.push('}');
}
