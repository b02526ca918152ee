//! The sources of `fencepost.toml`: every mistake is told with its line, its key and a remedy.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fencepost_identity::{
    config::{Filter, InputForm, SecretName, Secrets, Senders, Source, Sources},
    identity::Tenant,
    json,
    mapping::{TenantForm, VersionForm},
};
use proptest::prelude::*;

const COMPLETE: &str = r#"
[source.github-comments]
verify = "github"
secrets = ["github_secret", { name = "github_old", not_after = 2027-01-01T00:00:00Z }]
sender = "trusted"
pipeline = "moderation"
filter = { "/action" = ["created", "edited", 7, true] }
max_body_bytes = 1_048_576

[source.github-comments.identity]
tenant = { pointer = "/repository/owner/id" }
namespace = "github-issue-comment"
report_id = "/comment/id"
version = { content = ["/comment/body"] }
order = "/comment/updated_at"

[source.github-comments.input]
text = "/comment/body"

[source.github-comments.links]
page = "/comment/html_url"

[pipeline.moderation]
schema = "the backend reads this"

[worker]
drain_seconds = "and this"
"#;

fn parse(text: &str) -> Result<Sources, String> {
    Sources::parse(text).map_err(|errors| errors.to_string())
}

/// The mistakes of the complete file with one piece of it exchanged.
fn mistakes(piece: &str, by: &str) -> String {
    assert!(COMPLETE.contains(piece), "{piece}");
    parse(&COMPLETE.replacen(piece, by, 1)).unwrap_err()
}

#[test]
fn a_source_is_read_whole() {
    let sources = parse(COMPLETE).unwrap();
    let source = sources.get("github-comments").unwrap();
    assert_eq!(source.verify.preset.as_deref(), Some("github"));
    assert_eq!(source.senders, Senders::Any);
    assert_eq!(source.max_body_bytes, 1_048_576);
    assert_eq!(source.ack_deadline_ms, 2_500);
    assert_eq!(
        source.order.as_ref().unwrap().as_str(),
        "/comment/updated_at"
    );
    let InputForm::Forwarded(input) = &source.input else {
        panic!()
    };
    assert_eq!(input[0].0, "text");
    assert_eq!(source.links[0].1.as_str(), "/comment/html_url");
    assert!(matches!(source.mapping.version, VersionForm::Content(ref list) if list.len() == 1));
    let Secrets::Named(names) = &source.secrets else {
        panic!()
    };
    let old = SecretName {
        variable: "github_old".into(),
        not_after: Some(1_798_761_600),
    };
    assert_eq!(names[1], old);
    assert!(old.is_live(1_798_761_600));
    assert!(!old.is_live(1_798_761_601));
    let matches = |document: &str| {
        let payload = json::parse(document.as_bytes()).unwrap();
        source
            .filter
            .iter()
            .all(|filter: &Filter| filter.matches(&payload))
    };
    assert!(matches(r#"{"action":"edit\u0065d"}"#));
    assert!(matches(r#"{"action":7}"#) && matches(r#"{"action":true}"#));
    for other in [
        r#"{"action":"deleted"}"#,
        r#"{"action":"7"}"#,
        r#"{"action":null}"#,
        "{}",
        "[]",
    ] {
        assert!(!matches(other), "{other}");
    }
    assert!(sources.get("github").is_none());
}

#[test]
fn an_unknown_key_is_told_with_the_nearest_known_one() {
    assert_eq!(
        mistakes("pipeline = ", "pipelin = \"x\"\npipeline = "),
        "line 6: `source.github-comments.pipelin`: this key is not known; did you mean `pipeline`?"
    );
    assert!(mistakes("order =", "ordre =").contains("did you mean `order`?"));
    assert!(
        mistakes("[pipeline.moderation]", "[zzzzzzzz]\n[pipeline.moderation]")
            .contains("`zzzzzzzz`: this key is not known; known here are: ")
    );
    assert!(
        mistakes("verify = \"github\"", "verify = \"githb\"").contains("did you mean `github`?")
    );
}

#[test]
fn every_mistake_is_told_at_once_by_line() {
    let text = COMPLETE
        .replacen("sender = \"trusted\"", "sender = \"anyone\"", 1)
        .replacen("\"/comment/id\"", "\"comment/id\"", 1)
        .replacen("\"/comment/html_url\"", "3", 1);
    let mistakes = parse(&text).unwrap_err();
    let lines: Vec<&str> = mistakes
        .lines()
        .map(|line| line.split_once(':').unwrap().0)
        .collect();
    assert_eq!(lines, ["line 5", "line 13", "line 21"], "{mistakes}");
}

/// A piece of the complete file, what stands in its place, and what is said of it.
const REFUSED_AT_LOAD: &[(&str, &str, &str)] = &[
    (
        "pipeline = \"moderation\"",
        "pipeline = \"other\"",
        "the pipeline `other` is not in",
    ),
    ("verify = \"github\"\n", "", "the key `verify` is missing"),
    (
        "verify = \"github\"",
        "verify = {}",
        "the table `signature` is missing",
    ),
    (
        "[\"github_secret\", ",
        "[\"It's a Secret!\", ",
        "not the secret itself",
    ),
    ("sender = \"trusted\"\n", "", "the payload names the tenant"),
    (
        "sender = \"trusted\"",
        "sender = \"trusted\"\ntenants = [\"a\"]",
        "not both",
    ),
    ("sender = \"trusted\"", "tenants = [\"\"]", "is empty"),
    (
        "\"created\", \"edited\", 7, true",
        "",
        "no delivery would ever match",
    ),
    (
        "\"created\", ",
        "1.5, ",
        "must be a string, a decimal integer, true or false",
    ),
    (
        "max_body_bytes = 1_048_576",
        "max_body_bytes = 0",
        "an integer from 1 to",
    ),
    (
        "max_body_bytes = 1_048_576",
        "max_body_bytes = 1e6",
        "an integer from 1 to",
    ),
    (
        "namespace = \"github-issue-comment\"",
        "namespace = \"A b\"",
        "an id is neither",
    ),
    (
        "text = \"/comment/body\"",
        "text = \"\"",
        "would forward the whole payload",
    ),
    ("text = \"/comment/body\"", "", "at least one name"),
    (
        "{ content = [\"/comment/body\"] }",
        "{ content = [] }",
        "at least one pointer",
    ),
    (
        "{ content = [\"/comment/body\"] }",
        "\"evnt\"",
        "one of { revision",
    ),
    (
        "{ content = [\"/comment/body\"] }",
        "{}",
        "one of { revision",
    ),
    (
        "{ pointer = \"/repository/owner/id\" }",
        "{ route = false }",
        "exactly one of",
    ),
    (
        "{ pointer = \"/repository/owner/id\" }",
        "{}",
        "exactly one of",
    ),
    (
        "{ pointer = \"/repository/owner/id\" }",
        "{ route = true }",
        "its own secret",
    ),
    (
        "2027-01-01T00:00:00Z",
        "2027-01-01",
        "a date and time with offset",
    ),
    (
        "[source.github-comments]\n",
        "[source.\"a b\"]\n",
        "a source is named by",
    ),
];

#[test]
fn what_would_be_wrong_at_run_time_is_refused_at_load() {
    for (piece, by, expected) in REFUSED_AT_LOAD {
        let mistakes = mistakes(piece, by);
        assert!(mistakes.contains(expected), "{by}\n{mistakes}");
        assert!(!mistakes.contains("It's a Secret!"), "{mistakes}");
    }
    assert!(
        parse("")
            .unwrap_err()
            .contains("the key `source` is missing")
    );
    assert!(parse("[source.a\n").unwrap_err().starts_with("line 1: "));
}

#[test]
fn a_tenant_of_the_route_has_a_secret_of_its_own() {
    let base = COMPLETE.replacen(
        "{ pointer = \"/repository/owner/id\" }",
        "{ route = true }",
        1,
    );
    let secrets = |by: &str| {
        let (before, after) = base.split_once("secrets = ").unwrap();
        let (_, after) = after.split_once('\n').unwrap();
        parse(&format!("{before}secrets = {by}\n{after}"))
            .map(|sources| sources.get("github-comments").unwrap().clone())
    };
    let source: Source = secrets("[\"acme_{tenant}\"]").unwrap();
    assert_eq!(source.mapping.tenant, TenantForm::Route);
    assert!(matches!(source.secrets, Secrets::PerTenant(_)));
    let source = secrets("{ derive_from = \"master\" }").unwrap();
    assert_eq!(source.secrets, Secrets::DerivedFrom("master".into()));
    for bad in [
        "[\"{tenant}{tenant}\"]",
        "[\"shared\"]",
        "{ derive_from = \"Ma\" }",
        "{ derive_from = \"master_{tenant}\" }",
        "{}",
        "[]",
    ] {
        assert!(secrets(bad).is_err(), "{bad}");
    }
}

#[test]
fn no_tenant_names_another_secret() {
    let fixed = |name: &str, tenant: &str, secrets: &str| {
        COMPLETE
            .replacen("{ pointer = \"/repository/owner/id\" }", tenant, 1)
            .replacen("github_secret", secrets, 1)
            .replace("github-comments", name)
            .replace("github-issue-comment", name)
            .replacen("github_old", &format!("{secrets}_old"), 1)
    };
    let read = |pattern: &str, other: &str| {
        let route = fixed("routed", "{ route = true }", pattern);
        let (sources, _) = other.split_once("[pipeline").unwrap();
        parse(&format!("{sources}{route}"))
    };
    let acme = fixed("acme", "{ value = \"acme\" }", "github_acme");
    let refused = [
        ("{tenant}", "the tenant `edge_secret`"),
        ("backend_{tenant}", "the tenant `url`"),
        ("b{tenant}l", "the tenant `ackend_ur`"),
        ("github_acme_{tenant}", "the tenant `old`"),
    ];
    for (pattern, expected) in refused {
        let mistakes = read(pattern, &acme).unwrap_err();
        assert!(mistakes.contains(expected), "{mistakes}");
    }
    // A tenant's own secret may stand in a source of its own.
    let one = acme.replacen(
        ", { name = \"github_acme_old\", not_after = 2027-01-01T00:00:00Z }",
        "",
        1,
    );
    assert_ne!(one, acme);
    assert!(read("github_{tenant}", &one).is_ok());
    let stranger = one.replacen("{ value = \"acme\" }", "{ value = \"globex\" }", 1);
    let mistakes = read("github_{tenant}", &stranger).unwrap_err();
    assert!(
        mistakes.contains("`github_acme` for its secret"),
        "{mistakes}"
    );
}

#[test]
fn a_filter_compares_integers_however_they_are_written() {
    let text = COMPLETE.replacen("7, true", "+7, -0, 1_000", 1);
    let source = parse(&text)
        .unwrap()
        .get("github-comments")
        .unwrap()
        .clone();
    for (value, matches) in [
        ("7", true),
        ("0", true),
        ("-0", true),
        ("1000", true),
        ("1", false),
    ] {
        let payload = format!("{{\"action\":{value}}}");
        let payload = json::parse(payload.as_bytes()).unwrap();
        assert_eq!(source.filter[0].matches(&payload), matches, "{value}");
    }
}

#[test]
fn a_namespace_is_shared_only_with_one_meaning() {
    let (head, tail) = COMPLETE.split_once("[pipeline").unwrap();
    let second = head.replace("source.github-comments", "source.second");
    let both = |second: &str| parse(&format!("{head}{second}[pipeline{tail}"));
    assert!(both(&second).is_ok());
    for (piece, by) in [
        (
            "report_id = \"/comment/id\"",
            "report_id = \"/comment/node_id\"",
        ),
        ("text = \"/comment/body\"", "text = \"/comment/title\""),
    ] {
        let error = both(&second.replacen(piece, by, 1)).unwrap_err();
        assert!(
            error.contains("shares the namespace `github-issue-comment`"),
            "{error}"
        );
    }
}

#[test]
fn a_sender_may_name_only_its_tenants() {
    let text = COMPLETE.replacen("sender = \"trusted\"", "tenants = [\"acme\"]", 1);
    let senders = parse(&text)
        .unwrap()
        .get("github-comments")
        .unwrap()
        .senders
        .clone();
    assert!(senders.may_name(&Tenant::new("acme").unwrap()));
    assert!(!senders.may_name(&Tenant::new("Acme").unwrap()));
}

proptest! {
    #[test]
    fn no_file_makes_it_panic(at in 0..COMPLETE.len(), with in "[\\[\\]{}=\"a-z0-9 .\n]{0,3}") {
        let mut text = COMPLETE.to_owned();
        text.replace_range(at..(at + 1), &with);
        let _outcome = parse(&text);
    }
}
