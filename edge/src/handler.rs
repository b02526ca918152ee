//! One delivery from its first byte to its answer.

use fencepost_identity::{
    admission::{self, Admitted, Coding, Delivery, Entrance, Greeting, HandshakeAnswer, source_of},
    config::{Source, Sources},
    envelope::{EdgeSecret, Envelope, bytes_max},
    signature::SigningKey,
};

use crate::{
    answer::Answer,
    backend::{Post, PostError, Reply, read_reply},
    log::Trail,
    refusal::{Misconfigured, Refusal},
    secrets::{live_keys, required, unusable},
};

pub use fencepost_identity::config::{BACKEND_URL, EDGE_SECRET};

/// How much of a body that is refused is still read and dropped. A sender that is cut off while it
/// writes sees a broken connection instead of the answer.
const DISCARDED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A body that ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body ended too early")]
pub struct Interrupted;

/// A variable whose provider can't be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the variable's provider does not answer")]
pub struct VariableUnavailable;

/// The world outside of one delivery.
#[expect(
    async_fn_in_trait,
    reason = "a component has one thread, so no future has to be `Send`"
)]
pub trait Host {
    /// Seconds since 1970. Asked once per delivery.
    fn now(&self) -> u64;

    /// The next part of the body, nothing at its end.
    async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, Interrupted>;

    /// The value of a variable now; nothing where it has none.
    async fn variable(&self, name: &str) -> Result<Option<String>, VariableUnavailable>;

    /// Makes the call; gives up at its deadline.
    async fn post(&self, post: Post) -> Result<Reply, PostError>;

    /// Writes a line to the log.
    fn log(&self, line: &str);
}

/// Takes one delivery in. An answer in 2xx says that the report is stored, or that the event is
/// none of those that are asked for; whatever is not stored leaves exactly one line in the log.
///
/// `sources` is the configuration, or what is wrong with its file.
pub async fn handle<H: Host>(
    sources: &Result<Sources, String>,
    delivery: &Delivery<'_>,
    host: &mut H,
) -> Answer {
    let mut trail = Trail {
        time: host.now(),
        ..Trail::default()
    };
    match take_in(sources, delivery, host, &mut trail).await {
        Ok(Taken::Stored(answer)) => answer,
        Ok(Taken::Ignored) => {
            host.log(&trail.ignored());
            Answer::ignored()
        }
        Ok(Taken::Handshake(answer)) => {
            host.log(&trail.handshake());
            Answer::handshake(answer)
        }
        Err(refusal) => {
            host.log(&trail.refused(&refusal));
            Answer::problem(&refusal)
        }
    }
}

enum Taken {
    Stored(Answer),
    Ignored,
    Handshake(HandshakeAnswer),
}

async fn take_in<'c, H: Host>(
    sources: &'c Result<Sources, String>,
    delivery: &Delivery<'_>,
    host: &mut H,
    trail: &mut Trail<'c>,
) -> Result<Taken, Refusal> {
    let now = trail.time;
    let sources = sources
        .as_ref()
        .map_err(|error| Misconfigured::File(error.clone()))?;
    trail.source = source_of(sources, delivery.path).map(|(source, _)| source.name.as_str());
    let (entrance, greeting, coding) = match enter(sources, delivery) {
        Ok(entered) => entered,
        Err(refusal) => {
            discard_body(host, 0).await;
            return Err(refusal.into());
        }
    };
    if let Some(greeting) = greeting {
        return greet(greeting, host).await.map(Taken::Handshake);
    }
    let source = entrance.source;
    let body = read_body(host, source.max_body_bytes).await?;
    trail.body_bytes = Some(body.len());
    if let Some(answer) = entrance.greeting_without_body(delivery, &body)? {
        return Ok(Taken::Handshake(answer));
    }

    let presented = entrance.signature(delivery)?;
    let keys = live_keys(&entrance, now, host).await?;
    let proven = entrance.prove(&presented, &keys, coding, &body, now)?;
    match entrance.admit(&proven, &keys)? {
        Admitted::Ignored => Ok(Taken::Ignored),
        Admitted::Handshake(answer) => Ok(Taken::Handshake(answer)),
        Admitted::Report(envelope) => {
            let stored = forward(&envelope, source, now, host).await;
            stored.map(Taken::Stored)
        }
    }
}

/// What method, route and headers say.
fn enter<'c, 'r>(
    sources: &'c Sources,
    delivery: &Delivery<'r>,
) -> Result<(Entrance<'c, 'r>, Option<Greeting>, Coding), admission::Refusal> {
    let entrance = Entrance::find(sources, delivery)?;
    let greeting = entrance.greeting(delivery)?;
    let coding = entrance.check_body_headers(delivery)?;
    Ok((entrance, greeting, coding))
}

/// Answers a handshake that nobody can sign.
async fn greet<H: Host>(greeting: Greeting, host: &H) -> Result<HandshakeAnswer, Refusal> {
    match greeting {
        Greeting::Answer(answer) => Ok(answer),
        Greeting::Token(greeting) => {
            let variable = greeting.variable.clone();
            let token = required(host, &variable).await?;
            let own = SigningKey::shown(&token);
            let own = own.map_err(|error| unusable(&variable, error))?;
            Ok(greeting.conclude(&own)?)
        }
    }
}

/// Hands a report on to the backend.
async fn forward<H: Host>(
    envelope: &Envelope,
    source: &Source,
    now: u64,
    host: &H,
) -> Result<Answer, Refusal> {
    let secret = required(host, EDGE_SECRET).await?;
    let secret = EdgeSecret::new(&secret).map_err(|error| unusable(EDGE_SECRET, error))?;
    let url = required(host, BACKEND_URL).await?;
    let report_key = envelope.identity.report_key();
    let post = Post::seal(envelope, &secret, &url, now, source.ack_deadline_ms);
    if post.body.len() > bytes_max(source.max_body_bytes) {
        let limit = source.max_body_bytes;
        return Err(admission::Refusal::TooLarge { limit }.into());
    }
    let reply = host.post(post).await?;
    read_reply(&reply, &report_key)
}

/// Reads the body whole, however it is cut up and whether or not its length was declared.
async fn read_body<H: Host>(host: &mut H, limit: usize) -> Result<Vec<u8>, Refusal> {
    let mut body = Vec::new();
    while let Some(chunk) = host
        .next_chunk()
        .await
        .map_err(|Interrupted| admission::Refusal::Interrupted)?
    {
        if chunk.len() > limit.saturating_sub(body.len()) {
            discard_body(host, chunk.len()).await;
            return Err(admission::Refusal::TooLarge { limit }.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

async fn discard_body<H: Host>(host: &mut H, already: usize) {
    let mut discarded = already;
    while discarded < DISCARDED_BYTES_MAX {
        match host.next_chunk().await {
            Ok(Some(chunk)) => discarded = discarded.saturating_add(chunk.len()),
            Ok(None) | Err(Interrupted) => return,
        }
    }
}
