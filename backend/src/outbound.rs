//! What all connections to the outside have in common: one request is asked for once. Nothing here
//! tries again, follows a redirect or uses a proxy.

use std::time::Duration;

use reqwest::{ClientBuilder, redirect, retry};
use rustls::ClientConfig;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For how long a connection is kept that nobody uses. Many servers close theirs after five seconds
/// and more; a question that is sent at that moment counts as an attempt, and was heard by nobody.
const IDLE: Duration = Duration::from_secs(4);

/// A client that sends what it is told to, and nothing else. No connection is made yet.
pub(crate) fn client(tls: ClientConfig) -> ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("fencepost/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .pool_idle_timeout(IDLE)
        // A redirect would carry the report elsewhere, a retry would be a second inference that no
        // attempt counts.
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
}
