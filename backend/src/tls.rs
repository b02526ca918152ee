//! With which cryptography and whose authorities connections to the outside are protected.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// Why no connection can be protected.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Without authorities every server would be refused.
    #[error(
        "this machine has no list of certificate authorities: install the package \
         `ca-certificates`, or name a file of them in SSL_CERT_FILE"
    )]
    NoAuthorities,
    /// The cryptography and the protocol's versions do not fit together.
    #[error("TLS can't be set up: {0}")]
    Protocol(#[from] rustls::Error),
}

/// For a URL with this scheme: `https` trusts the authorities of this machine, anything else needs
/// none and works where there are none.
///
/// # Errors
/// [`TlsError`]
pub fn for_scheme(scheme: &str) -> Result<ClientConfig, TlsError> {
    match scheme {
        "https" => trusting(authorities_of_this_machine()?),
        _ => trusting(RootCertStore::empty()),
    }
}

/// For servers that these authorities vouch for.
///
/// # Errors
/// [`TlsError::Protocol`]
pub fn trusting(authorities: RootCertStore) -> Result<ClientConfig, TlsError> {
    // Named here for each client: a default of the whole process would depend on who came first.
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(authorities)
        .with_no_client_auth();
    Ok(config)
}

fn authorities_of_this_machine() -> Result<RootCertStore, TlsError> {
    let mut authorities = RootCertStore::empty();
    // Single certificates that can't be read are usual in such lists.
    let (added, _) =
        authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    match added {
        0 => Err(TlsError::NoAuthorities),
        _ => Ok(authorities),
    }
}
