//! The queries of handshakes that nobody signs.

use fencepost_identity::admission::{HandshakeAnswer, Refusal};

use crate::{
    Choices,
    components::decode,
    door::{Came, Knock, knock},
};

const PARTS: &[&str] = &[
    "hub.mode=subscribe",
    "hub.verify_token=fp_test_secret_0123456789abcdef",
    "hub.verify_token=fp_test_secret_0123456789abcdee",
    "hub.challenge=123",
    "hub%2Echallenge=1+2%2b",
    "challenge=%ff",
    "challenge=a%0d%0ab",
    "validationToken=%3Cscript%3E",
    "validationToken",
    "=",
    "&",
];

/// A query: what is sent back is one whole parameter, no longer than it may be, and only after the
/// proof that the provider offers.
pub fn queries(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut query = String::new();
    for _ in 0..choices.below(6) {
        query.push_str(choices.of(PARTS));
        if !choices.once_in(8) {
            query.push('&');
        }
    }
    if choices.once_in(8) {
        query.push_str("challenge=");
        query.push_str(&"c".repeat(choices.below(2048)));
    }
    query.push_str(&String::from_utf8_lossy(choices.rest()));

    let all = |name: &str| {
        let pairs = query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let named = pairs.filter(|(key, _)| decode(key.as_bytes()) == name.as_bytes());
        named
            .map(|(_, value)| decode(value.as_bytes()))
            .collect::<Vec<_>>()
    };
    let echo = |name: &str| match &all(name)[..] {
        [one] => String::from_utf8(one.clone())
            .ok()
            .filter(|text| (1..=1024).contains(&text.len())),
        _ => None,
    };
    let answer = |text: Option<String>| match text {
        Some(text) => Ok(Came::Handshake(HandshakeAnswer::Text(text))),
        None => Err(Refusal::Handshake),
    };
    let ask = |source, method| {
        let query = Some(query.as_str());
        knock(&Knock {
            source,
            method,
            query,
            encoding: None,
            body: b"",
        })
    };

    assert_eq!(ask("dropbox", "GET"), answer(echo("challenge")));
    let graph = match all("validationToken").len() {
        0 => Err(Refusal::Payload(
            fencepost_identity::refusal::Refusal::InvalidJson,
        )),
        _ => answer(echo("validationToken")),
    };
    assert_eq!(ask("graph", "POST"), graph);
    let meta = match (echo("hub.mode").as_deref(), &all("hub.verify_token")[..]) {
        (Some("subscribe"), [token]) => match (echo("hub.challenge"), token.as_slice()) {
            (Some(challenge), b"fp_test_secret_0123456789abcdef") => answer(Some(challenge)),
            (Some(_), _) => Err(Refusal::HandshakeRefused),
            (None, _) => Err(Refusal::Handshake),
        },
        _ => Err(Refusal::Handshake),
    };
    assert_eq!(ask("meta", "GET"), meta);
    assert_eq!(
        ask("meta", "POST"),
        ask("plain", "POST"),
        "only GET is a handshake"
    );
}
