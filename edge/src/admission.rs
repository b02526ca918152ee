//! The steps of an admission that need no world outside.
//!
//! Their order is fixed: method and route, bound of the body, the signature's headers, the code
//! over the raw bytes, the window, and only then the payload. Before the code holds, nothing of the
//! payload is read and nothing is told of why it doesn't.

use fencepost_identity::{
    config::{Source, Sources},
    envelope::Envelope,
    identity::Tenant,
    json,
    mapping::{Input, TenantForm, tenant_of_segment, text_of},
    signature::{Presented, SigningKey, Verdict},
};

use crate::refusal::Refusal;

/// A delivery as it was received, without its body.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'r> {
    /// The method, in capitals.
    pub method: &'r str,
    /// The path, still percent-encoded, without the query: no source looks at that.
    pub path: &'r str,
    /// The headers by name in any case; a repeated one stands as often as it was sent.
    pub headers: &'r [(&'r str, &'r [u8])],
}

impl Delivery<'_> {
    /// The body's length, where the sender declares it.
    fn declared_bytes(&self) -> Option<u64> {
        let mut lengths = self.values("content-length");
        let text = std::str::from_utf8(lengths.next()?).ok()?;
        text.parse().ok()
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named = self
            .headers
            .iter()
            .filter(move |(header, _)| header.eq_ignore_ascii_case(name));
        named.map(|(_, value)| *value)
    }
}

/// Where a delivery came in.
#[derive(Clone, Debug)]
pub(crate) struct Entrance<'c, 'r> {
    pub(crate) source: &'c Source,
    /// The route's last segment as it was received.
    segment: Option<&'r str>,
    /// The tenant that it names: whose secret has to sign.
    pub(crate) tenant: Option<Tenant>,
}

/// A secret that is live, by its variable.
pub(crate) struct LiveKey {
    pub(crate) variable: String,
    pub(crate) key: SigningKey,
}

/// The source that a path leads to, and what follows the source's name.
pub(crate) fn source_of<'c, 'r>(
    sources: &'c Sources,
    path: &'r str,
) -> Option<(&'c Source, Option<&'r str>)> {
    let route = path.strip_prefix("/hooks/")?;
    match route.split_once('/') {
        None => Some((sources.get(route)?, None)),
        Some((name, segment)) => Some((sources.get(name)?, Some(segment))),
    }
}

impl<'c, 'r> Entrance<'c, 'r> {
    /// Finds the entrance by method and route.
    pub(crate) fn find(sources: &'c Sources, delivery: &Delivery<'r>) -> Result<Self, Refusal> {
        if delivery.method != "POST" {
            return Err(Refusal::MethodNotAllowed);
        }
        let (source, segment) = source_of(sources, delivery.path).ok_or(Refusal::UnknownSource)?;
        let tenant = match (&source.mapping.tenant, segment) {
            (TenantForm::Route, Some(segment)) if !segment.contains('/') => {
                Some(tenant_of_segment(segment)?)
            }
            (TenantForm::Value(_) | TenantForm::Pointer(_), None) => None,
            (TenantForm::Route | TenantForm::Value(_) | TenantForm::Pointer(_), _) => {
                return Err(Refusal::UnknownSource);
            }
        };
        Ok(Self {
            source,
            segment,
            tenant,
        })
    }

    /// Refuses by the headers alone what the body would be refused for.
    pub(crate) fn check_body_headers(&self, delivery: &Delivery<'_>) -> Result<(), Refusal> {
        let identity = |value: &[u8]| value.eq_ignore_ascii_case(b"identity");
        if !delivery.values("content-encoding").all(identity) {
            return Err(Refusal::ContentEncoding);
        }
        let limit = self.source.max_body_bytes;
        let too_large = |bytes: u64| usize::try_from(bytes).map_or(true, |bytes| bytes > limit);
        match delivery.declared_bytes() {
            Some(bytes) if too_large(bytes) => Err(Refusal::TooLarge { limit }),
            Some(_) | None => Ok(()),
        }
    }

    /// Takes the signature out of the headers, its form checked.
    pub(crate) fn signature(&self, delivery: &Delivery<'r>) -> Result<Presented<'r>, Refusal> {
        Ok(Presented::read(self.source.verify, delivery.headers)?)
    }

    /// Reads the payload of a delivery that is signed: the envelope, or nothing where the source's
    /// filter passes it over.
    pub(crate) fn envelope(&self, body: &[u8]) -> Result<Option<Envelope>, Refusal> {
        let source = self.source;
        let payload = json::parse(body)?;
        if !source.filter.iter().all(|filter| filter.matches(&payload)) {
            return Ok(None);
        }
        let identity = source.mapping.identify(&payload, self.segment)?;
        if !source.senders.may_name(&identity.tenant) {
            return Err(Refusal::TenantNotAllowed);
        }
        let input = Input::collect(&payload, &source.input)?;
        let order = source
            .order
            .as_ref()
            .and_then(|pointer| text_of(pointer, &payload));
        let links = source.links.iter();
        let links = links
            .filter_map(|(name, at)| Some((name.clone(), text_of(at, &payload)?.into_owned())));
        Ok(Some(Envelope {
            source: source.name.clone(),
            identity,
            input,
            order: order.map(std::borrow::Cow::into_owned),
            links: links.collect(),
            mapping_digest: source.mapping.digest(),
        }))
    }
}

/// Holds a signature against the raw body, every live key and the clock.
pub(crate) fn check_signature(
    presented: &Presented<'_>,
    live: Vec<LiveKey>,
    body: &[u8],
    now: u64,
) -> Result<(), Refusal> {
    let (mut variables, keys): (Vec<_>, Vec<_>) = live
        .into_iter()
        .map(|live| (live.variable, live.key))
        .unzip();
    match presented.verify(&keys, body, now) {
        Verdict::Signed { .. } => Ok(()),
        Verdict::Mismatch => Err(Refusal::Mismatch { secrets: variables }),
        Verdict::OutOfWindow { by, skew_seconds } => {
            let secret = variables.drain(..).nth(by).unwrap_or_default();
            Err(Refusal::OutOfWindow {
                secret,
                skew_seconds,
            })
        }
    }
}
