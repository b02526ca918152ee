//! From a host's name to the addresses that are connected to, each of them looked at: nothing asks
//! for them again in between.

use std::{
    error::Error,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use async_trait::async_trait;
use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::private::{is_listed, is_public};

/// Who knows addresses by names.
#[async_trait]
pub trait Names: Send + Sync {
    /// All addresses of a name.
    ///
    /// # Errors
    /// There are none, or nobody can tell.
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The machine's own resolver.
#[derive(Clone, Copy, Debug)]
pub struct SystemNames;

#[async_trait]
impl Names for SystemNames {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let addresses = tokio::net::lookup_host((name, 0)).await?;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}

/// An address that is not to be connected to.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the host has a private address")]
pub(super) struct NotAllowed;

/// Which addresses may be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    /// Those of the public internet, and those that are listed.
    PublicAndListed,
    /// Those that are listed.
    Listed,
}

/// Stands before each connection.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) names: Arc<dyn Names>,
    pub(super) listed: Arc<[IpNet]>,
    pub(super) allowed: Allowed,
}

impl Guard {
    /// Whether an address may be connected to.
    pub(super) fn lets(&self, address: IpAddr) -> bool {
        is_listed(&self.listed, address)
            || (self.allowed == Allowed::PublicAndListed && is_public(address))
    }

    /// The addresses of a name; none of them where one of them may not be connected to.
    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>> {
        let addresses = self.names.addresses(name).await?;
        if addresses.iter().all(|address| self.lets(*address)) {
            return Ok(addresses);
        }
        Err(NotAllowed.into())
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = guard.look_up(name.as_str()).await?;
            let addresses = addresses
                .into_iter()
                .map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}
