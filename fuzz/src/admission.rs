//! The whole of the edge, from right deliveries that were tampered with.

mod made_up;
mod parts;
mod tamper;

use std::collections::BTreeMap;

use fencepost_conformance::{Case, Expected, Judgement, Origin, Verdict};
use fencepost_identity::{
    admission::{Delivery, Entrance},
    config::Handshake,
    json,
    mapping::TenantForm,
    signature::{Scheme, Sending, SigningKey, sign},
};

use self::{made_up::made_up, parts::Parts, tamper::tamper};
use crate::{
    Choices,
    world::{Seen, WORLD, World},
};

/// Codes that say nothing of the payload.
const OF_SIGNATURES: [&str; 6] = [
    "bad_signature_format",
    "bad_timestamp",
    "misconfigured",
    "unauthorized",
    "unknown_source",
    "unsupported_content_encoding",
];

const BODIES: &[&str] = &[
    r#"{"id":"r-2"}"#,
    r#"{"type":"url_verification","challenge":"c"}"#,
    r#"{"event":"endpoint.url_validation","payload":{"plainToken":"p"}}"#,
    r#"{"type":1}"#,
    "payload=%7B%22id%22%3A1%7D",
    r#"1.{"id":"r-3"}"#,
    r#"1:1:{"id":"r-3"}"#,
    "",
    "1",
];

/// A delivery that began as a right one: it is accepted only for what its sender has signed, and
/// refused for what another implementation refuses it for.
pub fn admission(data: &[u8]) {
    let mut choices = Choices::new(data);
    let world = &*WORLD;
    let mut sent = world.right[choices.below(world.right.len())].clone();
    if choices.once_in(3) {
        sign_again(world, &mut sent, &mut choices);
    }
    deliver(world, sent, &mut choices);
}

/// The same under a scheme that is made up, with the one secret that its sender has.
pub fn schemes(data: &[u8]) {
    let mut choices = Choices::new(data);
    let source = "made-up".to_owned();
    let configurations = BTreeMap::from([(source.clone(), made_up(&mut choices))]);
    let Ok(world) = World::of(&configurations, vec![]) else {
        return;
    };
    let tenants = match &world
        .sources()
        .iter()
        .next()
        .map(|source| &source.mapping.tenant)
    {
        Some(TenantForm::Route) => Some("acme".to_owned()),
        _ => None,
    };
    let mut sent = Case {
        name: configurations[&source].source.clone(),
        from: Origin::Generated,
        configuration: source,
        clock: 1_800_000_000,
        method: "POST".to_owned(),
        query: None,
        tenant: tenants,
        headers: vec![],
        body: vec![],
        chunks: None,
        expect: Expected {
            verdict: Verdict::Refused,
            status: 0,
            code: None,
            reason: None,
            answer: None,
        },
    };
    sign_again(&world, &mut sent, &mut choices);
    deliver(&world, sent, &mut choices);
}

/// Tampers with a right delivery, and looks at what comes of it.
fn deliver(world: &World, mut sent: Case, choices: &mut Choices<'_>) {
    let mut signed = vec![sent.clone()];
    for _ in 0..choices.below(6) {
        tamper(world, &mut sent, &mut signed, choices);
    }
    cut(&mut sent, choices);
    let seen = world.deliver(&sent);
    judge(world, &signed, &sent, &seen);
}

/// Signs another body with the same secret, where its sender has it.
fn sign_again(world: &World, sent: &mut Case, choices: &mut Choices<'_>) {
    let body = match choices.below(2) {
        0 => choices.of(BODIES).as_bytes().to_vec(),
        _ => choices.bytes(200).to_vec(),
    };
    let target = sent.target();
    let headers = headers(sent);
    let delivery = Delivery {
        method: "POST",
        path: target.split('?').next().unwrap_or_default(),
        query: None,
        headers: &headers,
    };
    let Ok(entrance) = Entrance::find(world.sources(), &delivery) else {
        return;
    };
    let scheme = &entrance.source.verify.scheme;
    let Some(text) = world.secret(&entrance, sent.clock) else {
        return;
    };
    let Ok(key) = SigningKey::parse(scheme, &text) else {
        return;
    };
    let sending = Sending {
        method: "POST",
        segment: sent.tenant.as_deref(),
        message_id: "msg_1",
        now: sent.clock,
        body: &body,
    };
    let Ok(added) = sign(scheme, &key, &sending) else {
        return;
    };
    let added = added
        .into_iter()
        .map(|(name, value)| tamper::header(name, value));
    sent.method = "POST".to_owned();
    sent.headers = added.collect();
    sent.body = body;
}

/// Cuts the body into parts, or leaves it whole.
fn cut(sent: &mut Case, choices: &mut Choices<'_>) {
    let first = choices.below(64);
    sent.chunks =
        (0 < first && first < sent.body.len()).then(|| vec![first, sent.body.len() - first]);
}

fn headers(sent: &Case) -> Vec<(&str, &[u8])> {
    let headers = sent.headers.iter();
    headers
        .map(|header| (header.name.as_str(), header.value.as_slice()))
        .collect()
}

/// Whether the source takes the method at all.
fn takes(world: &World, sent: &Case) -> bool {
    let source = world.sources().get(&sent.configuration);
    let handshake = source.and_then(|source| source.verify.handshake.as_ref());
    match handshake {
        Some(Handshake::Meta { .. } | Handshake::Dropbox) if sent.method == "GET" => true,
        Some(Handshake::Trello) if sent.method == "HEAD" => true,
        _ => sent.method == "POST",
    }
}

fn judge(world: &World, signed: &[Case], sent: &Case, seen: &Seen) {
    let (judgement, code) = (world.judge(sent), seen.code());
    // For a time within the body the other's reader gives up on numbers beyond its own, and on half
    // surrogates.
    let gave_up = judgement == Judgement::Refused("invalid_json")
        && (json::parse(&sent.body).is_ok() || sent.body.starts_with(b"\x1f\x8b"));
    match (judgement, code.as_deref()) {
        _ if gave_up => {}
        (Judgement::Refused(expected), code) => {
            assert_eq!(code, Some(expected), "{sent:?} {seen:?}");
        }
        (Judgement::Misconfigured, code) => {
            assert_eq!(code, Some("misconfigured"), "{sent:?} {seen:?}");
        }
        (Judgement::Elsewhere, code) => {
            assert!(!seen.is_accepted(sent), "{sent:?} {seen:?}");
            let taken = takes(world, sent);
            assert_eq!(
                !taken,
                code == Some("method_not_allowed"),
                "{sent:?} {seen:?}"
            );
            return;
        }
        (Judgement::Holds, Some(code)) => {
            assert!(!OF_SIGNATURES.contains(&code), "{sent:?} {seen:?}");
        }
        (Judgement::Holds, None) => {}
    }
    if !seen.is_accepted(sent) {
        return;
    }
    assert!(
        gave_up || judgement == Judgement::Holds,
        "{sent:?} {seen:?}"
    );
    let source = world.sources().get(&sent.configuration);
    let scheme = source.map(|source| &source.verify.scheme);
    if matches!(scheme, Some(Scheme::Signed(_))) {
        let parts = |case| Parts::of(world, &sent.configuration, case);
        let accepted = parts(sent);
        assert!(
            accepted.is_some() && signed.iter().any(|case| parts(case) == accepted),
            "accepted, and nobody has signed it: {sent:?} {seen:?}"
        );
    }
}
