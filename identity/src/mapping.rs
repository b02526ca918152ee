//! Reading an identity and its input from a payload.

use std::borrow::Cow;

use crate::{
    canonical::{write_members, write_str, write_value},
    identity::{Identity, Namespace, ReportId, Revision, Tenant, Version},
    json::{Text, Value},
    key::{ContentHash, InputHash, MappingDigest},
    pointer::Pointer,
    preimage::Preimage,
    refusal::Refusal,
};

/// Where the tenant comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantForm {
    /// A fixed value.
    Value(Tenant),
    /// A member of the payload: only as good as the sender that holds the secret.
    Pointer(Pointer),
    /// The last segment of the route.
    Route,
}

/// Where the version comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionForm {
    /// The sender's own count.
    Revision(Pointer),
    /// These members, in this order, tell versions apart.
    Content(Vec<Pointer>),
    /// The id names one immutable event.
    Event,
}

/// How an identity is read from a payload. A source's mapping is bound by its digest on first use:
/// another mapping gives the same reports other keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Where the tenant comes from.
    pub tenant: TenantForm,
    /// The space of ids.
    pub namespace: Namespace,
    /// Where the upstream's id stands.
    pub report_id: Pointer,
    /// Where the version comes from.
    pub version: VersionForm,
}

impl Mapping {
    /// Reads the identity from a payload. `route_tenant` is the route's last segment as it was
    /// received, still percent-encoded.
    ///
    /// # Errors
    /// The first refusal in the order tenant, report id, version.
    pub fn identify(
        &self,
        payload: &Value<'_>,
        route_tenant: Option<&str>,
    ) -> Result<Identity, Refusal> {
        Ok(Identity {
            tenant: self.tenant(payload, route_tenant)?,
            namespace: self.namespace.clone(),
            report_id: ReportId::new(identifier(self.report_id.find(payload))?)?,
            version: self.version(payload)?,
        })
    }

    /// The digest that binds this mapping.
    #[must_use]
    pub fn digest(&self) -> MappingDigest {
        let preimage = Preimage::of("fencepost/mapping/1").field(self.namespace.as_bytes());
        let preimage = match &self.tenant {
            TenantForm::Value(tenant) => preimage.field(b"value").field(tenant.as_bytes()),
            TenantForm::Pointer(pointer) => preimage.field(b"pointer").field(bytes_of(pointer)),
            TenantForm::Route => preimage.field(b"route").field(b""),
        };
        let preimage = preimage.field(bytes_of(&self.report_id));
        let preimage = match &self.version {
            VersionForm::Revision(pointer) => preimage.field(b"revision").field(bytes_of(pointer)),
            VersionForm::Content(pointers) => {
                let preimage = preimage.field(b"content");
                pointers
                    .iter()
                    .fold(preimage, |p, pointer| p.field(bytes_of(pointer)))
            }
            VersionForm::Event => preimage.field(b"event"),
        };
        MappingDigest::from_bytes(preimage.finish())
    }

    fn tenant(&self, payload: &Value<'_>, route: Option<&str>) -> Result<Tenant, Refusal> {
        match &self.tenant {
            TenantForm::Value(tenant) => Ok(tenant.clone()),
            TenantForm::Pointer(pointer) => Tenant::new(identifier(pointer.find(payload))?),
            TenantForm::Route => tenant_of_segment(route.ok_or(Refusal::MissingField)?),
        }
    }

    fn version(&self, payload: &Value<'_>) -> Result<Version, Refusal> {
        match &self.version {
            VersionForm::Revision(pointer) => revision(pointer.find(payload)),
            VersionForm::Content(pointers) => content_hash(payload, pointers).map(Version::Content),
            VersionForm::Event => Ok(Version::Event),
        }
    }
}

/// The tenant that a route's segment names, percent-decoded once.
///
/// # Errors
/// [`Refusal::NotAnIdentifier`] where it doesn't decode to UTF-8; else as [`Tenant::new`].
pub fn tenant_of_segment(segment: &str) -> Result<Tenant, Refusal> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut parts = segment.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let digits = part
            .get(..2)
            .filter(|d| d.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or(Refusal::NotAnIdentifier)?);
        bytes.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
    }
    Tenant::new(String::from_utf8(bytes).map_err(|_| Refusal::NotAnIdentifier)?)
}

/// The text of an id: a string, or an integer by its digits.
fn identifier<'v>(value: Option<&'v Value<'_>>) -> Result<&'v str, Refusal> {
    match value {
        None | Some(Value::Null) => Err(Refusal::MissingField),
        Some(Value::String(text)) => text.as_str().ok_or(Refusal::LoneSurrogate),
        Some(Value::Number(number)) => number.integer().ok_or(Refusal::NotAnIdentifier),
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => Err(Refusal::NotAnIdentifier),
    }
}

fn revision(value: Option<&Value<'_>>) -> Result<Version, Refusal> {
    let digits = match value {
        None | Some(Value::Null) => return Err(Refusal::MissingField),
        Some(Value::String(text)) => match text.as_str().ok_or(Refusal::LoneSurrogate)? {
            "" => return Err(Refusal::EmptyField),
            digits => digits,
        },
        Some(Value::Number(number)) => number.integer().ok_or(Refusal::NotARevision)?,
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            return Err(Refusal::NotARevision);
        }
    };
    Revision::from_digits(digits).map(Version::Revision)
}

/// The hash of the members that make up a content version; an absent one is zero bytes.
fn content_hash(payload: &Value<'_>, pointers: &[Pointer]) -> Result<ContentHash, Refusal> {
    let mut preimage = Preimage::of("fencepost/content/1");
    let mut canonical = String::new();
    for pointer in pointers {
        canonical.clear();
        if let Some(value) = pointer.find(payload) {
            write_value(value, &mut canonical)?;
        }
        preimage = preimage
            .field(bytes_of(pointer))
            .field(canonical.as_bytes());
    }
    Ok(ContentHash::from_bytes(preimage.finish()))
}

/// The immutable input of a report, as canonical bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Input(String);

impl Input {
    /// Collects the named members of a payload; an absent one is left out.
    ///
    /// # Errors
    /// [`Refusal::NumberOutOfRange`] for a number that no finite double stands for.
    pub fn collect(payload: &Value<'_>, names: &[(String, Pointer)]) -> Result<Self, Refusal> {
        let texts: Vec<_> = names.iter().map(|(name, _)| Text::borrowed(name)).collect();
        let found = texts.iter().zip(names);
        let members = found.filter_map(|(text, (_, pointer))| Some((text, pointer.find(payload)?)));
        let mut canonical = String::new();
        write_members(members.collect(), &mut canonical)?;
        Ok(Self(canonical))
    }

    /// Takes an input object as it is.
    ///
    /// # Errors
    /// [`Refusal::NotAnIdentifier`] for anything but an object; else as [`Input::collect`].
    pub fn of_object(object: &Value<'_>) -> Result<Self, Refusal> {
        if object.as_object().is_none() {
            return Err(Refusal::NotAnIdentifier);
        }
        let mut canonical = String::new();
        write_value(object, &mut canonical)?;
        Ok(Self(canonical))
    }

    /// An input of one member, which is a text.
    #[must_use]
    pub fn of_text(name: &str, text: &str) -> Self {
        let mut canonical = String::with_capacity(text.len() + text.len() / 8 + name.len() + 8);
        canonical.push('{');
        write_str(name, &mut canonical);
        canonical.push(':');
        write_str(text, &mut canonical);
        canonical.push('}');
        Self(canonical)
    }

    /// The canonical JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What tells this input from another of the same identity.
    #[must_use]
    pub fn hash(&self) -> InputHash {
        let preimage = Preimage::of("fencepost/input/1").field(self.0.as_bytes());
        InputHash::from_bytes(preimage.finish())
    }
}

impl std::fmt::Debug for Input {
    /// Only the length: an input is a report's text, which no log may show.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Input({} bytes)", self.0.len())
    }
}

/// The text of a value that orders versions or links somewhere: a string, or an integer by its
/// digits. Anything else is nothing.
#[must_use]
pub fn text_of<'v>(pointer: &Pointer, payload: &'v Value<'_>) -> Option<Cow<'v, str>> {
    match pointer.find(payload)? {
        Value::String(text) => Some(Cow::Borrowed(text.to_str_lossy())),
        Value::Number(number) => number.integer().map(Cow::Borrowed),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn bytes_of(pointer: &Pointer) -> &[u8] {
    pointer.as_str().as_bytes()
}
