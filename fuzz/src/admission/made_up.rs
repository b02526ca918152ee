//! Schemes of all kinds, most of them possible.

use std::collections::BTreeMap;

use fencepost_conformance::Configuration;

use crate::Choices;

/// A text, hexadecimal digits and base64 at once.
const SECRET: &str = "66705f746573745f7365637265745f30";
const OLD_SECRET: &str = "66705f6f6c645f7365637265745f3031";
const SHARED: &str = "{ name = \"old\", not_after = 2027-01-15T08:00:00Z }";

/// A source that is verified in some way, with its secrets.
pub(super) fn made_up(choices: &mut Choices<'_>) -> Configuration {
    let kind = choices.of(&["hmac", "hmac", "hmac", "hmac", "token", "basic"]);
    let mut verify = vec![format!("kind = \"{kind}\"")];
    let mut prefix = "";
    match kind {
        "hmac" => prefix = hmac(choices, &mut verify),
        "token" => verify.push(format!(
            "signature = {{ {} }}",
            choices.of(&[
                "header = \"X-Sig\"",
                "header = \"X-Sig\", shape = \"prefix\", prefix = \"Bearer \"",
            ])
        )),
        _ => {}
    }
    let words = [
        "form = \"payload\"",
        "handshake = \"slack\"",
        "handshake = \"zoom\"",
        "handshake = \"microsoft-graph\"",
    ];
    // The other implementation looks for a time in the body as it was sent.
    let dated_within = verify.iter().any(|key| key.contains("pointer"));
    if choices.once_in(3) && !dated_within {
        verify.push(choices.of(&words).to_owned());
    }
    let route = choices.once_in(4);
    let (secrets, tenant) = match (route, choices.below(2)) {
        (false, 0) => ("[\"secret\"]".to_owned(), "{ value = \"acme\" }"),
        (false, _) => (format!("[{SHARED}, \"secret\"]"), "{ value = \"acme\" }"),
        (true, 0) => ("[\"tenant_{tenant}\"]".to_owned(), "{ route = true }"),
        (true, _) => (
            "{ derive_from = \"master\" }".to_owned(),
            "{ route = true }",
        ),
    };
    let encoding = choices.of(&[
        "",
        "content_encoding = \"wire\"",
        "content_encoding = \"decoded\"",
        "max_body_bytes = 64",
        "filter = { \"/id\" = [\"r-2\", 1] }",
    ]);
    let source = format!(
        "secrets = {secrets}\n{encoding}\nverify = {{ {} }}\n[identity]\ntenant = {tenant}\n",
        verify.join(", ")
    );
    let beside = if kind == "basic" { "user:" } else { "" };
    let secret = |secret: &str| format!("{prefix}{beside}{secret}");
    let variables = BTreeMap::from([
        ("secret".to_owned(), secret(SECRET)),
        ("old".to_owned(), secret(OLD_SECRET)),
        ("tenant_acme".to_owned(), secret(SECRET)),
        ("tenant_globex".to_owned(), secret(OLD_SECRET)),
        ("master".to_owned(), SECRET.to_owned()),
    ]);
    Configuration { source, variables }
}

/// Adds the keys of a code over a template, and says what stands before its secrets.
fn hmac(choices: &mut Choices<'_>, verify: &mut Vec<String>) -> &'static str {
    let algorithms = ["\"sha256\"", "\"sha512\"", "\"sha1\", allow_weak = true"];
    verify.push(format!("algorithm = {}", choices.of(&algorithms)));
    let shape = choices.of(&[
        "shape = \"value\"",
        "shape = \"prefix\", prefix = \"v0=\"",
        "shape = \"pairs\", key = \"v1\"",
        "shape = \"pairs\", key = [\"v1\", \"v0\"], separator = \";\", equals = \":\"",
        "shape = \"versioned\", key = \"v1\"",
        "shape = \"list\"",
        "shape = \"list\", prefix = \"v0=\", separator = \";\"",
    ]);
    let encoding = choices.of(&[
        "hex",
        "base64",
        "base64-unpadded",
        "base64url",
        "base64url-unpadded",
    ]);
    let spellings = choices.below(3) == 2;
    let names = |one: &str| match spellings {
        true => format!("[\"{one}\", \"Old-{one}\"]"),
        false => format!("\"{one}\""),
    };
    let extra = choices.of(&["", ", extra_headers = [\"X-Sig-2\"]"]);
    let header = names("X-Sig");
    verify.push(format!(
        "signature = {{ header = {header}, encoding = \"{encoding}\", {shape}{extra} }}"
    ));

    template(choices, verify, shape, names);

    let encoding = choices.of(&["text", "base64", "hex"]);
    let prefix = choices.of(&["", "whsec_"]);
    let before = match prefix {
        "" => String::new(),
        _ => format!(", prefix = \"{prefix}\""),
    };
    verify.push(format!("secret = {{ encoding = \"{encoding}\"{before} }}"));
    prefix
}

/// Adds what is signed, and where those parts stand that are not the body.
fn template(
    choices: &mut Choices<'_>,
    verify: &mut Vec<String>,
    shape: &str,
    names: impl Fn(&str) -> String,
) {
    let mut words = vec!["{body}"];
    if choices.below(2) == 1 {
        let format = choices.of(&[
            "unix-seconds",
            "unix-milliseconds",
            "rfc3339",
            "imf-fixdate",
        ]);
        let pair = shape.contains("pairs") && choices.below(2) == 0;
        let (place, signed) = match (pair, choices.below(8)) {
            (_, 7) => ("pointer = \"/id\"".to_owned(), false),
            (true, _) => ("pair = \"t\"".to_owned(), true),
            (false, _) => (format!("header = {}", names("X-Time")), true),
        };
        verify.push(format!("timestamp = {{ {place}, format = \"{format}\" }}"));
        if signed {
            words.push("{timestamp}");
        }
        let tolerances = ["300", "{ past = 60, future = 1 }", "\"off\""];
        verify.push(format!("tolerance_seconds = {}", choices.of(&tolerances)));
    }
    if choices.below(3) == 2 {
        words.push("{id}");
        verify.push(format!("id = {{ header = {} }}", names("X-Id")));
    }
    if choices.below(3) == 2 {
        words.push("{url}");
        verify.push(format!(
            "url = \"https://edge.test/hook{}\"",
            choices.of(&["", "/"])
        ));
    }
    if choices.below(4) == 3 {
        words.push("{method}");
    }
    for at in (1..words.len()).rev() {
        words.swap(at, choices.below(at + 1));
    }
    let delimiter = choices.of(&[".", "", ":", "--"]);
    let before = choices.of(&["", "v0:"]);
    let template = format!("{before}{}", words.join(delimiter));
    verify.push(format!("template = \"{template}\""));
}
