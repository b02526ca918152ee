//! What `sign` signs, `verify` takes: under every preset, and nothing that was changed since.

use serde_json::json;

use super::{
    Place,
    verify::{AT, BODY, SECRET, STANDARD_SECRET, answer, project},
};

/// Each preset that can sign, with what it needs beside its name.
const SIGNING: [(&str, &str, &str); 17] = [
    ("bitbucket", "\"bitbucket\"", SECRET),
    ("github", "\"github\"", SECRET),
    ("gitlab", "\"gitlab\"", STANDARD_SECRET),
    ("gitlab-token", "\"gitlab-token\"", SECRET),
    (
        "intercom",
        "{ preset = \"intercom\", allow_weak = true }",
        SECRET,
    ),
    ("linear", "\"linear\"", SECRET),
    (
        "meta",
        "{ preset = \"meta\", verify_token = \"t\" }",
        SECRET,
    ),
    ("pagerduty", "\"pagerduty\"", SECRET),
    ("sentry", "\"sentry\"", SECRET),
    ("shopify", "\"shopify\"", SECRET),
    ("slack", "\"slack\"", SECRET),
    (
        "square",
        "{ preset = \"square\", url = \"https://edge.test/hook\" }",
        SECRET,
    ),
    (
        "standard-webhooks",
        "\"standard-webhooks\"",
        STANDARD_SECRET,
    ),
    ("stripe", "\"stripe\"", SECRET),
    ("typeform", "\"typeform\"", SECRET),
    ("zendesk", "\"zendesk\"", SECRET),
    ("zoom", "\"zoom\"", SECRET),
];

#[test]
fn what_each_preset_signs_holds_and_nothing_else_does() {
    let known: Vec<_> = fencepost_identity::config::preset_names().collect();
    let signing = SIGNING.iter().map(|(name, ..)| *name);
    let expected: Vec<_> = signing.chain(["discord"]).collect();
    assert!(
        known.iter().all(|name| expected.contains(name)),
        "{known:?}"
    );
    assert_eq!(known.len(), expected.len());

    let source = |verify: &str, name: &str| {
        let secret = name.replace('-', "_");
        format!("verify = {verify}\nsecrets = [\"{secret}\"]")
    };
    let mut sources: Vec<_> = SIGNING
        .iter()
        .map(|(name, verify, _)| (*name, source(verify, name)))
        .collect();
    sources.push(("basic", source("{ kind = \"basic\" }", "basic")));
    sources.push(("discord", source("\"discord\"", "discord")));
    let texts: Vec<_> = sources
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let basic = "user:pass:0123456789ab";
    let mut place = project(&texts).with("SPIN_VARIABLE_BASIC", basic).with(
        "SPIN_VARIABLE_DISCORD",
        "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
    );
    for (name, _, secret) in SIGNING {
        let variable = name.replace('-', "_").to_ascii_uppercase();
        place = place.with(&format!("SPIN_VARIABLE_{variable}"), secret);
    }
    for name in SIGNING.iter().map(|(name, ..)| *name).chain(["basic"]) {
        round_trip(&place, name);
    }
    let ran = place.run_with(&["sign", "--source", "discord", "-"], BODY);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("key is public"), "{ran:?}");
}

fn round_trip(place: &Place, name: &str) {
    let body = r#"{"id":"r-1","webhookTimestamp":1800000000000}"#;
    let sign = [
        "sign",
        "--source",
        name,
        "--at",
        "2027-01-15T08:00:00Z",
        "-",
    ];
    let signed = place.run_with(&sign, body);
    assert_eq!(signed.code, Some(0), "{name}: {signed:?}");
    let headers: Vec<_> = signed.stdout.lines().collect();
    let check = |headers: &[&str], body: &str| {
        let headers = headers.iter().flat_map(|header| ["-H", header]);
        let mut arguments = vec!["verify", "--source", name, "--at", AT];
        arguments.extend(headers);
        arguments.push("-");
        answer(&place.run_with(&arguments, body))
    };
    let (code, held) = check(&headers, body);
    assert_eq!(
        (code, &held["verdict"]),
        (Some(0), &json!("accepted")),
        "{name}: {held}"
    );
    let covers = held["covers"].as_str().unwrap();
    let sender_only = matches!(name, "gitlab-token" | "basic");
    assert_eq!(covers == "sender_only", sender_only, "{name}");

    // The last header is that of the signature.
    let (last, others) = headers.split_last().unwrap();
    let mut changed = last.to_string();
    let digit = changed.pop().filter(|digit| *digit != '=').unwrap_or('=');
    changed.push(if digit == '0' { '1' } else { '0' });
    let changed_headers = [others, &[changed.as_str()]].concat();
    let (code, refused) = check(&changed_headers, body);
    assert_eq!(
        (code, &refused["verdict"]),
        (Some(1), &json!("refused")),
        "{name}: {refused}"
    );
    let (code, refused) = check(&headers, &body.replace("r-1", "r-2"));
    assert_eq!(code, Some(i32::from(!sender_only)), "{name}: {refused}");
}
