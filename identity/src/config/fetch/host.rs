//! Whom content may be fetched from.

use core::{fmt, net::IpAddr};

/// A host by its name or address, and its port unless it is the scheme's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    place: Place,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// In lower case.
    Name(String),
    Address(IpAddr),
}

/// A text that is no host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a host is a name such as `api.example.com` or an address, in brackets where it has colons, \
     with `:PORT` behind it where that is not the scheme's own"
)]
pub struct NotAHost;

impl Host {
    /// Reads `host` or `host:port`.
    ///
    /// # Errors
    /// [`NotAHost`]
    pub fn parse(text: &str) -> Result<Self, NotAHost> {
        let after_address = text.rfind(']').unwrap_or(0);
        let colon = text.rfind(':').filter(|colon| *colon > after_address);
        let (name, port) = match colon.and_then(|colon| text.split_at_checked(colon)) {
            None => (text, None),
            Some((name, port)) => (name, Some(port_of(port)?)),
        };
        let place = place(name).ok_or(NotAHost)?;
        Ok(Self { place, port })
    }

    /// Whether a URL with this host, as a parser wrote it, and this port leads here. `own` is the
    /// port that the URL's scheme has when none is written.
    #[must_use]
    pub fn is_at(&self, host: &str, port: u16, own: Option<u16>) -> bool {
        let here = place(host).is_some_and(|place| place == self.place);
        here && match self.port {
            Some(mine) => mine == port,
            None => own == Some(port),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Name(name) => f.write_str(name),
            Place::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Place::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

fn port_of(text: &str) -> Result<u16, NotAHost> {
    let digits = text.strip_prefix(':').unwrap_or_default();
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = digits.parse().ok().filter(|port| decimal && *port > 0);
    port.ok_or(NotAHost)
}

fn place(text: &str) -> Option<Place> {
    if let Some(address) = text.strip_prefix('[') {
        let address = address.strip_suffix(']')?.parse().ok()?;
        return Some(Place::Address(IpAddr::V6(address)));
    }
    // What ends in a number is an address to those who read URLs, in whatever spelling.
    let last = text.rsplit('.').next().unwrap_or_default();
    if last.starts_with(|first: char| first.is_ascii_digit()) {
        return Some(Place::Address(IpAddr::V4(text.parse().ok()?)));
    }
    let labels = text.split('.');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(allowed);
    let fits = text.len() <= 253 && labels.into_iter().all(label);
    fits.then(|| Place::Name(text.to_ascii_lowercase()))
}
