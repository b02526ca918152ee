//! A door that anybody may pass who shows its token: behind it stands what a body is made of.

use std::sync::LazyLock;

use fencepost_identity::{
    admission::{Admitted, Delivery, Entrance, Greeting, HandshakeAnswer, Keys, Refusal},
    config::Sources,
    signature::SigningKey,
};

const TOKEN: &str = "fp_test_secret_0123456789abcdef";

/// The most bytes of a body.
pub(crate) const BODY_BYTES_MAX: usize = 4096;

static SOURCES: LazyLock<Sources> = LazyLock::new(|| {
    let doors = [
        ("form", "form = \"payload\"", ""),
        ("plain", "", ""),
        ("wire", "", "content_encoding = \"wire\""),
        ("decoded", "", "content_encoding = \"decoded\""),
        ("meta", "handshake = \"meta\", verify_token = \"token\"", ""),
        ("dropbox", "handshake = \"dropbox\"", ""),
        ("graph", "handshake = \"microsoft-graph\"", ""),
    ];
    let mut text = "[pipeline.p]\n".to_owned();
    for (name, verify, rest) in doors {
        let comma = if verify.is_empty() { "" } else { "," };
        text.push_str(&format!(
            r#"
[source.{name}]
verify = {{ kind = "token", signature = {{ header = "token" }}{comma} {verify} }}
secrets = ["token"]
pipeline = "p"
max_body_bytes = {BODY_BYTES_MAX}
{rest}
input = {{ id = "/id" }}
[source.{name}.identity]
tenant = {{ value = "t" }}
report_id = "/id"
version = {{ content = [""] }}
"#
        ));
    }
    Sources::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
});

/// A delivery that shows the token.
pub(crate) struct Knock<'d> {
    pub(crate) source: &'d str,
    pub(crate) method: &'d str,
    pub(crate) query: Option<&'d str>,
    pub(crate) encoding: Option<&'d [u8]>,
    pub(crate) body: &'d [u8],
}

/// What came of it, where the payload is told by its bytes as far as they are JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// The report id, and the version, which is a hash of the whole payload.
    Report(String, String),
    Handshake(HandshakeAnswer),
    Ignored,
}

pub(crate) fn knock(knock: &Knock<'_>) -> Result<Came, Refusal> {
    let path = format!("/hooks/{}", knock.source);
    let mut headers = vec![("Token", TOKEN.as_bytes())];
    headers.extend(knock.encoding.map(|value| ("Content-Encoding", value)));
    let delivery = Delivery {
        method: knock.method,
        path: &path,
        query: knock.query,
        headers: &headers,
    };
    let entrance = Entrance::find(&SOURCES, &delivery)?;
    match entrance.greeting(&delivery)? {
        Some(Greeting::Answer(answer)) => return Ok(Came::Handshake(answer)),
        Some(Greeting::Token(greeting)) => {
            let own = SigningKey::shown(TOKEN).unwrap_or_else(|error| panic!("{error}"));
            return greeting.conclude(&own).map(Came::Handshake);
        }
        None => {}
    }
    let coding = entrance.check_body_headers(&delivery)?;
    if let Some(answer) = entrance.greeting_without_body(&delivery, knock.body)? {
        return Ok(Came::Handshake(answer));
    }
    let presented = entrance.signature(&delivery)?;
    let mut keys = Keys::default();
    for wanted in entrance.wanted(0)? {
        let added = keys.add(&entrance, &wanted, TOKEN);
        added.unwrap_or_else(|error| panic!("{error}"));
    }
    let proven = entrance.prove(&presented, &keys, coding, knock.body, 0)?;
    Ok(match entrance.admit(&proven, &keys)? {
        Admitted::Report(envelope) => {
            let identity = envelope.identity;
            Came::Report(identity.report_id.to_string(), identity.version.to_string())
        }
        Admitted::Ignored => Came::Ignored,
        Admitted::Handshake(answer) => Came::Handshake(answer),
    })
}
