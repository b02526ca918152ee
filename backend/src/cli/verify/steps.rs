//! The steps of the edge, in its order, with a stored delivery and without forwarding.

use fencepost_identity::{
    admission::{
        Admitted, Coding, Delivery, Entrance, Greeting, HandshakeAnswer, IfAbsent, Keys, Proof,
        Refusal, Wanted,
    },
    config::{ContentEncoding, Secrets, Source, Sources},
    envelope::Envelope,
    key::ReportKey,
    signature::{self, InPayload, Presented, SigningKey, derive_secret},
};

/// A delivery as it was stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<'d> {
    pub(super) delivery: Delivery<'d>,
    pub(super) body: &'d [u8],
    /// When it is held to have come in: seconds since 1970.
    pub(super) now: u64,
}

/// Where the values of variables come from: nothing for one that isn't set.
pub(super) type Variables<'v> = &'v dyn Fn(&str) -> Result<Option<String>, String>;

/// How it ends.
#[derive(Debug)]
pub(super) enum Ending {
    Accepted(ReportKey),
    Ignored,
    Handshake(HandshakeAnswer),
    Refused(Refusal),
    /// A variable has no value that serves.
    Misconfigured {
        variable: String,
        why: String,
    },
}

/// A secret as its sender has it.
#[derive(Clone)]
pub(super) struct SenderSecret {
    pub(super) variable: String,
    pub(super) text: String,
}

/// What was found out on the way.
#[derive(Default)]
pub(super) struct Trail<'c, 'r> {
    pub(super) entrance: Option<Entrance<'c, 'r>>,
    pub(super) coding: Option<Coding>,
    pub(super) secrets: Vec<SenderSecret>,
    /// How the sender is known, once that is so.
    pub(super) proof: Option<Proof>,
}

impl From<Refusal> for Ending {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Takes every step until one ends it.
pub(super) fn judge<'c, 'r>(
    sources: &'c Sources,
    stored: &Stored<'r>,
    variables: Variables<'_>,
) -> (Ending, Trail<'c, 'r>) {
    let mut trail = Trail::default();
    let ending = take_in(sources, stored, variables, &mut trail);
    let ending = ending.unwrap_or_else(|ending| ending);
    if let Ending::Refused(Refusal::OutOfWindow(proof)) = &ending {
        trail.proof = Some(proof.clone());
    }
    (ending, trail)
}

fn take_in<'c, 'r>(
    sources: &'c Sources,
    stored: &Stored<'r>,
    variables: Variables<'_>,
    trail: &mut Trail<'c, 'r>,
) -> Result<Ending, Ending> {
    let Stored {
        delivery,
        body,
        now,
    } = stored;
    let entrance = Entrance::find(sources, delivery)?;
    trail.entrance = Some(entrance.clone());
    let greeting = entrance.greeting(delivery)?;
    let coding = entrance.check_body_headers(delivery)?;
    trail.coding = Some(coding);
    if let Some(greeting) = greeting {
        return greet(greeting, variables);
    }
    let limit = entrance.source.max_body_bytes;
    if body.len() > limit {
        return Err(Refusal::TooLarge { limit }.into());
    }
    if let Some(answer) = entrance.greeting_without_body(delivery, body)? {
        return Ok(Ending::Handshake(answer));
    }

    let presented = entrance.signature(delivery)?;
    let keys = live_keys(&entrance, *now, variables, &mut trail.secrets)?;
    let proven = match entrance.prove(&presented, &keys, coding, body, *now) {
        Ok(proven) => proven,
        Err(refusal) => {
            trail.proof = held(&entrance, &presented, coding, stored, &trail.secrets);
            return Err(refusal.into());
        }
    };
    trail.proof = Some(proven.proof.clone());
    Ok(match entrance.admit(&proven, &keys)? {
        Admitted::Ignored => Ending::Ignored,
        Admitted::Handshake(answer) => Ending::Handshake(answer),
        Admitted::Report(envelope) => accepted(&envelope, limit)?,
    })
}

fn accepted(envelope: &Envelope, limit: usize) -> Result<Ending, Refusal> {
    match envelope.fits(limit) {
        true => Ok(Ending::Accepted(envelope.identity.report_key())),
        false => Err(Refusal::TooLarge { limit }),
    }
}

fn greet(greeting: Greeting, variables: Variables<'_>) -> Result<Ending, Ending> {
    let answer = match greeting {
        Greeting::Answer(answer) => answer,
        Greeting::Token(greeting) => {
            let variable = greeting.variable.clone();
            let token = value(&variable, variables)?.ok_or_else(|| absent(&variable))?;
            let own = SigningKey::shown(&token).map_err(|error| Ending::Misconfigured {
                variable,
                why: error.to_string(),
            })?;
            greeting.conclude(&own)?
        }
    };
    Ok(Ending::Handshake(answer))
}

/// The keys that are live. Each secret is noted before it is known to be one.
fn live_keys(
    entrance: &Entrance<'_, '_>,
    now: u64,
    variables: Variables<'_>,
    noted: &mut Vec<SenderSecret>,
) -> Result<Keys, Ending> {
    let mut keys = Keys::default();
    let mut strangers = false;
    for wanted in entrance.wanted(now)? {
        let variable = wanted.variable.clone();
        let text = match (value(&variable, variables)?, wanted.if_absent) {
            (Some(text), _) => text,
            (None, IfAbsent::Misconfigured) => return Err(absent(&variable)),
            (None, IfAbsent::Stranger) => {
                strangers = true;
                continue;
            }
        };
        noted.extend(sender_secret(entrance, &wanted, &text));
        keys.add(entrance, &wanted, &text)
            .map_err(|error| Ending::Misconfigured {
                variable,
                why: error.to_string(),
            })?;
    }
    match strangers && keys.is_empty() {
        true => Err(Refusal::NoSecret.into()),
        false => Ok(keys),
    }
}

/// The secrets of a delivery that was refused before anything asked for them; those that can't be
/// had are passed over.
pub(super) fn secrets_of(
    entrance: &Entrance<'_, '_>,
    now: u64,
    variables: Variables<'_>,
) -> Vec<SenderSecret> {
    let wanted = entrance.wanted(now).unwrap_or_default();
    let secrets = wanted.iter().filter_map(|wanted| {
        let text = variables(&wanted.variable).ok()??;
        sender_secret(entrance, wanted, &text)
    });
    secrets.collect()
}

/// The secrets that are no longer live, as far as they are still there.
pub(super) fn expired_of(
    entrance: &Entrance<'_, '_>,
    now: u64,
    variables: Variables<'_>,
) -> Vec<SenderSecret> {
    let names = match &entrance.source.secrets {
        Secrets::Named(names) | Secrets::PerTenant(names) => names.as_slice(),
        Secrets::DerivedFrom(_) => &[],
    };
    let tenant = entrance.tenant.as_ref().map(|tenant| tenant.as_str());
    let expired = names.iter().filter(|name| !name.is_live(now));
    let secrets = expired.filter_map(|name| {
        let variable = name
            .variable
            .replacen("{tenant}", tenant.unwrap_or_default(), 1);
        let text = variables(&variable).ok()??;
        Some(SenderSecret { variable, text })
    });
    secrets.collect()
}

/// What the sender has been given, which for a derived secret isn't what the variable holds.
fn sender_secret(entrance: &Entrance<'_, '_>, wanted: &Wanted, text: &str) -> Option<SenderSecret> {
    let scheme = &entrance.source.verify.scheme;
    let text = match (&entrance.source.secrets, &entrance.tenant) {
        (Secrets::DerivedFrom(_), Some(tenant)) => {
            derive_secret(scheme, text, tenant.as_str()).ok()?
        }
        (Secrets::Named(_) | Secrets::PerTenant(_) | Secrets::DerivedFrom(_), _) => text.to_owned(),
    };
    let variable = wanted.variable.clone();
    Some(SenderSecret { variable, text })
}

fn value(variable: &str, variables: Variables<'_>) -> Result<Option<String>, Ending> {
    variables(variable).map_err(|why| Ending::Misconfigured {
        variable: variable.to_owned(),
        why,
    })
}

fn absent(variable: &str) -> Ending {
    Ending::Misconfigured {
        variable: variable.to_owned(),
        why: "it has no value".to_owned(),
    }
}

/// How the sender is known of a delivery that is refused for its body all the same.
fn held(
    entrance: &Entrance<'_, '_>,
    presented: &Presented<'_, '_>,
    coding: Coding,
    stored: &Stored<'_>,
    secrets: &[SenderSecret],
) -> Option<Proof> {
    let source = entrance.source;
    let body = signed_bytes(source, coding, stored.body)?;
    let scheme = &source.verify.scheme;
    let keys = secrets.iter().map(|it| SigningKey::parse(scheme, &it.text));
    let keys: Vec<_> = keys.collect::<Result<_, _>>().ok()?;
    let proven = match presented.verify(&keys, &body, stored.now) {
        signature::Verdict::Signed(proven)
        | signature::Verdict::OutOfWindow(proven)
        | signature::Verdict::Payload(InPayload::Stamp(proven, ..)) => proven,
        signature::Verdict::Mismatch | signature::Verdict::Payload(InPayload::Token(_)) => {
            return None;
        }
    };
    Some(Proof {
        secret: secrets.get(proven.by)?.variable.clone(),
        by: proven.by,
        candidate: proven.candidate,
        skew_seconds: proven.skew_seconds,
    })
}

/// The bytes that are signed of a body, if they can be had.
pub(super) fn signed_bytes<'b>(
    source: &Source,
    coding: Coding,
    body: &'b [u8],
) -> Option<std::borrow::Cow<'b, [u8]>> {
    match source.content_encoding {
        ContentEncoding::Refused | ContentEncoding::Wire => Some(body.into()),
        ContentEncoding::Decoded => coding.decode(body.into(), source.max_body_bytes).ok(),
    }
}
