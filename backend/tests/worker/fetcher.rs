//! What is asked of whom, and what is taken: every step on the way to content.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use fencepost::{
    fetch::{Consequence, FetchError},
    tls,
};
use fencepost_model::{Content, ContentServer, Requested};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::{RootCertStore, ServerConfig, crypto::ring};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::{
    content::{TOKEN, Told, fetched, fetcher, protected},
    rig::logged,
    timer::within,
};

const HERE: &str = "allow_private = [\"127.0.0.1\"]";

/// A table for the server at this address.
fn table(address: SocketAddr, more: &str) -> String {
    format!("url = \"http://{address}/{{report_id}}/{{link.head}}\"\n{HERE}\n{more}")
}

/// A server with one answer to everything, and what comes of fetching from it.
async fn of(content: Content, more: &str) -> (Result<String, FetchError>, Vec<Requested>) {
    let server = ContentServer::start(move |_| content.clone()).await;
    let fetcher = fetcher(&table(server.address(), more), Told::of(&[]));
    let result = within(fetched(&fetcher, "a/b")).await;
    (result, server.requests())
}

fn text(text: &str) -> Content {
    Content::Text(text.to_owned())
}

fn respond(status: u16, headers: &[(&'static str, &str)]) -> Content {
    Content::status(status, headers)
}

#[tokio::test]
async fn content_is_asked_for_once_and_becomes_the_input() {
    let more = "name = \"diff\"\nheaders = { accept = \"text/x-diff\" }";
    let (result, requests) = of(text("a \"b\"\n\u{0}ü"), more).await;
    assert_eq!(result.unwrap(), r#"{"diff":"a \"b\"\n\u0000ü"}"#);
    let [request] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    assert_eq!(request.path, "/1/a%2Fb");
    assert_eq!(request.header("accept"), Some("text/x-diff"));
    assert_eq!(request.header("accept-encoding"), Some("identity"));
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(request.header("authorization"), Some(bearer.as_str()));
    assert!(!logged().contains(TOKEN));
}

#[tokio::test]
async fn a_body_is_bounded_and_a_text() {
    let max = "max_bytes = 10";
    let exact = of(text("0123456789"), max).await.0;
    assert_eq!(exact.unwrap(), r#"{"text":"0123456789"}"#);
    for content in [text("0123456789a"), Content::Endless] {
        let (result, _) = of(content, max).await;
        assert_eq!(result, Err(FetchError::TooLarge(10)));
    }
    let body = |headers: Vec<(&'static str, String)>, body: &[u8]| Content::Respond {
        status: 200,
        headers,
        body: body.to_vec(),
    };
    let (result, _) = of(body(vec![], b"\xff\xfe"), "").await;
    assert_eq!(result, Err(FetchError::NotText));
    let zipped = vec![("content-encoding", "gzip".to_owned())];
    let (result, _) = of(body(zipped, b"x"), "").await;
    assert_eq!(result, Err(FetchError::Compressed));
    let (result, _) = of(Content::BreakOff("begun".to_owned()), "").await;
    assert_eq!(result, Err(FetchError::Transport));
}

#[tokio::test]
async fn a_status_says_what_follows() {
    let later = |seconds: Option<u64>| Consequence::Later {
        retry_after: seconds.map(Duration::from_secs),
    };
    let none = [].as_slice();
    // The clock of the fetcher stands at 1 800 000 000.
    let reset = [
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1800000090"),
    ];
    for (status, headers, consequence) in [
        (204, none, Consequence::Review),
        (206, none, Consequence::Review),
        (302, none, Consequence::Review),
        (304, none, Consequence::Review),
        (400, none, Consequence::Review),
        (401, none, Consequence::PauseCredential),
        (403, none, Consequence::Review),
        (403, &reset, later(Some(90))),
        (403, &[("retry-after", "30")], later(Some(30))),
        (403, &[("x-ratelimit-remaining", "0")], later(None)),
        (403, &[("x-ratelimit-remaining", "7")], Consequence::Review),
        (404, none, Consequence::Review),
        (406, none, Consequence::Review),
        (408, none, later(None)),
        (410, none, Consequence::Review),
        (422, none, Consequence::Review),
        (429, none, later(None)),
        (429, &[("retry-after", "7")], later(Some(7))),
        (429, &reset, later(Some(90))),
        (500, none, later(None)),
        (502, none, later(None)),
        (503, &[("retry-after", "120")], later(Some(120))),
    ] {
        let (result, requests) = of(respond(status, headers), "").await;
        let error = result.unwrap_err();
        assert_eq!(error.consequence(), consequence, "{status} {headers:?}");
        let told = error.to_string();
        assert!(told.contains(&format!("(status {status})")), "{told}");
        assert_eq!(requests.len(), 1, "{status}");
    }
}

/// Two servers: the first leads to `location`, in which `HERE` and `THERE` stand for the two.
struct Led {
    result: Result<String, FetchError>,
    here: Vec<Requested>,
    there: Vec<Requested>,
}

async fn led(location: &str, listed: &str) -> Led {
    let back = Arc::new(std::sync::OnceLock::<SocketAddr>::new());
    let home = Arc::clone(&back);
    let there = ContentServer::start(move |request| match request.path.as_str() {
        "/back" => {
            let home = home.get().unwrap();
            respond(302, &[("location", &format!("http://{home}/end"))])
        }
        "/closed" => respond(401, &[]),
        _ => text("there"),
    })
    .await;
    let at = there.address().to_string();
    let location = location.replace("THERE", &at);
    let here = ContentServer::start(move |request| match request.path.as_str() {
        "/1/x" => respond(302, &[("location", &location)]),
        _ => text("here"),
    })
    .await;
    back.set(here.address()).unwrap();
    let own = here.address();
    let listed = listed.replace("THERE", &at);
    let hosts = format!("hosts = [\"{own}\"{listed}]");
    let fetcher = fetcher(&table(own, &hosts), Told::of(&["127.0.0.1"]));
    Led {
        result: within(fetched(&fetcher, "x")).await,
        here: here.requests(),
        there: there.requests(),
    }
}

fn shown(requests: &[Requested]) -> Vec<bool> {
    let requests = requests.iter();
    requests
        .map(|request| request.header("authorization").is_some())
        .collect()
}

#[tokio::test]
async fn a_token_that_was_not_shown_is_not_refused() {
    let closed = led("http://THERE/closed", ", \"THERE\"").await;
    let error = closed.result.unwrap_err();
    assert_eq!(error, FetchError::NoContent(401));
    assert_eq!(error.consequence(), Consequence::Review);
    assert_eq!(shown(&closed.there), [false]);
}

/// Whoever writes a link does not choose that the token goes unprotected.
#[tokio::test]
async fn a_link_without_tls_gets_no_token() {
    let server = ContentServer::start(|_| text("here")).await;
    let at = server.address();
    let table = format!("url = \"{{link.head}}\"\nhosts = [\"{at}\"]\n{HERE}");
    let fetcher = fetcher(&table, Told::of(&[]));
    let result = within(fetched(&fetcher, &format!("http://{at}/x"))).await;
    assert_eq!(result.unwrap(), r#"{"text":"here"}"#);
    assert_eq!(shown(&server.requests()), [false]);
}

#[tokio::test]
async fn a_redirect_leads_to_a_listed_host_and_the_token_stays_at_home() {
    let both = ", \"THERE\"";
    let at_home = led("/end", "").await;
    assert_eq!(at_home.result.unwrap(), r#"{"text":"here"}"#);
    assert_eq!(shown(&at_home.here), [true, true]);

    let away = led("http://THERE/end", both).await;
    assert_eq!(away.result.unwrap(), r#"{"text":"there"}"#);
    assert_eq!(
        (shown(&away.here), shown(&away.there)),
        (vec![true], vec![false])
    );

    let back = led("http://THERE/back", both).await;
    assert_eq!(back.result.unwrap(), r#"{"text":"here"}"#);
    assert_eq!(
        shown(&back.here),
        [true, false],
        "led away, it does not come back"
    );
    assert_eq!(shown(&back.there), [false]);
}

#[tokio::test]
async fn a_redirect_to_anywhere_else_is_refused() {
    let local = ", \"localhost:1\", \"127.0.0.2:1\", \"[::1]:1\"";
    for (location, listed, error) in [
        ("http://THERE/end", "", FetchError::Elsewhere),
        ("//THERE/end", "", FetchError::Elsewhere),
        ("http://127.0.0.1/end", "", FetchError::Elsewhere),
        ("http://169.254.169.254/latest", "", FetchError::Elsewhere),
        ("https://THERE.evil.example/", "", FetchError::NotAnAddress),
        (
            "http://user@THERE/end",
            ", \"THERE\"",
            FetchError::NotAnAddress,
        ),
        (
            "http://u:p@THERE/end",
            ", \"THERE\"",
            FetchError::NotAnAddress,
        ),
        ("file:///etc/passwd", "", FetchError::NotAnAddress),
        ("ftp://THERE/end", ", \"THERE\"", FetchError::NotAnAddress),
        ("http://127.0.0.2:1/end", local, FetchError::Private),
        ("http://[::1]:1/end", local, FetchError::Private),
        ("https://127.0.0.2:1/end", local, FetchError::Private),
    ] {
        let led = led(location, listed).await;
        assert_eq!(led.result, Err(error), "{location}");
        assert_eq!((led.here.len(), led.there.len()), (1, 0), "{location}");
    }
}

#[tokio::test]
async fn three_redirects_are_followed_and_no_more() {
    for (redirects, followed) in [(3, true), (4, false)] {
        let server = ContentServer::start(move |request| {
            let step = request.path.strip_prefix("/step/");
            let step = step.map_or(0, |step| step.parse().unwrap());
            match step < redirects {
                true => respond(307, &[("location", &format!("/step/{}", step + 1))]),
                false => text("end"),
            }
        })
        .await;
        let fetcher = fetcher(&table(server.address(), ""), Told::of(&[]));
        let result = within(fetched(&fetcher, "x")).await;
        match followed {
            true => assert_eq!(result.unwrap(), r#"{"text":"end"}"#),
            false => assert_eq!(result, Err(FetchError::Redirects)),
        }
        assert_eq!(server.requests().len(), 4);
    }
}

#[tokio::test]
async fn a_name_is_only_as_good_as_all_of_its_addresses() {
    let server = ContentServer::start(|_| text("there")).await;
    let port = server.address().port();
    let at = |scheme: &str| format!("url = \"{scheme}://content.example:{port}/{{report_id}}\"");
    let listed = format!("{}\n{HERE}", at("http"));
    let result = fetched(&fetcher(&listed, Told::of(&["127.0.0.1"])), "x").await;
    assert_eq!(result.unwrap(), r#"{"text":"there"}"#);
    assert_eq!(server.requests().len(), 1);
    for addresses in [
        &["127.0.0.2"][..],
        &["10.0.0.1"],
        &["169.254.169.254"],
        &["127.0.0.1", "10.0.0.1"],
        // Public, but without TLS only what is listed is asked.
        &["140.82.112.5"],
    ] {
        let fetcher = fetcher(&listed, Told::of(addresses));
        let result = within(fetched(&fetcher, "x")).await;
        assert_eq!(result, Err(FetchError::Private), "{addresses:?}");
    }
    for addresses in [
        &["127.0.0.1"][..],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["fd00:ec2::254"],
        &["169.254.169.254"],
        &["140.82.112.5", "10.0.0.1"],
    ] {
        let fetcher = fetcher(&at("https"), Told::of(addresses));
        let result = within(fetched(&fetcher, "x")).await;
        assert_eq!(result, Err(FetchError::Private), "{addresses:?}");
    }
    let result = fetched(&fetcher(&at("https"), Told::of(&[])), "x").await;
    assert_eq!(
        result,
        Err(FetchError::Transport),
        "a name without addresses"
    );
    assert_eq!(server.requests().len(), 1, "nobody else was asked");
}

#[tokio::test]
async fn a_whole_link_is_held_to_the_hosts_and_addresses_too() {
    let server = ContentServer::start(|_| text("there")).await;
    let address = server.address();
    let port = address.port();
    let table = |private: &str| {
        format!("url = \"{{link.head}}\"\nhosts = [\"{address}\"]\nallow_private = [{private}]")
    };
    let here = fetcher(&table("\"127.0.0.1\""), Told::of(&[]));
    let found = fetched(&here, &format!("http://{address}/x?y=1")).await;
    assert_eq!(found.unwrap(), r#"{"text":"there"}"#);
    for (link, error) in [
        (
            format!("http://{address}.evil.example/"),
            FetchError::NotAnAddress,
        ),
        ("http://127.0.0.2/".to_owned(), FetchError::Elsewhere),
        (
            format!("http://{address}@evil.example/"),
            FetchError::NotAnAddress,
        ),
        (
            format!("http://evil.example\\@{address}/"),
            FetchError::Elsewhere,
        ),
        (format!("http://[::1]:{port}/"), FetchError::Elsewhere),
        ("javascript:alert(1)".to_owned(), FetchError::NotAnAddress),
        ("not a link".to_owned(), FetchError::NotAnAddress),
        (String::new(), FetchError::NotAnAddress),
    ] {
        let found = fetched(&here, &link).await;
        assert_eq!(found, Err(error), "{link}");
    }
    // Other spellings of the same address are the same address.
    for host in ["2130706433", "0x7f.1", "127.1"] {
        let found = fetched(&here, &format!("http://{host}:{port}/")).await;
        assert_eq!(found.unwrap(), r#"{"text":"there"}"#, "{host}");
        let nowhere = fetcher(&table(""), Told::of(&[]));
        let found = fetched(&nowhere, &format!("http://{host}:{port}/")).await;
        assert_eq!(found, Err(FetchError::Private), "{host}");
    }
    let shown = server.requests().len();
    assert_eq!(shown, 4);
}

/// Takes one protected connection under a name that an authority vouches for.
async fn behind_tls(server: SocketAddr, authority: &CertifiedIssuer<'static, KeyPair>) -> u16 {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["content.example".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let connection = listener.accept().await.unwrap().0;
        // Fails where the other side refuses the certificate.
        if let Ok(mut protected) = acceptor.accept(connection).await {
            let mut plain = TcpStream::connect(server).await.unwrap();
            drop(tokio::io::copy_bidirectional(&mut protected, &mut plain).await);
        }
    });
    port
}

#[tokio::test]
async fn content_is_taken_from_whom_an_authority_vouches_for() {
    let server = ContentServer::start(|_| text("there")).await;
    let authority = || {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let (ours, other) = (authority(), authority());
    for (trusted, expected) in [
        (&ours, Ok(r#"{"text":"there"}"#.to_owned())),
        (&other, Err(FetchError::Transport)),
    ] {
        let port = behind_tls(server.address(), &ours).await;
        let mut authorities = RootCertStore::empty();
        authorities.add(trusted.der().clone()).unwrap();
        let tls = tls::trusting(authorities).unwrap();
        let table = format!("url = \"https://content.example:{port}/{{report_id}}\"\n{HERE}");
        let fetcher = protected(&table, Told::of(&["127.0.0.1"]), &tls);
        assert_eq!(within(fetched(&fetcher, "x")).await, expected);
    }
    assert_eq!(server.requests().len(), 1);
}
