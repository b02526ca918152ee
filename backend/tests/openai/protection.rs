//! Who is trusted with the key and the report: whoever an authority vouches for, under that name.

use std::{net::SocketAddr, sync::Arc};

use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::{RootCertStore, ServerConfig, crypto::ring};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::*;

/// An authority of a test's own.
fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Takes protected connections under a name that the authority vouches for, and passes them on.
async fn protected(
    server: &ModelServer,
    authority: &CertifiedIssuer<'static, KeyPair>,
    name: &str,
) -> SocketAddr {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new([name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let base_url = server.base_url();
    let behind = base_url
        .trim_start_matches("http://")
        .trim_end_matches("/v1")
        .to_owned();
    tokio::spawn(async move {
        let connection = listener.accept().await.unwrap().0;
        // Fails where the other side refuses the certificate.
        if let Ok(mut protected) = acceptor.accept(connection).await {
            let mut plain = TcpStream::connect(behind).await.unwrap();
            drop(tokio::io::copy_bidirectional(&mut protected, &mut plain).await);
        }
    });
    address
}

fn trusting(authority: &CertifiedIssuer<'static, KeyPair>, address: SocketAddr) -> OpenAi {
    let mut authorities = RootCertStore::empty();
    authorities.add(authority.der().clone()).unwrap();
    let tls = tls::trusting(authorities).unwrap();
    let key = Secret::new(KEY);
    let settings = settings(&format!("https://{address}/v1"));
    OpenAi::new(settings, Api::Chat, Some(&key), tls, now).unwrap()
}

#[tokio::test]
async fn a_server_that_an_authority_vouches_for_is_asked() {
    let server = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
    let authority = authority();
    let address = protected(&server, &authority, "127.0.0.1").await;
    let openai = trusting(&authority, address);
    assert_eq!(ask(&openai, OutputCap::Ordinary).await.unwrap().text, "{}");
    assert_eq!(server.calls().len(), 1);
}

#[tokio::test]
async fn a_server_that_none_vouches_for_or_under_another_name_is_told_nothing() {
    let server = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
    let (ours, other) = (authority(), authority());
    for (trusted, name) in [(&other, "127.0.0.1"), (&ours, "127.0.0.2")] {
        let address = protected(&server, &ours, name).await;
        let openai = trusting(trusted, address);
        let error = ask(&openai, OutputCap::Ordinary).await.unwrap_err();
        assert_eq!(error.failure, UNSENT, "{name}");
    }
    assert_eq!(server.calls(), []);
}
