//! `probe`: what a container's health check calls.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use clap::Args;

use super::{CliError, Verdict, output};
use crate::{
    config::{ADMIN_LISTEN_DEFAULT, Environment, process_environment},
    tls,
};

/// `probe`
#[derive(Debug, Args)]
pub(super) struct Probe {
    /// Where the backend listens; by default the admin listener of `FENCEPOST_ADMIN_LISTEN`.
    url: Option<String>,
}

impl Probe {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let base = match self.url {
            Some(url) => url,
            None => format!("http://{}", own_address()?),
        };
        let url = format!("{}/readyz", base.trim_end_matches('/'));
        let client = client(Duration::from_secs(5))?;
        let response = match client.get(&url).send().await {
            Ok(response) => response,
            Err(error) => {
                output::complain(&format!("{url}: {}", cause(&error)));
                return Ok(Verdict::No);
            }
        };
        let ready = response.status() == reqwest::StatusCode::OK;
        let body = response.text().await.unwrap_or_default();
        output::line(&body);
        Ok(if ready { Verdict::Done } else { Verdict::No })
    }
}

fn own_address() -> Result<SocketAddr, CliError> {
    let mut environment = Environment::new(&process_environment);
    let mut address = environment.address("FENCEPOST_ADMIN_LISTEN", ADMIN_LISTEN_DEFAULT);
    environment.errors.or(Some(()))?;
    // "On every address" is none to connect to.
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    Ok(address)
}

/// A client for plain HTTP without proxies: it speaks to this machine or to one beside it.
pub(super) fn client(timeout: Duration) -> Result<reqwest::Client, CliError> {
    let tls = tls::for_scheme("http").map_err(|error| CliError::Failed(error.to_string()))?;
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .timeout(timeout);
    let builder = builder.redirect(reqwest::redirect::Policy::none());
    builder
        .build()
        .map_err(|error| CliError::Failed(error.to_string()))
}

/// The innermost reason, which the outer ones only wrap.
pub(super) fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
