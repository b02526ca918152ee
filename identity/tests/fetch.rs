//! Content by reference: how it is configured, where it is, and what the edge forwards of it.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use fencepost_identity::{
    admission::{Delivery, Entrance, Payload},
    config::{Fetch, Host, InputForm, Source, Sources, Unplaceable},
    envelope::{Envelope, EnvelopeError},
    identity::Identity,
};
use serde_json::json;

const FETCH: &str = r#"
url = "https://api.example.com/repos/{link.repository}/compare/{link.base}...{link.head}"
"#;

/// A source whose content is fetched, with this table.
fn file(fetch: &str) -> String {
    format!(
        "[source.code]\nverify = \"github\"\nsecrets = [\"a\"]\npipeline = \"p\"\n\
         input = \"reference\"\n[source.code.identity]\ntenant = {{ value = \"acme\" }}\n\
         report_id = \"/id\"\nversion = {{ content = [\"/head\"] }}\norder = \"/at\"\n\
         [source.code.links]\nrepository = \"/repository\"\nbase = \"/base\"\nhead = \"/head\"\n\
         page = \"/page\"\n[source.code.fetch]\n{fetch}\n[pipeline.p]\n"
    )
}

fn read(text: &str) -> Result<Source, String> {
    let sources = Sources::parse(text).map_err(|errors| errors.to_string())?;
    Ok(sources.get("code").unwrap().clone())
}

fn fetch(table: &str) -> Fetch {
    match read(&file(table)).unwrap().input {
        InputForm::Reference(fetch) => *fetch,
        InputForm::Forwarded(_) => panic!("a reference"),
    }
}

fn mistake(table: &str) -> String {
    read(&file(table)).unwrap_err()
}

fn identity(report_id: &str) -> Identity {
    let identity = json!({"tenant": "a/cme", "namespace": "code", "report_id": report_id,
        "version": {"revision": 7}});
    Identity::from_json(identity.to_string().as_bytes()).unwrap()
}

fn links(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, link)| ((*name).to_owned(), (*link).to_owned()))
        .collect()
}

#[test]
fn a_table_is_read_whole_and_has_defaults() {
    let read = fetch(FETCH);
    assert_eq!(read.hosts, [Host::parse("api.example.com").unwrap()]);
    assert_eq!((read.headers.len(), read.token_variable), (0, None));
    assert_eq!((read.max_bytes, read.timeout.as_secs()), (1_048_576, 20));
    assert_eq!((read.allow_private.len(), read.name.as_str()), (0, "text"));
    let read = fetch(
        r#"
        url = "http://127.0.0.1:8080/{tenant}/{namespace}/{report_id}/{version}?at={link.head}"
        hosts = ["127.0.0.1:8080", "[::1]:80", "Other.Example.com"]
        headers = { Accept = "application/vnd.github.diff" }
        token_env = "GITHUB_TOKEN"
        max_bytes = 10
        timeout_seconds = 5
        allow_private = ["127.0.0.1", "10.0.0.0/8", "fd00::/8"]
        name = "diff"
        "#,
    );
    let hosts: Vec<_> = read.hosts.iter().map(ToString::to_string).collect();
    assert_eq!(hosts, ["127.0.0.1:8080", "[::1]:80", "other.example.com"]);
    assert_eq!(read.headers[0].0, "accept");
    assert_eq!(read.token_variable.as_deref(), Some("GITHUB_TOKEN"));
    assert_eq!((read.max_bytes, read.timeout.as_secs()), (10, 5));
    assert_eq!((read.allow_private.len(), read.name.as_str()), (3, "diff"));
}

#[test]
fn what_is_wrong_is_told() {
    const TOLD: &str = r#"
url = "ftp://a.example/x"  ~  begins with `https://`
url = "https://{link.head}.example/x"  ~  the host stands as it is
url = "https://user:pass@a.example/x"  ~  no name and no password
url = "https://a.example"  ~  a path begins with `/`
url = "https://a.example?x={link.head}"  ~  a path begins with `/`
url = "https://a_b.example:0/x"  ~  a host is a name
url = "https://2130706433/x"  ~  a host is a name
url = "https://0x7f.1/x"  ~  a host is a name
url = "https://[::1/x"  ~  a host is a name
url = "https://bücher.example/x"  ~  a host is a name
url = "https://a.example/{link.head"  ~  a `{` is not closed
url = "https://a.example/{report}"  ~  what is placed is {tenant}
url = "https://a.example/{link.tail}"  ~  the source has no link `tail`
url = "{link.tail}"  ~  the source has no link `tail`
url = "https://a.example/x#y"  ~  only characters that may stand
url = "https://a.example/x\\y"  ~  only characters that may stand
url = "https://a.example/x y"  ~  only characters that may stand
url = "https://a.example/../{link.head}"  ~  the segment `..` would lead elsewhere
url = "https://a.example/%2E%2e/{link.head}"  ~  the segment `%2E%2e` would lead elsewhere
url = "http://a.example/x"  ~  without TLS only addresses that `allow_private` lists
url = "{link.page}"  ~  list in `hosts` whom it may name
url = "https://a.example/x" \n hosts = []  ~  at least one host
url = "https://a.example/x" \n hosts = ["b.example"]  ~  does not list the host of `url`
url = "https://a.example/x" \n hosts = ["a.example/x"]  ~  a host is a name
url = "{link.page}" \n hosts = ["a.example", "b.example"] \n token_env = "T"  ~  list one
url = "https://a.example/x" \n token_env = "ghp_secret"  ~  the name of an environment variable
url = "https://a.example/x" \n headers = { Authorization = "x" }  ~  this header is not set here
url = "https://a.example/x" \n headers = { "a b" = "x" }  ~  a header's name
url = "https://a.example/x" \n headers = { a = "ü" }  ~  a header's value
url = "https://a.example/x" \n allow_private = ["10.0.0.0/33"]  ~  a network such as
url = "https://a.example/x" \n max_bytes = 0  ~  an integer from 1
url = "https://a.example/x" \n timeout_seconds = 1000  ~  an integer from 1 to 120
url = "https://a.example/x" \n name = ""  ~  a name of 1 to 64 bytes
url = "https://a.example/x" \n host = ["a.example"]  ~  did you mean `hosts`
hosts = ["a.example"]  ~  the key `url` is missing
"#;
    for line in TOLD.trim().lines() {
        let (table, told) = line.split_once("  ~  ").unwrap();
        let mistakes = mistake(&table.replace(" \\n ", "\n"));
        assert!(mistakes.contains(told), "{table}: {mistakes}");
        assert!(!mistakes.contains("ghp_secret"), "{mistakes}");
    }
    let no_table = file(FETCH).replace("[source.code.fetch]", "[source.code.elsewhere]");
    let mistakes = read(&no_table).unwrap_err();
    assert!(mistakes.contains("in a table `fetch`"), "{mistakes}");
    let forwarded = file(FETCH).replace("input = \"reference\"", "input = { text = \"/text\" }");
    let mistakes = read(&forwarded).unwrap_err();
    assert!(mistakes.contains("nothing is fetched unless"), "{mistakes}");
    let event = file("url = \"https://a.example/{version}\"");
    let event = event.replace("{ content = [\"/head\"] }", "\"event\"");
    let mistakes = read(&event).unwrap_err();
    assert!(mistakes.contains("`{version}` is nothing"), "{mistakes}");
}

#[test]
fn what_is_placed_stays_one_segment_or_value() {
    let of = |url: &str, id: &str, pairs: &[(&str, &str)]| {
        let table = format!("url = \"{url}\"");
        fetch(&table).address.of(&identity(id), &links(pairs))
    };
    let all = "https://a.example/{tenant}/{namespace}/{report_id}/{version}?h={link.head}&x=1";
    assert_eq!(
        of(all, "8812", &[("head", "a b&c=d#e")]).unwrap(),
        "https://a.example/a%2Fcme/code/8812/7?h=a%20b%26c%3Dd%23e&x=1"
    );
    let range = "https://a.example/{link.base}...{link.head}";
    let found = of(range, "1", &[("base", "v1.0~a_b-C"), ("head", "feature/ü")]);
    assert_eq!(
        found.unwrap(),
        "https://a.example/v1.0~a_b-C...feature%2F%C3%BC"
    );
    let one = "https://a.example/{report_id}/end";
    for (id, placed) in [
        ("a/b", "a%2Fb"),
        ("a\\b", "a%5Cb"),
        ("a..b/.c", "a..b%2F.c"),
        ("%2e%2e", "%252e%252e"),
        ("//evil.example/x", "%2F%2Fevil.example%2Fx"),
        ("x?y", "x%3Fy"),
        ("@evil", "%40evil"),
        ("a;b:c,d+e", "a%3Bb%3Ac%2Cd%2Be"),
        ("...x", "...x"),
    ] {
        let expected = format!("https://a.example/{placed}/end");
        assert_eq!(of(one, id, &[]).unwrap(), expected);
    }
    // Some servers decode a segment and go where its steps lead.
    for id in [".", "..", "...", "../../admin", "a/..", "./a", "a\\..\\b"] {
        let nothing = Unplaceable::NoSegment("report_id".to_owned());
        assert_eq!(of(one, id, &[]), Err(nothing), "{id}");
    }
    let head = "https://a.example/{link.head}";
    let missing = Unplaceable::NoLink("head".to_owned());
    assert_eq!(missing.to_string(), "the report has no link `head`");
    assert_eq!(of(head, "1", &[("base", "x")]), Err(missing));
    let empty = Unplaceable::NoSegment("link.head".to_owned());
    assert_eq!(of(head, "1", &[("head", "")]), Err(empty));
    let long = "ü".repeat(2_000);
    assert_eq!(of(head, "1", &[("head", &long)]), Err(Unplaceable::TooLong));
}

#[test]
fn a_whole_link_is_taken_as_it_is() {
    let table = "url = \"{link.page}\"\nhosts = [\"a.example\"]\ntoken_env = \"T\"";
    let address = fetch(table).address;
    let page = links(&[("page", "https://a.example/x?y=1")]);
    assert_eq!(address.host(), None);
    let found = address.of(&identity("1"), &page).unwrap();
    assert_eq!(found, "https://a.example/x?y=1");
}

#[test]
fn a_host_is_at_its_port_and_in_no_other_spelling() {
    let is_at = |host: &str, at: &str, port, own| Host::parse(host).unwrap().is_at(at, port, own);
    assert!(is_at("A.example", "a.example", 443, Some(443)));
    assert!(!is_at("a.example", "a.example", 8443, Some(443)));
    assert!(is_at("a.example:8443", "a.example", 8443, Some(443)));
    assert!(is_at("a.example:443", "a.example", 443, Some(443)));
    assert!(!is_at(
        "a.example",
        "a.example.evil.example",
        443,
        Some(443)
    ));
    assert!(!is_at("a.example", "a.example.", 443, Some(443)));
    assert!(is_at("[0:0::1]", "[::1]", 80, Some(80)));
    assert!(is_at("[::ffff:1.2.3.4]", "[::ffff:102:304]", 80, Some(80)));
    assert!(!is_at("127.0.0.1", "127.0.0.2", 80, Some(80)));
}

#[test]
fn sources_that_share_a_namespace_share_what_is_fetched() {
    let one = file(FETCH).replace("[pipeline.p]\n", "");
    let one = one.replace("order = ", "namespace = \"code\"\norder = ");
    let second = |from: &str, to: &str| {
        let other = one.replace("source.code", "source.other").replace(from, to);
        read(&format!("{one}\n{other}\n[pipeline.p]\n"))
    };
    assert!(second("", "").is_ok());
    for (from, to) in [
        ("api.example.com", "api2.example.com"),
        ("head = \"/head\"", "head = \"/other\""),
        (
            "[source.other.fetch]\n",
            "[source.other.fetch]\nmax_bytes = 5\n",
        ),
    ] {
        let mistakes = second(from, to).unwrap_err();
        assert!(
            mistakes.contains("shares the namespace `code`"),
            "{mistakes}"
        );
    }
}

/// The envelope of a delivery whose content is fetched.
fn envelope() -> Envelope {
    let sources = Sources::parse(&file(FETCH)).unwrap();
    let delivery = Delivery {
        method: "POST",
        path: "/hooks/code",
        query: None,
        headers: &[],
    };
    let entrance = Entrance::find(&sources, &delivery).unwrap();
    let body = json!({"id": 1, "head": "abc", "at": "2026", "repository": 5, "base": "def",
        "page": "https://example.org/1", "title": "canary", "n": {"body": "canary"}});
    match entrance.rehearse(body.to_string().as_bytes()).unwrap() {
        Payload::Report(envelope) => *envelope,
        Payload::Ignored => panic!("a report"),
    }
}

#[test]
fn an_envelope_by_reference_has_neither_input_nor_its_hash() {
    let envelope = envelope();
    assert_eq!(envelope.input, None);
    let body = envelope.to_json();
    let members: serde_json::Map<_, _> = serde_json::from_str(&body).unwrap();
    let names: Vec<_> = members.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "identity",
            "links",
            "mapping_digest",
            "order",
            "report_key",
            "source"
        ]
    );
    assert!(!body.contains("canary"));
    assert_eq!(Envelope::from_json(body.as_bytes()), Ok(envelope));
}

#[test]
fn half_an_input_is_refused() {
    let body = envelope().to_json();
    let with = |members: &str| {
        let body = body.replacen('{', &format!("{{{members},"), 1);
        Envelope::from_json(body.as_bytes()).unwrap_err()
    };
    let hash = format!("\"input_hash\":\"{}\"", "0".repeat(64));
    assert_eq!(with(&hash), EnvelopeError::Malformed("input"));
    let without_hash = with("\"input\":{\"text\":\"a\"}");
    assert_eq!(without_hash, EnvelopeError::Malformed("input_hash"));
    assert_eq!(with("\"input\":null"), EnvelopeError::Malformed("input"));
    let null_hash = with("\"input_hash\":null");
    assert_eq!(null_hash, EnvelopeError::Malformed("input"));
}
