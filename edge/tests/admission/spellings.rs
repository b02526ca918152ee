//! Names of headers, several signatures, and what a URL is made of.

use crate::{
    configuration::{OLD_SECRET, SECRET, WHSEC},
    request::Request,
    world::{Seen, World},
};

const BODY: &str = r#"{"id":"r-1"}"#;

fn values(world: &World, header: &str) -> String {
    let request = world.signed(BODY);
    let found = request.headers.iter().find(|(name, _)| name == header);
    String::from_utf8(found.unwrap().1.clone()).unwrap()
}

#[test]
fn one_spelling_of_the_headers_counts_and_none_is_mixed() {
    let world = World::hook(r#"verify = "standard-webhooks""#).setting("secret", WHSEC);
    let names = ["signature", "id", "timestamp"];
    let spelled = |spellings: [&str; 3]| {
        let request = Request::new("/hooks/hook", BODY);
        names
            .iter()
            .zip(spellings)
            .fold(request, |request, (name, spelling)| {
                let value = values(&world, &format!("webhook-{name}"));
                request.header(&format!("{spelling}-{name}"), value)
            })
    };
    for spelling in ["webhook", "svix", "Svix", "WEBHOOK"] {
        world.deliver(&spelled([spelling; 3])).is_stored();
    }
    let seen = world.deliver(&spelled(["svix", "webhook", "svix"]));
    seen.is_refused(400, "bad_signature_format", "malformed_message_id");
    let seen = world.deliver(&spelled(["svix", "svix", "webhook"]));
    seen.is_refused(400, "bad_timestamp", "malformed_timestamp");
    let both =
        spelled(["svix"; 3]).header("webhook-signature", values(&world, "webhook-signature"));
    let seen = world.deliver(&both);
    seen.is_refused(400, "bad_signature_format", "repeated_header");
    // The id and the time of the other spelling are nobody's.
    let more = spelled(["svix"; 3])
        .header("webhook-id", "x")
        .header("webhook-timestamp", "y");
    world.deliver(&more).is_stored();
    for (again, code, reason) in [
        (
            "webhook-signature",
            "bad_signature_format",
            "repeated_header",
        ),
        ("webhook-id", "bad_signature_format", "repeated_header"),
        ("webhook-timestamp", "bad_timestamp", "malformed_timestamp"),
    ] {
        let request = spelled(["webhook"; 3]).header(again, values(&world, again));
        world.deliver(&request).is_refused(400, code, reason);
    }
    // GitLab has one spelling.
    let gitlab = World::hook(r#"verify = "gitlab""#).setting("secret", WHSEC);
    gitlab.deliver(&spelled(["webhook"; 3])).is_stored();
    let seen = gitlab.deliver(&spelled(["svix"; 3]));
    seen.is_refused(401, "unauthorized", "no_signature");
}

#[test]
fn a_second_header_may_carry_a_second_signature() {
    let source = r#"
[source.hook.verify.signature]
header = "X-Sig"
extra_headers = ["X-Sig-2"]
encoding = "base64"
"#;
    let world = World::hook(source);
    let good = values(&world, "x-sig");
    let other = World::hook(source).setting("secret", OLD_SECRET);
    let other = values(&other, "x-sig");
    let deliver = |headers: &[(&str, &str)]| {
        let request = Request::new("/hooks/hook", BODY);
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(name, *value)
        });
        world.deliver(&request)
    };
    deliver(&[("x-sig", &good)]).is_stored();
    deliver(&[("x-sig", &other), ("x-sig-2", &good)]).is_stored();
    deliver(&[("x-sig-2", &other), ("x-sig", &good)]).is_stored();
    let seen = deliver(&[("x-sig", &other), ("x-sig-2", &other)]);
    seen.is_refused(401, "unauthorized", "signature_mismatch");
    deliver(&[("x-sig-2", &good)]).is_refused(401, "unauthorized", "no_signature");
    let seen = deliver(&[("x-sig", &good), ("x-sig-2", "no base64")]);
    seen.is_refused(400, "bad_signature_format", "malformed_signature");
    for again in ["x-sig", "x-sig-2"] {
        let seen = deliver(&[("x-sig", &good), ("x-sig-2", &good), (again, &good)]);
        seen.is_refused(400, "bad_signature_format", "repeated_header");
    }
}

#[test]
fn a_list_may_come_in_several_lines() {
    let source = r#"
[source.hook.verify.signature]
header = "X-Sig"
shape = "list"
prefix = "sha256="
encoding = "hex"
"#;
    let world = World::hook(source);
    let good = values(&world, "x-sig");
    let bad = format!("sha256={}", "0".repeat(64));
    let deliver = |lines: &[&str]| {
        let request = Request::new("/hooks/hook", BODY);
        let request = lines
            .iter()
            .fold(request, |request, line| request.header("X-Sig", *line));
        world.deliver(&request)
    };
    deliver(&[&good]).is_stored();
    deliver(&[&bad, &bad, &good]).is_stored();
    deliver(&[&format!("{bad}, {good}"), &bad]).is_stored();
    deliver(&[&bad, &bad]).is_refused(401, "unauthorized", "signature_mismatch");
    let malformed = |seen: Seen| {
        seen.is_refused(400, "bad_signature_format", "malformed_signature");
    };
    malformed(deliver(&[&good, ""]));
    malformed(deliver(&[&format!("{good},")]));
    malformed(deliver(&[&format!("{good} {bad}")]));
    malformed(deliver(&[&good, "sha1=00"]));
    let many = vec![bad.as_str(); 31];
    deliver(&[many.as_slice(), &[&good]].concat()).is_stored();
    malformed(deliver(&[many.as_slice(), &[&good, &good]].concat()));
    malformed(deliver(&[&vec![bad.as_str(); 5000].join(",")]));
}

#[test]
fn a_url_is_the_configurations_whatever_the_request_says() {
    let square = |url: &str| {
        World::hook(&format!(
            "verify = {{ preset = \"square\", url = \"{url}\" }}"
        ))
    };
    let world = square("https://edge.test/hook");
    let header = "x-square-hmacsha256-signature";
    let published = "0iYdl5XdhTuS0fMKXWGacQMxNXCOM2ugaDjBE0jCI7E=";
    let body = r#"{"id":"r-1","rev":1}"#;
    let request = Request::new("/hooks/hook", body).header(header, published);
    let stored = world.deliver(&request).is_stored();
    let surroundings = [
        ("Host", "evil.test"),
        ("X-Forwarded-Host", "evil.test"),
        ("X-Forwarded-Proto", "http"),
        ("X-Forwarded-Prefix", "/x"),
        ("Forwarded", "host=evil.test;proto=http"),
        ("X-Original-URL", "/x"),
        ("spin-full-url", "http://evil.test/x"),
        ("Origin", "https://x.test"),
        ("Access-Control-Request-Method", "POST"),
    ];
    for (name, value) in surroundings {
        let seen = world.deliver(&request.clone().header(name, value));
        assert_eq!(seen.is_stored(), stored, "{name}");
        assert!(
            seen.answer
                .headers
                .iter()
                .all(|(name, _)| *name == "content-type")
        );
    }
    assert_eq!(
        world.deliver(&request.clone().asking("x=1")).is_stored(),
        stored
    );
    // Signed for what stands in front of the edge, or behind it.
    for url in [
        "http://10.0.0.5:3000/hook",
        "https://edge.test/hook/",
        "https://evil.test/hook",
    ] {
        let other = square(url).signed(body);
        for (name, value) in [("Host", "10.0.0.5:3000"), ("Host", "evil.test")] {
            let seen = world.deliver(&other.clone().header(name, value));
            seen.is_refused(401, "unauthorized", "signature_mismatch");
        }
    }
}

#[test]
fn a_url_names_the_tenant_as_it_was_received() {
    let source = r#"
secrets = ["secret_of_{tenant}"]
identity.tenant = { route = true }
verify = { preset = "square", url = "https://edge.test/hooks/hook/{tenant}" }
"#;
    let world = World::hook(source)
        .setting("secret_of_acme", SECRET)
        .setting("secret_of_other", SECRET);
    let request = world.signed_at("/hooks/hook/acme", BODY);
    let envelope = world.deliver(&request).is_stored();
    assert_eq!(envelope.identity.tenant.as_str(), "acme");
    // The same secret, and the URL of somebody else.
    let moved = Request {
        path: "/hooks/hook/other".to_owned(),
        ..request.clone()
    };
    let seen = world.deliver(&moved);
    seen.is_refused(401, "unauthorized", "signature_mismatch");
    // A sender signs what it wrote, escapes and all.
    let escaped = "/hooks/hook/%61cme";
    let seen = world.deliver(&world.signed_at(escaped, BODY));
    assert_eq!(seen.is_stored().identity.tenant.as_str(), "acme");
    let seen = world.deliver(&Request {
        path: escaped.to_owned(),
        ..request
    });
    seen.is_refused(401, "unauthorized", "signature_mismatch");
}
