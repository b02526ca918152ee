//! Which setting would let a delivery's signature hold.
//!
//! Nothing here knows what is right: each thing that is often set wrong is tried, one at a time and
//! then in pairs, and what holds is told. A signature that holds by chance is as likely as a forged
//! one. No text of it contains a secret, a header's value, or any of the body.

mod candidates;
mod change;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt};

use fencepost_identity::{
    config::{Verify, preset_names},
    json,
    signature::{InPayload, Presented, Request, Scheme, SigningKey, Verdict},
};

use self::{candidates::candidates, change::Change};

/// Pairs are tried of bodies up to this size: there are many, and each is a code over the body.
const BODY_BYTES_MAX_FOR_PAIRS: usize = 256 * 1024;

/// A delivery whose signature doesn't hold, and how it was read.
#[derive(Clone, Debug)]
pub(super) struct Tried<'t> {
    pub(super) scheme: &'t Scheme,
    /// The preset, where the scheme is one.
    pub(super) preset: Option<&'t str>,
    pub(super) request: Request<'t>,
    /// The secrets as their senders have them.
    pub(super) secrets: Vec<&'t str>,
    /// Secrets that are no longer taken, with the names of their variables.
    pub(super) expired: Vec<(&'t str, &'t str)>,
    /// The bytes that are said to be signed.
    pub(super) body: &'t [u8],
    /// The same without a compression, or with it: those that are said not to be signed.
    pub(super) other_body: Option<OtherBody<'t>>,
    /// Seconds since 1970.
    pub(super) now: u64,
}

/// A body as a source's other `content_encoding` has it.
#[derive(Clone, Debug)]
pub(super) struct OtherBody<'t> {
    /// `wire` or `decoded`.
    pub(super) named: &'static str,
    pub(super) bytes: Cow<'t, [u8]>,
}

/// What would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    /// Changing all of this; it is one change, or two.
    Settings(Vec<Change>),
    /// Nothing: the secret in this variable signed it, and is no longer taken.
    Expired(String),
    /// Another preset.
    Preset(&'static str),
    /// The delivery is an old one, or a clock is wrong.
    Clock {
        /// Seconds that the sender's time lies before ours.
        skew_seconds: i64,
        /// The sender's time.
        signed_at: u64,
    },
    /// The headers that carry signatures are not there.
    NoHeader(Vec<String>),
    /// The route names a tenant, and none was said.
    NoTenant,
}

/// A way to read a delivery.
#[derive(Clone)]
struct Attempt<'t> {
    scheme: Scheme,
    secrets: Vec<Cow<'t, str>>,
    body: Cow<'t, [u8]>,
}

/// What would let the signature hold. Empty where nothing that was tried does.
pub(super) fn hints(tried: &Tried<'_>) -> Vec<Hint> {
    let missing = no_header(tried);
    let base = Attempt {
        scheme: tried.scheme.clone(),
        secrets: tried
            .secrets
            .iter()
            .map(|text| Cow::Borrowed(*text))
            .collect(),
        body: Cow::Borrowed(tried.body),
    };
    // What holds needs no other setting, and would hold with many.
    if base.holds(tried) {
        return vec![];
    }
    if let Some(variable) = expired(tried, &base) {
        return vec![Hint::Expired(variable)];
    }
    let changes = candidates(tried);
    let mut found: Vec<Hint> = presets(tried, &base).collect();
    let alone = changes
        .iter()
        .filter(|change| holds(tried, &base, &[change]));
    found.extend(alone.map(|change| Hint::Settings(vec![change.clone()])));
    if found.is_empty() && tried.body.len() <= BODY_BYTES_MAX_FOR_PAIRS {
        found.extend(first_pair(tried, &base, &changes));
    }
    match found.is_empty() {
        true => missing.into_iter().collect(),
        false => found,
    }
}

/// The hint for a signature that holds outside of the window.
pub(super) fn clock(now: u64, skew_seconds: i64) -> Hint {
    Hint::Clock {
        skew_seconds,
        signed_at: now.saturating_add_signed(skew_seconds.saturating_neg()),
    }
}

fn expired(tried: &Tried<'_>, base: &Attempt<'_>) -> Option<String> {
    let signed = |(_, text): &&(&str, &str)| {
        let attempt = Attempt {
            secrets: vec![Cow::Borrowed(*text)],
            ..base.clone()
        };
        attempt.holds(tried)
    };
    let (variable, _) = tried.expired.iter().find(signed)?;
    Some((*variable).to_owned())
}

fn no_header(tried: &Tried<'_>) -> Option<Hint> {
    let names: Vec<String> = match tried.scheme {
        Scheme::Signed(signed) => signed
            .places
            .iter()
            .map(|it| it.signature.clone())
            .collect(),
        Scheme::Token(fencepost_identity::signature::Token::Header { name, .. }) => {
            vec![name.clone()]
        }
        Scheme::Token(fencepost_identity::signature::Token::Body(_)) => return None,
        Scheme::Basic => vec!["Authorization".to_owned()],
    };
    let mut headers = tried.request.headers.iter();
    let given = headers.any(|(given, _)| names.iter().any(|name| name.eq_ignore_ascii_case(given)));
    (!given).then_some(Hint::NoHeader(names))
}

fn presets<'t>(tried: &'t Tried<'t>, base: &'t Attempt<'t>) -> impl Iterator<Item = Hint> + 't {
    let others = preset_names().filter(|name| Some(*name) != tried.preset);
    others.filter_map(|name| {
        // Those that need another key can't be named alone.
        let scheme = Verify::parse(&format!("verify = \"{name}\"")).ok()?.scheme;
        if &scheme == tried.scheme {
            return None;
        }
        let attempt = Attempt {
            scheme,
            ..base.clone()
        };
        attempt.holds(tried).then_some(Hint::Preset(name))
    })
}

fn first_pair(tried: &Tried<'_>, base: &Attempt<'_>, changes: &[Change]) -> Option<Hint> {
    for (index, one) in changes.iter().enumerate() {
        let others = changes.iter().skip(index + 1);
        for other in others.filter(|other| !one.is_of_one_kind_with(other)) {
            // The body changes last, or a byte order mark would be lost to a compression.
            if holds(tried, base, &[one, other]) {
                return Some(Hint::Settings(vec![one.clone(), other.clone()]));
            }
        }
    }
    None
}

fn holds(tried: &Tried<'_>, base: &Attempt<'_>, changes: &[&Change]) -> bool {
    let mut attempt = base.clone();
    for change in changes {
        change.apply(tried, &mut attempt);
    }
    attempt.holds(tried)
}

impl Attempt<'_> {
    /// Whether one of the secrets made the signature, at whatever time.
    fn holds(&self, tried: &Tried<'_>) -> bool {
        let Ok(presented) = Presented::read(&self.scheme, &tried.request) else {
            return false;
        };
        let secrets = self.secrets.iter();
        let keys: Vec<_> = secrets
            .filter_map(|text| SigningKey::parse(&self.scheme, text).ok())
            .collect();
        let in_payload = match presented.verify(&keys, &self.body, tried.now) {
            Verdict::Signed(_) | Verdict::OutOfWindow(_) => return true,
            Verdict::Payload(rest @ InPayload::Stamp(..)) => rest,
            Verdict::Mismatch | Verdict::Payload(InPayload::Token(_)) => return false,
        };
        let Ok(payload) = json::parse(&self.body) else {
            return false;
        };
        presented
            .verify_payload(in_payload, &keys, &payload, tried.now)
            .is_ok()
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(changes) => {
                f.write_str("the signature would hold with ")?;
                for (index, change) in changes.iter().enumerate() {
                    let and = if index > 0 { ", and " } else { "" };
                    write!(f, "{and}{change}")?;
                }
                Ok(())
            }
            Self::Expired(variable) => write!(
                f,
                "the secret `{variable}` signed it, which is not taken any more since its \
                 `not_after`"
            ),
            Self::Preset(name) => write!(f, "the signature would hold with verify = \"{name}\""),
            Self::Clock {
                skew_seconds,
                signed_at,
            } => {
                let seconds = skew_seconds.unsigned_abs();
                let when = match *skew_seconds < 0 {
                    true => "in the future; if no clock is wrong",
                    false => "ago; if it was stored since",
                };
                write!(
                    f,
                    "the delivery was signed {seconds} s {when}, say --at {signed_at}"
                )
            }
            Self::NoHeader(names) => write!(
                f,
                "the signature's header is not among those that are given: {}",
                names.join(" or ")
            ),
            Self::NoTenant => f.write_str("this source's route names the tenant: say --tenant"),
        }
    }
}
