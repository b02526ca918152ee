//! The steps of an admission that need no world outside.
//!
//! Their order is fixed: method and route, a handshake that nobody can sign, bound of the body, the
//! signature's headers, the code over the raw bytes, the window, and only then the payload: its
//! syntax, a signed handshake, the filter, the identity. Before the code holds, nothing of the
//! payload is read and nothing is told of why it doesn't.

use std::borrow::Cow;

use crate::{
    config::{ContentEncoding, InputForm, Source, Sources},
    envelope::Envelope,
    identity::Tenant,
    json,
    mapping::{Input, TenantForm, tenant_of_segment, text_of},
    signature::{FormatError, InPayload, Presented, Request, Verdict},
};

mod body;
mod handshake;
mod refusal;
mod secrets;

pub use body::Coding;
pub use handshake::{Greeting, HandshakeAnswer, TokenGreeting};
pub use refusal::Refusal;
pub use secrets::{IfAbsent, Keys, Wanted};

/// A delivery as it was received, without its body.
#[derive(Clone, Copy)]
pub struct Delivery<'r> {
    /// The method, in capitals.
    pub method: &'r str,
    /// The path, still percent-encoded.
    pub path: &'r str,
    /// What follows `?`, still percent-encoded. Only handshakes look at it.
    pub query: Option<&'r str>,
    /// The headers by name in any case; a repeated one stands as often as it was sent.
    pub headers: &'r [(&'r str, &'r [u8])],
}

impl std::fmt::Debug for Delivery<'_> {
    /// Without the query and the headers' values: a token may stand there.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        write!(f, "Delivery({} {}, {names:?})", self.method, self.path)
    }
}

impl<'r> Delivery<'r> {
    /// The body's length, where the sender declares it.
    fn declared_bytes(&self) -> Option<u64> {
        let mut lengths = self.values("content-length");
        let text = std::str::from_utf8(lengths.next()?).ok()?;
        text.parse().ok()
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        let named = self
            .headers
            .iter()
            .filter(move |(header, _)| header.eq_ignore_ascii_case(name));
        named.map(|(_, value)| *value)
    }
}

/// Where a delivery came in.
#[derive(Clone, Debug)]
pub struct Entrance<'c, 'r> {
    /// The source that its route leads to.
    pub source: &'c Source,
    /// The tenant that the route names: whose secret has to sign.
    pub tenant: Option<Tenant>,
    /// The route's last segment as it was received.
    segment: Option<&'r str>,
}

/// How it is known who sent a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The variable of the secret that signed.
    pub secret: String,
    /// Index of its key among the live ones.
    pub by: usize,
    /// Index of the signature among those that the delivery carries.
    pub candidate: usize,
    /// Seconds that the sender's time lies before ours, where the scheme has one.
    pub skew_seconds: Option<i64>,
}

/// A delivery whose sender is known.
pub struct Proven<'b> {
    /// How.
    pub proof: Proof,
    /// The JSON that it carries, or what should be.
    document: Cow<'b, [u8]>,
}

impl std::fmt::Debug for Proven<'_> {
    /// Without the payload, which no log may show.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Proven({:?}, {} bytes)", self.proof, self.document.len())
    }
}

/// What a delivery turned out to be.
#[derive(Debug)]
pub enum Admitted {
    /// A report, to be stored.
    Report(Box<Envelope>),
    /// None of those that the source's filter asks for.
    Ignored,
    /// A question whether the address is ours, and what answers it.
    Handshake(HandshakeAnswer),
}

/// What a payload is by itself, whoever sent it.
#[derive(Debug)]
pub enum Payload {
    /// A report.
    Report(Box<Envelope>),
    /// None of those that the source's filter asks for.
    Ignored,
}

/// The source that a path leads to, and what follows the source's name.
#[must_use]
pub fn source_of<'c, 'r>(
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
    ///
    /// # Errors
    /// [`Refusal::MethodNotAllowed`], [`Refusal::UnknownSource`], or what is wrong with the tenant
    /// in the route.
    pub fn find(sources: &'c Sources, delivery: &Delivery<'r>) -> Result<Self, Refusal> {
        let found = source_of(sources, delivery.path);
        let allow = handshake::methods(found.map(|(source, _)| source));
        if !allow.split(", ").any(|method| method == delivery.method) {
            return Err(Refusal::MethodNotAllowed { allow });
        }
        let (source, segment) = found.ok_or(Refusal::UnknownSource)?;
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
            tenant,
            segment,
        })
    }

    /// Refuses by the headers alone what the body would be refused for; else says how the body is
    /// coded.
    ///
    /// # Errors
    /// [`Refusal::ContentEncoding`], [`Refusal::TooLarge`].
    pub fn check_body_headers(&self, delivery: &Delivery<'_>) -> Result<Coding, Refusal> {
        let coding = Coding::of(self.source.content_encoding, delivery)?;
        let limit = self.source.max_body_bytes;
        let too_large = |bytes: u64| usize::try_from(bytes).map_or(true, |bytes| bytes > limit);
        match delivery.declared_bytes() {
            Some(bytes) if too_large(bytes) => Err(Refusal::TooLarge { limit }),
            Some(_) | None => Ok(coding),
        }
    }

    /// Takes the signature out of the headers, its form checked.
    ///
    /// # Errors
    /// [`Refusal::Signature`].
    pub fn signature(&self, delivery: &Delivery<'r>) -> Result<Presented<'c, 'r>, Refusal> {
        let request = Request {
            method: delivery.method,
            segment: self.segment,
            headers: delivery.headers,
        };
        Ok(Presented::read(&self.source.verify.scheme, &request)?)
    }

    /// Holds a signature against the raw body, every live key and the clock: `now` is in seconds
    /// since 1970.
    ///
    /// # Errors
    /// [`Refusal::Mismatch`], [`Refusal::OutOfWindow`], and for what stands in the body that it
    /// can't be read.
    pub fn prove<'b>(
        &self,
        presented: &Presented<'c, 'r>,
        keys: &Keys,
        coding: Coding,
        body: &'b [u8],
        now: u64,
    ) -> Result<Proven<'b>, Refusal> {
        let limit = self.source.max_body_bytes;
        let decoded = self.source.content_encoding == ContentEncoding::Decoded;
        let mut body = Cow::Borrowed(body);
        if decoded {
            body = coding.decode(body, limit)?;
        }
        let verdict = presented.verify(&keys.keys, &body, now);
        if !decoded && !matches!(verdict, Verdict::Mismatch | Verdict::OutOfWindow(_)) {
            body = coding.decode(body, limit)?;
        }
        let verdict = match verdict {
            Verdict::Payload(rest) => {
                let form = self.source.verify.form.as_deref();
                let document = body::document(form, Cow::Borrowed(&body));
                finish(presented, rest, keys, document, now)?
            }
            Verdict::Signed(_) | Verdict::Mismatch | Verdict::OutOfWindow(_) => verdict,
        };
        let proof = keys.proof(&verdict)?;
        let document = body::document(self.source.verify.form.as_deref(), body)?;
        Ok(Proven { proof, document })
    }

    /// Reads the payload of a delivery whose sender is known.
    ///
    /// # Errors
    /// [`Refusal::Payload`], [`Refusal::Handshake`], [`Refusal::TenantNotAllowed`].
    pub fn admit(&self, proven: &Proven<'_>, keys: &Keys) -> Result<Admitted, Refusal> {
        let source = self.source;
        let payload = json::parse(&proven.document)?;
        match handshake::signed(source, &payload, proven, keys)? {
            Some(answer) => Ok(Admitted::Handshake(answer)),
            None => Ok(match self.read(&payload)? {
                Payload::Report(envelope) => Admitted::Report(envelope),
                Payload::Ignored => Admitted::Ignored,
            }),
        }
    }

    /// What the payload of a body would be admitted as, if a signature proved its sender: for
    /// trying a configuration out, never for taking anything in. No handshake is looked for.
    ///
    /// # Errors
    /// As [`Entrance::admit`]; [`Refusal::TooLarge`], [`Refusal::Form`].
    pub fn rehearse(&self, body: &[u8]) -> Result<Payload, Refusal> {
        let limit = self.source.max_body_bytes;
        if body.len() > limit {
            return Err(Refusal::TooLarge { limit });
        }
        let document = body::document(self.source.verify.form.as_deref(), body.into())?;
        match self.read(&json::parse(&document)?)? {
            Payload::Report(envelope) if !envelope.fits(limit) => Err(Refusal::TooLarge { limit }),
            payload @ (Payload::Report(_) | Payload::Ignored) => Ok(payload),
        }
    }

    fn read(&self, payload: &json::Value<'_>) -> Result<Payload, Refusal> {
        let source = self.source;
        if !source.filter.iter().all(|filter| filter.matches(payload)) {
            return Ok(Payload::Ignored);
        }
        let identity = source.mapping.identify(payload, self.segment)?;
        if !source.senders.may_name(&identity.tenant) {
            return Err(Refusal::TenantNotAllowed);
        }
        let input = match &source.input {
            InputForm::Forwarded(names) => Some(Input::collect(payload, names)?),
            InputForm::Reference(_) => None,
        };
        let order = source
            .order
            .as_ref()
            .and_then(|pointer| text_of(pointer, payload));
        let links = source.links.iter();
        let links =
            links.filter_map(|(name, at)| Some((name.clone(), text_of(at, payload)?.into_owned())));
        Ok(Payload::Report(Box::new(Envelope {
            source: source.name.clone(),
            identity,
            input,
            order: order.map(Cow::into_owned),
            links: links.collect(),
            mapping_digest: source.mapping.digest(),
        })))
    }
}

/// Reads what the rest of a check needs of the payload.
fn finish<'s>(
    presented: &Presented<'s, '_>,
    rest: InPayload<'s>,
    keys: &Keys,
    document: Result<Cow<'_, [u8]>, Refusal>,
    now: u64,
) -> Result<Verdict<'s>, Refusal> {
    let payload = match &document {
        Ok(document) => json::parse(document).map_err(Refusal::from),
        Err(refusal) => Err(refusal.clone()),
    };
    let payload = match (payload, &rest) {
        (Ok(payload), _) => payload,
        // Nothing is proven yet, so nothing is told.
        (Err(_), InPayload::Token(_)) => return Ok(Verdict::Mismatch),
        (Err(refusal), InPayload::Stamp(..)) => return Err(refusal),
    };
    let verdict = presented.verify_payload(rest, &keys.keys, &payload, now);
    verdict.map_err(|error: FormatError| error.into())
}
