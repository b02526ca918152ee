//! What providers ask to see whether an address is ours.
//!
//! An answer is never a report. What is sent back is bounded and plain text, so that no browser
//! takes it for a page; where the provider signs its question, that is checked before.

use super::{Delivery, Entrance, Keys, Proven, Refusal, body::decode_component};
use crate::{
    canonical::write_str,
    config::{Handshake, Source},
    json::Value,
    signature::SigningKey,
};

/// The most bytes of a text that is sent back.
const ECHO_BYTES_MAX: usize = 1024;

/// What answers a handshake, with 200.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandshakeAnswer {
    /// `text/plain; charset=utf-8`.
    Text(String),
    /// JSON.
    Json(String),
    /// Nothing.
    Empty,
}

/// A handshake that comes without a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// It has no proof at all.
    Answer(HandshakeAnswer),
    /// It shows a token.
    Token(TokenGreeting),
}

/// A question that shows a token which only the provider and we know.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenGreeting {
    /// The variable that holds the token.
    pub variable: String,
    shown: Vec<u8>,
    challenge: String,
}

impl std::fmt::Debug for TokenGreeting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenGreeting({})", self.variable)
    }
}

impl TokenGreeting {
    /// The answer, if the token that is shown is ours: see [`SigningKey::shown`].
    ///
    /// # Errors
    /// [`Refusal::HandshakeRefused`].
    pub fn conclude(self, own: &SigningKey) -> Result<HandshakeAnswer, Refusal> {
        match bool::from(own.is_shown(&self.shown)) {
            true => Ok(HandshakeAnswer::Text(self.challenge)),
            false => Err(Refusal::HandshakeRefused),
        }
    }
}

/// The methods that a source takes, as `Allow` has them.
pub(super) fn methods(source: Option<&Source>) -> &'static str {
    match source.and_then(|source| source.verify.handshake.as_ref()) {
        Some(Handshake::Meta { .. } | Handshake::Dropbox) => "GET, POST",
        Some(Handshake::Trello) => "HEAD, POST",
        Some(
            Handshake::Slack | Handshake::MicrosoftGraph | Handshake::Zoom | Handshake::Discord,
        )
        | None => "POST",
    }
}

impl Entrance<'_, '_> {
    /// The handshake that a request without a body is. Where the method is POST there is none.
    ///
    /// # Errors
    /// [`Refusal::Handshake`] for one that is malformed.
    pub fn greeting(&self, delivery: &Delivery<'_>) -> Result<Option<Greeting>, Refusal> {
        if delivery.method == "POST" {
            return Ok(None);
        }
        let query = Query(delivery.query);
        let greeting = match &self.source.verify.handshake {
            Some(Handshake::Meta { verify_token }) => {
                if query.text("hub.mode")? != "subscribe" {
                    return Err(Refusal::Handshake);
                }
                Greeting::Token(TokenGreeting {
                    variable: verify_token.clone(),
                    shown: query.required("hub.verify_token")?,
                    challenge: query.text("hub.challenge")?,
                })
            }
            Some(Handshake::Dropbox) => {
                Greeting::Answer(HandshakeAnswer::Text(query.text("challenge")?))
            }
            Some(Handshake::Trello) => Greeting::Answer(HandshakeAnswer::Empty),
            Some(
                Handshake::Slack | Handshake::MicrosoftGraph | Handshake::Zoom | Handshake::Discord,
            )
            | None => return Err(Refusal::MethodNotAllowed { allow: "POST" }),
        };
        Ok(Some(greeting))
    }

    /// The handshake of a POST without a body, which only Microsoft Graph has.
    ///
    /// # Errors
    /// [`Refusal::Handshake`] for one that is malformed.
    pub fn greeting_without_body(
        &self,
        delivery: &Delivery<'_>,
        body: &[u8],
    ) -> Result<Option<HandshakeAnswer>, Refusal> {
        let query = Query(delivery.query);
        if self.source.verify.handshake != Some(Handshake::MicrosoftGraph)
            || !body.is_empty()
            || query.value("validationToken")?.is_none()
        {
            return Ok(None);
        }
        let token = query.text("validationToken")?;
        Ok(Some(HandshakeAnswer::Text(token)))
    }
}

/// The handshake that a signed payload is.
pub(super) fn signed(
    source: &Source,
    payload: &Value<'_>,
    proven: &Proven<'_>,
    keys: &Keys,
) -> Result<Option<HandshakeAnswer>, Refusal> {
    let text = |value: Option<&Value<'_>>| value.and_then(Value::as_str).map(str::to_owned);
    let is =
        |name: &str, expected: &str| payload.get(name).and_then(Value::as_str) == Some(expected);
    let answer = match &source.verify.handshake {
        Some(Handshake::Slack) if is("type", "url_verification") => {
            HandshakeAnswer::Text(echo(text(payload.get("challenge")))?)
        }
        Some(Handshake::Zoom) if is("event", "endpoint.url_validation") => {
            let asked = payload.get("payload").and_then(|it| it.get("plainToken"));
            let plain = echo(text(asked))?;
            let key = keys.keys.get(proven.proof.by);
            let code = key.and_then(|key| key.answer(&plain));
            let mut answer = String::from("{\"plainToken\":");
            write_str(&plain, &mut answer);
            answer.push_str(",\"encryptedToken\":");
            write_str(&code.ok_or(Refusal::Handshake)?, &mut answer);
            answer.push('}');
            HandshakeAnswer::Json(answer)
        }
        Some(Handshake::Discord) if is_ping(payload) => {
            HandshakeAnswer::Json("{\"type\":1}".to_owned())
        }
        Some(
            Handshake::Slack
            | Handshake::Zoom
            | Handshake::Discord
            | Handshake::Meta { .. }
            | Handshake::MicrosoftGraph
            | Handshake::Dropbox
            | Handshake::Trello,
        )
        | None => return Ok(None),
    };
    Ok(Some(answer))
}

fn is_ping(payload: &Value<'_>) -> bool {
    matches!(payload.get("type"), Some(Value::Number(number)) if number.integer() == Some("1"))
}

/// A text that may be sent back.
fn echo(text: Option<String>) -> Result<String, Refusal> {
    let text = text.filter(|text| (1..=ECHO_BYTES_MAX).contains(&text.len()));
    text.ok_or(Refusal::Handshake)
}

#[derive(Clone, Copy)]
struct Query<'r>(Option<&'r str>);

impl Query<'_> {
    /// The decoded value of a parameter that may stand once.
    fn value(self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let pairs = self.0.unwrap_or_default().split('&');
        let mut values = pairs.filter_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode_component(key.as_bytes()) == name.as_bytes())
                .then(|| decode_component(value.as_bytes()))
        });
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(Refusal::Handshake),
            (value, None) => Ok(value),
        }
    }

    fn required(self, name: &str) -> Result<Vec<u8>, Refusal> {
        self.value(name)?.ok_or(Refusal::Handshake)
    }

    /// The value as a text that may be sent back.
    fn text(self, name: &str) -> Result<String, Refusal> {
        echo(String::from_utf8(self.required(name)?).ok())
    }
}
