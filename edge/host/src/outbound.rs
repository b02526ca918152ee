//! Where the component may send requests to.

use crate::variables::{Variables, VariablesError};
use http::Uri;
use std::fmt;
use thiserror::Error;

/// The resolved `allowed_outbound_hosts`; empty allows nothing.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    hosts: Vec<AllowedHost>,
}

/// One entry: scheme, host and port each match literally or with `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    scheme: Scheme,
    host: Host,
    port: Port,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Scheme {
    Any,
    Named(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Any,
    /// The suffix with its leading dot.
    Below(String),
    /// Lower-case. An address is no name: `127.0.0.1` does not allow `localhost`.
    Named(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Port {
    Any,
    Number(u16),
}

/// The target of a request, without anything of its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    scheme: String,
    host: String,
    port: u16,
}

/// An entry that is none.
#[derive(Debug, Error)]
pub enum OutboundError {
    /// The entry, after its variables were put in, is malformed.
    #[error("allowed_outbound_hosts: {entry:?} {fault}")]
    Entry {
        /// The entry as it was read.
        entry: String,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A variable of the entry could not be resolved.
    #[error(transparent)]
    Variables(#[from] VariablesError),
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// `host:port` alone.
    #[error("has no scheme (`http://` or `https://`)")]
    NoScheme,
    /// Only hosts are allowed or denied, not paths.
    #[error("has a path, a query or a user; only scheme, host and port are matched")]
    MoreThanAHost,
    /// Spin has service chaining, address ranges and requests to itself.
    #[error("is of a form that only Spin itself knows")]
    NotOffered,
    /// No host.
    #[error("has no host, or `*` in the middle of it")]
    BadHost,
    /// A port that is no number, or none with a scheme that has no usual one.
    #[error("has no port that is a number")]
    BadPort,
}

impl AllowedHosts {
    /// Resolves and reads the entries of a manifest.
    ///
    /// An entry that is empty once its variables are in is left out: an optional endpoint that is
    /// not set allows nothing.
    pub fn resolve(entries: &[String], variables: &Variables) -> Result<Self, OutboundError> {
        let mut hosts = Vec::new();
        for entry in entries {
            let resolved = variables.render(entry, "allowed_outbound_hosts")?;
            let from_variables = resolved != *entry;
            if from_variables && ["", "http://", "https://"].contains(&resolved.as_str()) {
                continue;
            }
            let host = AllowedHost::parse(&resolved).map_err(|fault| OutboundError::Entry {
                entry: resolved,
                fault,
            })?;
            hosts.push(host);
        }
        Ok(Self { hosts })
    }

    /// Whether a request to `target` may be sent.
    #[must_use]
    pub fn allow(&self, target: &Target) -> bool {
        self.hosts.iter().any(|host| host.allows(target))
    }
}

impl AllowedHost {
    /// Reads `scheme://host[:port]`.
    pub fn parse(entry: &str) -> Result<Self, Fault> {
        let (scheme, rest) = entry.trim().split_once("://").ok_or(Fault::NoScheme)?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains(['/', '?', '#', '@']) {
            return Err(Fault::MoreThanAHost);
        }
        let (host, port) = split_port(authority);
        Ok(Self {
            scheme: Scheme::parse(scheme)?,
            host: Host::parse(host)?,
            port: Port::parse(port, scheme)?,
        })
    }

    fn allows(&self, target: &Target) -> bool {
        let scheme = match &self.scheme {
            Scheme::Any => true,
            Scheme::Named(name) => *name == target.scheme,
        };
        let host = match &self.host {
            Host::Any => true,
            Host::Below(suffix) => target.host.ends_with(suffix.as_str()),
            Host::Named(name) => *name == target.host,
        };
        let port = match self.port {
            Port::Any => true,
            Port::Number(number) => number == target.port,
        };
        scheme && host && port
    }
}

/// Splits off `:port`; the colons within `[…]` belong to the address.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

impl Scheme {
    fn parse(scheme: &str) -> Result<Self, Fault> {
        match scheme {
            "*" => Ok(Self::Any),
            name if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic()) => {
                Ok(Self::Named(name.to_owned()))
            }
            _ => Err(Fault::NoScheme),
        }
    }
}

impl Host {
    fn parse(host: &str) -> Result<Self, Fault> {
        let host = host.to_ascii_lowercase();
        if host == "*" {
            return Ok(Self::Any);
        }
        let chained = host == "spin.internal" || host.ends_with(".spin.internal");
        if chained || host == "self" || host == "self.alt" || host.starts_with('{') {
            return Err(Fault::NotOffered);
        }
        if let Some(domain) = host.strip_prefix("*.") {
            if domain.is_empty() || domain.contains('*') {
                return Err(Fault::BadHost);
            }
            return Ok(Self::Below(format!(".{domain}")));
        }
        if host.is_empty() || host.contains('*') || host.contains(char::is_whitespace) {
            return Err(Fault::BadHost);
        }
        Ok(Self::Named(host))
    }
}

impl Port {
    fn parse(port: Option<&str>, scheme: &str) -> Result<Self, Fault> {
        match port {
            None | Some("") => usual_port(scheme).map(Self::Number).ok_or(Fault::BadPort),
            Some("*") => Ok(Self::Any),
            Some(range) if range.contains("..") => Err(Fault::NotOffered),
            Some(number) => number.parse().map(Self::Number).map_err(|_| Fault::BadPort),
        }
    }
}

fn usual_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

impl Target {
    /// Where a request with this URI goes, if that is anywhere outside.
    #[must_use]
    pub fn of(uri: &Uri) -> Option<Self> {
        let scheme = uri.scheme_str()?;
        let host = uri
            .host()
            .filter(|host| !host.is_empty())?
            .to_ascii_lowercase();
        let port = uri.port_u16().or_else(|| usual_port(scheme))?;
        Some(Self {
            scheme: scheme.to_owned(),
            host,
            port,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.scheme, self.host, self.port)
    }
}

#[cfg(test)]
mod tests;
