//! The one place that fetches what a report is about, where the edge forwarded only a reference.
//!
//! Who writes a webhook chooses part of the address, and who answers it chooses where a redirect
//! leads. So each step of the way is held against the hosts that are listed, and each address that
//! is connected to against what is private, by the very look-up that the connection is made with.

mod failure;
mod names;
mod private;

use std::{
    error::Error,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
    time::Duration,
};

use fencepost_identity::{config::Fetch, identity::Identity, mapping::Input};
use reqwest::{
    Client, Response, Url,
    header::{
        ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue,
        LOCATION,
    },
};
use rustls::ClientConfig;

use self::names::{Allowed, Guard, NotAllowed};
pub use self::{
    failure::{Consequence, FetchError},
    names::{Names, SystemNames},
};
use crate::{clock::UnixMillis, outbound, secret::Secret};

/// How often an answer may lead on.
const REDIRECTS_MAX: usize = 3;

/// Why nothing can be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchSetupError {
    /// The token can't stand in a header. It is not shown.
    #[error("the token holds a character that no header may hold")]
    Token,
    /// A header that is configured can't be sent.
    #[error("the header `{0}` can't be sent")]
    Header(String),
    /// The HTTP client can't be made.
    #[error("the HTTP client can't be set up: {0}")]
    Client(#[from] reqwest::Error),
}

/// Fetches the content of one source's reports.
pub struct Fetcher {
    fetch: Fetch,
    headers: HeaderMap,
    token: Option<HeaderValue>,
    protected: Way,
    plain: Way,
    clock: fn() -> UnixMillis,
}

/// How addresses of one scheme are connected to.
struct Way {
    client: Client,
    guard: Guard,
}

impl fmt::Debug for Fetcher {
    /// Leaves the headers out: the token is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher")
            .field("fetch", &self.fetch)
            .finish_non_exhaustive()
    }
}

impl Fetcher {
    /// The clock is for times in answers. No connection is made yet.
    ///
    /// # Errors
    /// [`FetchSetupError`]
    pub fn new(
        fetch: Fetch,
        token: Option<&Secret>,
        tls: &ClientConfig,
        names: Arc<dyn Names>,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, FetchSetupError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &fetch.headers {
            let unsendable = || FetchSetupError::Header(name.clone());
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable())?;
            let value = HeaderValue::from_str(value).map_err(|_| unsendable())?;
            headers.insert(header, value);
        }
        // A bound on what is read says nothing of what it inflates to.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let token = token.map(bearer).transpose()?;
        let listed: Arc<[_]> = fetch.allow_private.clone().into();
        let way = |allowed| -> Result<Way, FetchSetupError> {
            let guard = Guard {
                names: Arc::clone(&names),
                listed: Arc::clone(&listed),
                allowed,
            };
            let client = outbound::client(tls.clone());
            let client = client.dns_resolver(Arc::new(guard.clone())).build()?;
            Ok(Way { client, guard })
        };
        Ok(Self {
            protected: way(Allowed::PublicAndListed)?,
            plain: way(Allowed::Listed)?,
            fetch,
            headers,
            token,
            clock,
        })
    }

    /// How long it may take; whoever waits for it gives up then.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.fetch.timeout
    }

    /// Fetches the content of a report, once.
    ///
    /// # Errors
    /// [`FetchError`], which says what follows.
    pub async fn fetch(
        &self,
        identity: &Identity,
        links: &[(String, String)],
    ) -> Result<Input, FetchError> {
        let address = self.fetch.address.of(identity, links)?;
        let mut url = Url::parse(&address).map_err(|_| FetchError::NotAnAddress)?;
        let home = url.origin();
        let mut token = self.token.as_ref();
        for _ in 0..=REDIRECTS_MAX {
            // Who was led away does not come back with it either, and a link does not choose that
            // it goes unprotected.
            let protected = url.scheme() == "https" || self.fetch.address.is_plain();
            token = token.filter(|_| url.origin() == home && protected);
            let response = self.ask(&url, token).await?;
            let status = response.status();
            if !status.is_redirection() {
                return self.content(response, token).await;
            }
            let location = response.headers().get(LOCATION);
            let location = location.ok_or(FetchError::NoContent(status.as_u16()))?;
            let location = location.to_str().map_err(|_| FetchError::NotAnAddress)?;
            url = url.join(location).map_err(|_| FetchError::NotAnAddress)?;
        }
        Err(FetchError::Redirects)
    }

    async fn ask(&self, url: &Url, token: Option<&HeaderValue>) -> Result<Response, FetchError> {
        let way = self.way(url)?;
        let mut request = way.client.get(url.clone()).headers(self.headers.clone());
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token.clone());
        }
        let sent = request.send().await;
        sent.map_err(|error| match not_allowed(&error) {
            true => FetchError::Private,
            false => FetchError::Transport,
        })
    }

    /// How a URL is connected to, if it may be.
    fn way(&self, url: &Url) -> Result<&Way, FetchError> {
        let way = match url.scheme() {
            "https" => &self.protected,
            "http" => &self.plain,
            _ => return Err(FetchError::NotAnAddress),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::NotAnAddress);
        }
        let host = url.host_str().ok_or(FetchError::NotAnAddress)?;
        let port = url.port_or_known_default();
        let port = port.ok_or(FetchError::NotAnAddress)?;
        let own = url.port().is_none().then_some(port);
        let mut hosts = self.fetch.hosts.iter();
        if !hosts.any(|known| known.is_at(host, port, own)) {
            return Err(FetchError::Elsewhere);
        }
        // Of an address that stands there itself no resolver is asked.
        match literal(host) {
            Some(address) if !way.guard.lets(address) => Err(FetchError::Private),
            Some(_) | None => Ok(way),
        }
    }

    /// The content, bounded while it is read, of whoever was shown this token.
    async fn content(
        &self,
        mut response: Response,
        token: Option<&HeaderValue>,
    ) -> Result<Input, FetchError> {
        let (status, headers) = (response.status(), response.headers());
        if status.as_u16() != 200 {
            let error = FetchError::of(status, headers, (self.clock)());
            return Err(match (error, token) {
                // Nobody refused what nobody was shown.
                (FetchError::Credential(status), None) => FetchError::NoContent(status),
                (error, _) => error,
            });
        }
        let coding = headers.get(CONTENT_ENCODING);
        if coding.is_some_and(|coding| coding != "identity") {
            return Err(FetchError::Compressed);
        }
        let too_large = FetchError::TooLarge(self.fetch.max_bytes);
        let mut content = Vec::new();
        loop {
            let chunk = response.chunk().await;
            let Some(chunk) = chunk.map_err(|_| FetchError::Transport)? else {
                break;
            };
            if chunk.len() > self.fetch.max_bytes.saturating_sub(content.len()) {
                return Err(too_large);
            }
            content.extend_from_slice(&chunk);
        }
        let content = String::from_utf8(content).map_err(|_| FetchError::NotText)?;
        Ok(Input::of_text(&self.fetch.name, &content))
    }
}

fn bearer(token: &Secret) -> Result<HeaderValue, FetchSetupError> {
    let value = [b"Bearer ", token.expose()].concat();
    let mut value = HeaderValue::from_bytes(&value).map_err(|_| FetchSetupError::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The address that a host of a URL is, if it is one.
fn literal(host: &str) -> Option<IpAddr> {
    let six = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    match six {
        Some(six) => six.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

/// Whether a connection was not made because of where it would have led.
fn not_allowed(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<NotAllowed>() {
            return true;
        }
        cause = error.source();
    }
    false
}
