//! Who is trusted with the key and the report: whoever an authority vouches for, under that name.

use std::{net::SocketAddr, sync::Arc};

use fencepost::{
    extractor::{Extractor, OutputCap},
    tls,
};
use fencepost_model::{Behaviour, ModelServer, in_turn};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::{RootCertStore, ServerConfig, crypto::ring};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::who::{ALL, KEY, UNSENT, Who, ask, settings};

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

fn trusting(
    who: Who,
    authority: &CertifiedIssuer<'static, KeyPair>,
    address: SocketAddr,
) -> Box<dyn Extractor> {
    let mut authorities = RootCertStore::empty();
    authorities.add(authority.der().clone()).unwrap();
    let tls = tls::trusting(authorities).unwrap();
    let settings = settings(&format!("https://{address}/v1"));
    who.set_up(settings, Some(KEY), tls).unwrap()
}

#[tokio::test]
async fn a_server_that_an_authority_vouches_for_is_asked() {
    for who in ALL {
        let server = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
        let authority = authority();
        let address = protected(&server, &authority, "127.0.0.1").await;
        let extractor = trusting(who, &authority, address);
        let draft = ask(&*extractor, OutputCap::Ordinary).await.unwrap();
        assert_eq!(draft.text, "{}", "{who:?}");
        assert_eq!(server.calls().len(), 1, "{who:?}");
    }
}

#[tokio::test]
async fn a_server_that_none_vouches_for_or_under_another_name_is_told_nothing() {
    let server = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
    let (ours, other) = (authority(), authority());
    for who in ALL {
        for (trusted, name) in [(&other, "127.0.0.1"), (&ours, "127.0.0.2")] {
            let address = protected(&server, &ours, name).await;
            let extractor = trusting(who, trusted, address);
            let error = ask(&*extractor, OutputCap::Ordinary).await.unwrap_err();
            assert_eq!(error.failure, UNSENT, "{who:?} {name}");
        }
    }
    assert_eq!(server.calls(), []);
}
