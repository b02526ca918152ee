//! One delivery from its first byte to its answer.

use fencepost_identity::{
    config::Sources,
    envelope::{EdgeSecret, bytes_max},
};

use crate::{
    admission::{Delivery, Entrance, check_signature, source_of},
    answer::Answer,
    backend::{Post, PostError, Reply, read_reply},
    log::Trail,
    refusal::{Misconfigured, Refusal},
    secrets::{live_keys, required, unusable},
};

/// The variable with the secret that edge and backend share.
pub const EDGE_SECRET: &str = "edge_secret";
/// The variable with the backend's address: scheme, host and port.
pub const BACKEND_URL: &str = "backend_url";

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
        Err(refusal) => {
            host.log(&trail.refused(&refusal));
            Answer::problem(&refusal)
        }
    }
}

enum Taken {
    Stored(Answer),
    Ignored,
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
    let entrance = Entrance::find(sources, delivery)
        .and_then(|entrance| entrance.check_body_headers(delivery).map(|()| entrance));
    let entrance = match entrance {
        Ok(entrance) => entrance,
        Err(refusal) => {
            discard_body(host, 0).await;
            return Err(refusal);
        }
    };
    let source = entrance.source;
    let body = read_body(host, source.max_body_bytes).await?;
    trail.body_bytes = Some(body.len());

    let presented = entrance.signature(delivery)?;
    let keys = live_keys(&entrance, now, host).await?;
    check_signature(&presented, keys, &body, now)?;

    let Some(envelope) = entrance.envelope(&body)? else {
        return Ok(Taken::Ignored);
    };
    let secret = required(host, EDGE_SECRET).await?;
    let secret = EdgeSecret::new(&secret).map_err(|error| unusable(EDGE_SECRET, error))?;
    let url = required(host, BACKEND_URL).await?;
    let report_key = envelope.identity.report_key();
    let post = Post::seal(&envelope, &secret, &url, now, source.ack_deadline_ms);
    if post.body.len() > bytes_max(source.max_body_bytes) {
        let limit = source.max_body_bytes;
        return Err(Refusal::TooLarge { limit });
    }
    let reply = host.post(post).await?;
    read_reply(&reply, &report_key).map(Taken::Stored)
}

/// Reads the body whole, however it is cut up and whether or not its length was declared.
async fn read_body<H: Host>(host: &mut H, limit: usize) -> Result<Vec<u8>, Refusal> {
    let mut body = Vec::new();
    while let Some(chunk) = host
        .next_chunk()
        .await
        .map_err(|Interrupted| Refusal::Interrupted)?
    {
        if chunk.len() > limit.saturating_sub(body.len()) {
            discard_body(host, chunk.len()).await;
            return Err(Refusal::TooLarge { limit });
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
