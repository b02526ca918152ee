//! A second implementation of what a signature is worth.
//!
//! It reads the same TOML as the product and shares no code with it, presets included. It is made
//! to be read, not to be fast: nothing in it takes constant time.

use toml::Table;

use crate::{Case, Configuration, configuration};

mod body;
mod keys;
mod presets;
mod signatures;
mod time;

use self::{
    body::Coding,
    keys::Keys,
    signatures::{Presented, header},
    time::Stamp,
};

const BODY_BYTES_DEFAULT: usize = 1_048_576;

/// How the deliveries of one source are to be judged.
#[derive(Clone, Debug)]
pub struct Reference {
    source: Table,
    verify: Table,
    variables: std::collections::BTreeMap<String, String>,
}

/// What the signature of a delivery is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It holds, in time. What the payload is worth is another matter.
    Holds,
    /// It doesn't, or can't be looked at, for the reason with this code.
    Refused(&'static str),
    /// A secret that would have to be tried is none.
    Misconfigured,
    /// Signatures don't decide it: the method, the route or a handshake without one does.
    Elsewhere,
}

/// Ends the judgement early.
type Step<T> = Result<T, Judgement>;

const UNAUTHORIZED: Judgement = Judgement::Refused("unauthorized");
const BAD_SIGNATURE: Judgement = Judgement::Refused("bad_signature_format");
const BAD_TIMESTAMP: Judgement = Judgement::Refused("bad_timestamp");

impl Reference {
    /// Reads a configuration.
    ///
    /// # Panics
    /// Where it is none: this is for configurations that are known to be right.
    #[must_use]
    pub fn new(configuration: &Configuration) -> Self {
        let source = configuration::source(configuration);
        Self {
            verify: presets::whole(&source),
            source,
            variables: configuration.variables.clone(),
        }
    }

    /// Judges a delivery; what the case expects is not looked at.
    #[must_use]
    pub fn judge(&self, case: &Case) -> Judgement {
        self.steps(case).err().unwrap_or(Judgement::Holds)
    }

    fn steps(&self, case: &Case) -> Step<()> {
        let tenant = self.entrance(case)?;
        let how = text(&self.source, "content_encoding");
        let coding = Coding::of(how, &header(case, "content-encoding"))?;
        let limit = self.limit();
        if case.body.len() > limit {
            return Err(Judgement::Refused("too_large"));
        }
        let presented = Presented::read(&self.verify, case)?;
        let stamp = Stamp::read(&self.verify, case, &presented)?;
        let keys = Keys::live(self, case.clock, tenant.as_deref())?;
        let inflated;
        let mut body = case.body.as_slice();
        if how == Some("decoded") {
            inflated = coding.inflate(body, limit)?;
            body = &inflated;
        }
        let parts = Parts {
            method: &case.method,
            url: self.url(case),
            id: &presented.id,
            timestamp: stamp.text(),
            body,
        };
        let message = parts.fill(text(&self.verify, "template").unwrap_or("{body}"));
        if !keys.made(&presented, &message) {
            return Err(UNAUTHORIZED);
        }
        stamp.check(case.clock)?;
        let inflated;
        if how == Some("wire") {
            inflated = coding.inflate(body, limit)?;
            body = &inflated;
        }
        stamp.check_in_body(&self.verify, body, case.clock)
    }

    /// Whether a signature decides at all; and the tenant that the route names, decoded.
    fn entrance(&self, case: &Case) -> Step<Option<String>> {
        let by_route = self
            .source
            .get("identity")
            .and_then(|identity| identity.get("tenant")?.get("route"))
            .is_some();
        let query = case.query.as_deref().unwrap_or_default();
        let asks = text(&self.verify, "handshake") == Some("microsoft-graph")
            && case.body.is_empty()
            && query.contains("validationToken");
        if case.method != "POST" || by_route != case.tenant.is_some() || asks {
            return Err(Judgement::Elsewhere);
        }
        let Some(segment) = &case.tenant else {
            return Ok(None);
        };
        let tenant = body::percent_decoded(segment).ok_or(Judgement::Elsewhere)?;
        let is_tenant = (1..=255).contains(&tenant.len())
            && !segment.contains('/')
            && !tenant.bytes().any(|byte| byte.is_ascii_control());
        is_tenant
            .then_some(Some(tenant))
            .ok_or(Judgement::Elsewhere)
    }

    fn limit(&self) -> usize {
        let limit = self.source.get("max_body_bytes");
        let limit = limit.and_then(toml::Value::as_integer);
        limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(BODY_BYTES_DEFAULT)
    }

    fn url(&self, case: &Case) -> String {
        let tenant = case.tenant.as_deref().unwrap_or_default();
        let url = text(&self.verify, "url").unwrap_or_default();
        url.replace("{tenant}", tenant)
    }
}

/// What a template can name.
struct Parts<'a> {
    method: &'a str,
    url: String,
    id: &'a [u8],
    timestamp: &'a [u8],
    body: &'a [u8],
}

impl Parts<'_> {
    fn fill(&self, template: &str) -> Vec<u8> {
        let mut message = Vec::new();
        // Every word ends with a brace, so what stands before it is a literal and `{word`.
        for piece in template.split_inclusive('}') {
            let (literal, word) = piece.split_once('{').unwrap_or((piece, ""));
            message.extend_from_slice(literal.as_bytes());
            message.extend_from_slice(match word {
                "" => b"",
                "body}" => self.body,
                "timestamp}" => self.timestamp,
                "id}" => self.id,
                "url}" => self.url.as_bytes(),
                "method}" => self.method.as_bytes(),
                other => panic!("`{{{other}` in a template"),
            });
        }
        message
    }
}

/// A text under a key.
fn text<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    table.get(key).and_then(toml::Value::as_str)
}

/// A table under a key.
fn table<'t>(table: &'t Table, key: &str) -> Option<&'t Table> {
    table.get(key).and_then(toml::Value::as_table)
}

/// One text under a key, or several.
fn texts<'t>(table: &'t Table, key: &str) -> Vec<&'t str> {
    match table.get(key) {
        Some(toml::Value::String(text)) => vec![text],
        Some(toml::Value::Array(texts)) => texts.iter().filter_map(toml::Value::as_str).collect(),
        _ => vec![],
    }
}
