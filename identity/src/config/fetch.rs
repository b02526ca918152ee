//! How the backend fetches the content of a report of which only a reference was forwarded.
//!
//! The edge reads it as the backend does, so that a mistake is told on both sides, and uses
//! nothing of it.

mod address;
mod host;

// Without `std`, in which these stand beside what does I/O.
use core::{net::IpAddr, time::Duration};

use ipnet::IpNet;

pub use self::{
    address::{Address, Unplaceable},
    host::{Host, NotAHost},
};
use super::Item;
use crate::{mapping::VersionForm, pointer::Pointer};

const BYTES_DEFAULT: u64 = 1_048_576;
/// The whole input is held in memory, and a model reads a part of it.
const BYTES_MAX: u64 = 25 * 1_048_576;
const SECONDS_DEFAULT: u64 = 20;
const SECONDS_MAX: u64 = 120;
const NAME_DEFAULT: &str = "text";
const NAME_BYTES_MAX: usize = 64;

/// The headers that a fetch has of its own, and those that would carry a secret of the file.
const OWN_HEADERS: [&str; 10] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "host",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// How content is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Where it is.
    pub address: Address,
    /// Whom it may be fetched from, redirects included. Never empty.
    pub hosts: Vec<Host>,
    /// What is sent along, by name in lower case.
    pub headers: Vec<(String, String)>,
    /// The variable whose value is presented, to the host of the address alone.
    pub token_variable: Option<String>,
    /// The most bytes of it.
    pub max_bytes: usize,
    /// How long it may take in all.
    pub timeout: Duration,
    /// The private addresses that may be connected to all the same.
    pub allow_private: Vec<IpNet>,
    /// What it is called in the input.
    pub name: String,
}

/// What a source says besides, which its address has to fit.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// Nothing where they can't be read.
    pub(super) links: Option<&'a [(String, Pointer)]>,
    /// Nothing where it can't be read.
    pub(super) version: Option<&'a VersionForm>,
}

/// Reads the table `fetch` of a source.
pub(super) fn fetch(item: &Item<'_, '_>, around: Surroundings<'_>) -> Option<Fetch> {
    let mut table = item.table()?;
    let url = table.require("url");
    let address = url.as_ref().and_then(|item| item.parse(Address::parse));
    if let (Some(item), Some(address)) = (&url, &address) {
        check_placed(item, address, around);
    }
    let listed = table.get("hosts").map(|item| hosts(&item));
    let headers = table.get("headers");
    let headers = headers.map_or(Some(vec![]), |item| self::headers(&item));
    let token = table.get("token_env");
    let token_variable = match &token {
        Some(item) => item.parse(variable).map(Some),
        None => Some(None),
    };
    let max_bytes = table.get("max_bytes");
    let max_bytes = max_bytes.map_or(Some(BYTES_DEFAULT), |item| item.integer(1, BYTES_MAX));
    let seconds = table.get("timeout_seconds");
    let seconds = seconds.map_or(Some(SECONDS_DEFAULT), |item| item.integer(1, SECONDS_MAX));
    let private = table.get("allow_private");
    let allow_private = private.map_or(Some(vec![]), |item| networks(&item));
    let name = table.get("name");
    let name = name.map_or(Some(NAME_DEFAULT.to_owned()), |item| item.parse(input_name));
    table.finish();
    let (address, allow_private) = (address?, allow_private?);
    if address.is_plain() && allow_private.is_empty() {
        url?.error(
            "without TLS only addresses that `allow_private` lists are asked: write https, or list \
             them",
        );
    }
    let hosts = match (listed, address.host()) {
        (Some(hosts), own) => {
            let hosts = hosts?;
            if own.is_some_and(|own| !hosts.contains(own)) {
                item.error("`hosts` does not list the host of `url`, so that nobody may be asked");
            }
            hosts
        }
        (None, Some(own)) => vec![own.clone()],
        (None, None) => {
            item.error("`url` is whatever the link says: list in `hosts` whom it may name");
            return None;
        }
    };
    if let (Some(item), None, [_, _, ..]) = (&token, address.host(), hosts.as_slice()) {
        item.error("it would be presented to whichever of the `hosts` a link names; list one");
    }
    Some(Fetch {
        address,
        hosts,
        headers: headers?,
        token_variable: token_variable?,
        max_bytes: usize::try_from(max_bytes?).ok()?,
        timeout: Duration::from_secs(seconds?),
        allow_private,
        name: name?,
    })
}

/// Notes what an address needs and its source does not have.
fn check_placed(item: &Item<'_, '_>, address: &Address, around: Surroundings<'_>) {
    for link in address.links() {
        let known = around
            .links
            .is_none_or(|links| links.iter().any(|(name, _)| name == link));
        if !known {
            item.error(format!(
                "the source has no link `{link}`: say under `links` where it stands in the payload"
            ));
        }
    }
    if address.places_version() && around.version == Some(&VersionForm::Event) {
        item.error("`{version}` is nothing where version = \"event\"");
    }
}

fn hosts(item: &Item<'_, '_>) -> Option<Vec<Host>> {
    let items = item.array()?;
    if items.is_empty() {
        item.error("at least one host, or nothing could be fetched");
    }
    let hosts: Vec<_> = items.iter().map(|item| item.parse(Host::parse)).collect();
    hosts.into_iter().collect()
}

fn headers(item: &Item<'_, '_>) -> Option<Vec<(String, String)>> {
    let table = item.table()?;
    let headers = table.entries().map(|(name, item)| {
        let value = item.text()?;
        let name = name.to_ascii_lowercase();
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if name.is_empty() || !name.bytes().all(token) {
            item.error("a header's name is made of letters, digits, `-` and `_`");
        } else if OWN_HEADERS.contains(&name.as_str()) {
            item.error("this header is not set here; a token is presented by `token_env`");
        }
        if !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            item.error("a header's value is made of printable characters of ASCII");
        }
        Some((name, value.to_owned()))
    });
    let headers: Vec<Option<_>> = headers.collect();
    headers.into_iter().collect()
}

fn networks(item: &Item<'_, '_>) -> Option<Vec<IpNet>> {
    let items = item.array()?;
    let networks = items.iter().map(|item| item.parse(network));
    let networks: Vec<_> = networks.collect();
    networks.into_iter().collect()
}

fn network(text: &str) -> Result<IpNet, &'static str> {
    let alone = text.parse::<IpAddr>().map(IpNet::from);
    alone
        .or_else(|_| text.parse())
        .map_err(|_| "an address such as \"127.0.0.1\", or a network such as \"10.0.0.0/8\"")
}

fn variable(text: &str) -> Result<String, &'static str> {
    let allowed = |byte: u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
    let begins_well = text.starts_with(|first: char| !first.is_ascii_digit());
    if begins_well && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    // Not repeated: somebody may have written the token itself.
    Err("the name of an environment variable such as \"GITHUB_TOKEN\", never the token itself")
}

fn input_name(text: &str) -> Result<String, &'static str> {
    let control = text.chars().any(char::is_control);
    if (1..=NAME_BYTES_MAX).contains(&text.len()) && !control {
        return Ok(text.to_owned());
    }
    Err("a name of 1 to 64 bytes without control characters")
}
