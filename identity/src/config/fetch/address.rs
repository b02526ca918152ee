//! Where content is: a URL with places for what a report is.

use std::{borrow::Cow, fmt::Write as _};

use super::Host;
use crate::identity::{Identity, Version};

/// Far longer than any address that is meant.
const BYTES_MAX: usize = 8 * 1024;

/// A URL with places. Scheme and host stand in it as they are, unless all of it is one link: what
/// comes with a report is never more than one segment of a path or one value of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(Form);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// The link of this name.
    Whole(String),
    Parts {
        /// Scheme and host.
        origin: String,
        plain: bool,
        host: Host,
        parts: Vec<Part>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Placed(Placed),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Placed {
    Tenant,
    Namespace,
    ReportId,
    Version,
    Link(String),
}

/// Why a report has no address. It names a place, never what would stand there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unplaceable {
    /// The delivery had no such link.
    #[error("the report has no link `{0}`")]
    NoLink(String),
    /// What would stand there is empty, `.` or `..`: another address.
    #[error("`{{{0}}}` is empty or made of dots, so that it names no place")]
    NoSegment(String),
    /// The address would be too long.
    #[error("the address has more than {BYTES_MAX} bytes")]
    TooLong,
}

impl Address {
    /// Reads the key `url`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some(Placed::Link(name)) = whole(text) {
            return Ok(Self(Form::Whole(name)));
        }
        let (plain, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (false, rest),
            (None, Some(rest)) => (true, rest),
            (None, None) => {
                let why = "this begins with `https://`, or is one `{link.NAME}` and nothing else";
                return Err(why.to_owned());
            }
        };
        let path_at = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(path_at).unwrap_or((rest, ""));
        if authority.contains('{') {
            return Err("the host stands as it is: nothing of a report is placed in it".to_owned());
        }
        if authority.contains('@') {
            let why = "no name and no password stand in an address; `token_env` presents a token";
            return Err(why.to_owned());
        }
        let host = Host::parse(authority).map_err(|error| error.to_string())?;
        if !path.starts_with('/') {
            return Err("a path begins with `/` behind the host".to_owned());
        }
        let parts = parts(path)?;
        if let Some(segment) = dots(&shown(&parts)) {
            return Err(format!("the segment `{segment}` would lead elsewhere"));
        }
        let scheme = if plain { "http" } else { "https" };
        Ok(Self(Form::Parts {
            origin: format!("{scheme}://{host}"),
            plain,
            host,
            parts,
        }))
    }

    /// The host, unless a link names it.
    #[must_use]
    pub fn host(&self) -> Option<&Host> {
        match &self.0 {
            Form::Whole(_) => None,
            Form::Parts { host, .. } => Some(host),
        }
    }

    /// Whether it says that there is no TLS.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        matches!(self.0, Form::Parts { plain: true, .. })
    }

    /// The links that it places.
    pub(super) fn links(&self) -> impl Iterator<Item = &str> {
        let (whole, parts) = match &self.0 {
            Form::Whole(name) => (Some(name.as_str()), [].as_slice()),
            Form::Parts { parts, .. } => (None, parts.as_slice()),
        };
        let placed = parts.iter().filter_map(|part| match part {
            Part::Placed(Placed::Link(name)) => Some(name.as_str()),
            Part::Placed(_) | Part::Text(_) => None,
        });
        whole.into_iter().chain(placed)
    }

    pub(super) fn places_version(&self) -> bool {
        let version = Part::Placed(Placed::Version);
        matches!(&self.0, Form::Parts { parts, .. } if parts.contains(&version))
    }

    /// The address of a report's content. Where it is a link, it is whatever the link says.
    ///
    /// # Errors
    /// [`Unplaceable`]
    pub fn of(
        &self,
        identity: &Identity,
        links: &[(String, String)],
    ) -> Result<String, Unplaceable> {
        let link = |name: &str| {
            let found = links.iter().find(|(known, _)| known == name);
            let found = found.map(|(_, link)| link.as_str());
            found.ok_or_else(|| Unplaceable::NoLink(name.to_owned()))
        };
        let address = match &self.0 {
            Form::Whole(name) => link(name)?.to_owned(),
            Form::Parts { origin, parts, .. } => {
                let mut address = origin.clone();
                for part in parts {
                    match part {
                        Part::Text(text) => address.push_str(text),
                        Part::Placed(placed) => {
                            let value = match placed {
                                Placed::Tenant => Cow::from(identity.tenant.as_str()),
                                Placed::Namespace => identity.namespace.as_str().into(),
                                Placed::ReportId => identity.report_id.as_str().into(),
                                Placed::Version => version(&identity.version).into(),
                                Placed::Link(name) => link(name)?.into(),
                            };
                            place(&value, placed, &mut address)?;
                        }
                    }
                }
                address
            }
        };
        if address.len() > BYTES_MAX {
            return Err(Unplaceable::TooLong);
        }
        Ok(address)
    }
}

impl Placed {
    fn name(&self) -> String {
        match self {
            Self::Tenant => "tenant".to_owned(),
            Self::Namespace => "namespace".to_owned(),
            Self::ReportId => "report_id".to_owned(),
            Self::Version => "version".to_owned(),
            Self::Link(name) => format!("link.{name}"),
        }
    }

    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "tenant" => Self::Tenant,
            "namespace" => Self::Namespace,
            "report_id" => Self::ReportId,
            "version" => Self::Version,
            _ => Self::Link(name.strip_prefix("link.")?.to_owned()),
        })
    }
}

/// The number of a revision, or the digits of a hash.
fn version(version: &Version) -> String {
    match version {
        Version::Revision(revision) => revision.get().to_string(),
        Version::Content(hash) => hash.to_string(),
        Version::Event => String::new(),
    }
}

/// The one place that a text is, if it is nothing else.
fn whole(text: &str) -> Option<Placed> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    Placed::of_name(name).filter(|_| !name.contains(['{', '}']))
}

fn parts(path: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = path;
    while let Some((text, behind)) = rest.split_once('{') {
        parts.push(literal(text)?);
        let (name, behind) = behind.split_once('}').ok_or("a `{` is not closed")?;
        let placed = Placed::of_name(name).ok_or_else(|| {
            "what is placed is {tenant}, {namespace}, {report_id}, {version} or {link.NAME}"
                .to_owned()
        })?;
        parts.push(Part::Placed(placed));
        rest = behind;
    }
    parts.push(literal(rest)?);
    Ok(parts)
}

fn literal(text: &str) -> Result<Part, String> {
    let allowed = |byte: u8| byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(&byte);
    if text.bytes().all(allowed) {
        return Ok(Part::Text(text.to_owned()));
    }
    Err("only characters that may stand in the path or query of a URL".to_owned())
}

/// The path as it would be, with a letter in each place.
fn shown(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Placed(_) => "x",
    });
    texts.collect()
}

/// A segment that is no name but a step: what reads URLs would take it.
fn dots(path: &str) -> Option<&str> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut segments = path.split('/');
    segments.find(|segment| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        plain == "." || plain == ".."
    })
}

/// Places a value: whatever it holds, it stays one segment of a path or one value of a query. One
/// with a step of its own is refused: some servers decode what stands in a segment, and would go.
fn place(value: &str, placed: &Placed, address: &mut String) -> Result<(), Unplaceable> {
    let steps = |piece: &str| piece == "." || piece == "..";
    if value.bytes().all(|byte| byte == b'.') || value.split(['/', '\\']).any(steps) {
        return Err(Unplaceable::NoSegment(placed.name()));
    }
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                address.push(char::from(byte));
            }
            _ => {
                // Writing to a string can't fail.
                let _written = write!(address, "%{byte:02X}");
            }
        }
    }
    Ok(())
}
