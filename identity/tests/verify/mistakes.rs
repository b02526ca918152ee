//! What can't be said of a scheme or a source.

use fencepost_identity::config::{Sources, Verify};

use crate::parse;

/// A scheme without mistakes.
const GOOD: &str = r#"
[verify]
algorithm = "sha256"
template = "{id}.{timestamp}.{body}"
tolerance_seconds = 300
[verify.signature]
header = "X-Sig"
shape = "prefix"
prefix = "sha256="
encoding = "hex"
[verify.timestamp]
header = "X-Ts"
format = "unix-seconds"
[verify.id]
header = "X-Id"
"#;

/// A part of it, what takes its place, and what is told of that; `\n` is a line's end.
const MISTAKES: &str = r##"
{id}.{timestamp}.{body}  ~  {id}.{timestamp}  ~  `verify.template`: `{body}` has to stand
.{body}  ~  .{body}{body}  ~  `verify.template`: `{body}` has to stand in it, once
.{body}  ~  .{bdy}  ~  `verify.template`: `{bdy}` is not known; known are {body}
.{body}  ~  .{body  ~  `verify.template`: a brace opens or closes nothing
.{body}  ~  .{body}}  ~  `verify.template`: a brace opens or closes nothing
{id}.  ~  {timestamp}.  ~  `verify.template`: no part may stand in it twice
{id}.  ~    ~  `verify.id`: it is not used: no `{id}` in the template
{id}.  ~  {url}{id}.  ~  `verify`: `{url}` is signed: say `url`
[verify.id]\nheader = "X-Id"  ~    ~  `verify`: `{id}` is signed: say `id`
= 300  ~  = 0  ~  `verify.tolerance_seconds`: an integer from 1 to 86400
= 300  ~  = 86401  ~  `verify.tolerance_seconds`: this must be an integer from 1 to 86400
= 300  ~  = "never"  ~  `verify.tolerance_seconds`: an integer from 1 to 86400
= 300  ~  = { past = 0, future = 1 }  ~  `verify.tolerance_seconds.past`: this must be
= 300  ~  = { past = 1 }  ~  `verify.tolerance_seconds`: the key `future` is missing
"sha256"  ~  "sha1"  ~  `verify`: this sender signs with SHA-1
"sha256"  ~  "md5"  ~  `verify.algorithm`: one of "sha256", "sha512"
"sha256"  ~  "sha256"\nallow_weak = true  ~  `verify.allow_weak`: nothing here is weak
"sha256"  ~  "sha256"\nurl = "https://x"  ~  `verify.url`: it is not used
"sha256"  ~  "sha256"\nurl = "x"  ~  `verify.url`: the public URL as it is registered
"sha256"  ~  "sha256"\nhandshake = "x"  ~  `verify.handshake`: this handshake is not
"sha256"  ~  "sha256"\nhandshake = "meta"  ~  `verify`: Meta asks with a token of yours
"sha256"  ~  "sha256"\nverify_token = "x"  ~  `verify.verify_token`: this key is not known
algorithm  ~  algoritm  ~  `verify.algoritm`: this key is not known; did you mean `algorithm`
"hex"  ~  "base32"  ~  `verify.signature.encoding`: one of: hex, base64, 
encoding = "hex"  ~    ~  `verify.signature`: the key `encoding` is missing
header = "X-Sig"  ~    ~  `verify.signature`: the key `header` is missing
"X-Sig"  ~  "X Sig"  ~  `verify.signature.header`: a name of letters
"X-Sig"  ~  []  ~  `verify.signature.header`: at least one name
"X-Sig"  ~  ["a", "b"]  ~  `verify`: each spelling of a signature's header needs
"prefix"  ~  "value"  ~  `verify.signature.prefix`: this key is not known
"prefix"  ~  "suffix"  ~  `verify.signature.shape`: one of "value", "prefix"
prefix = "sha256="  ~    ~  `verify.signature`: the key `prefix` is missing
"sha256="  ~  ""  ~  `verify.signature.prefix`: a text of visible ASCII
"unix-seconds"  ~  "unix"  ~  `verify.timestamp.format`: one of: unix-seconds, 
header = "X-Ts"  ~    ~  `verify.timestamp`: exactly one of `header`, `pair`
header = "X-Ts"  ~  pair = "t"  ~  `verify`: a timestamp in a pair needs
header = "X-Ts"  ~  pointer = "/t"  ~  `verify`: `{timestamp}` is signed: say in `timestamp`
header = "X-Ts"  ~  pointer = "t"  ~  `verify.timestamp.pointer`: 
"##;

/// Tables, and what is told of them.
const TABLES: &str = r##"
{ kind = "rsa" }  ~  `verify.kind`: one of "hmac", "ed25519"
{ kind = "token" }  ~  `verify`: the table `signature` is missing
{ kind = "token", signature = { header = "X", shape = "list" } }  ~  a token stands in
{ kind = "basic", template = "{body}" }  ~  `verify.template`: this key is not known
{ preset = "discord", handshake = "zoom" }  ~  is answered with a code by HMAC
{ preset = "shopify", tolerance_seconds = 9 }  ~  there is no `timestamp`
7  ~  the name of a preset, or a table
"##;

#[test]
fn every_mistake_in_a_scheme_is_told_where_it_stands() {
    assert!(Verify::parse(GOOD).is_ok());
    for line in MISTAKES.trim().lines() {
        let parts: Vec<_> = line
            .split("  ~  ")
            .map(|it| it.replace("\\n", "\n"))
            .collect();
        let [part, by, told] = &parts[..] else {
            panic!("{line}");
        };
        assert!(GOOD.contains(part), "{part}");
        let text = GOOD.replacen(part, by, 1);
        let mistakes = Verify::parse(&text).map_err(|errors| errors.to_string());
        let mistakes = mistakes.expect_err(&text);
        assert!(mistakes.contains(told), "{by}: {mistakes}");
    }
    for line in TABLES.trim().lines() {
        let (table, told) = line.split_once("  ~  ").unwrap();
        let mistakes = parse(table).unwrap_err();
        assert!(mistakes.contains(told), "{table}: {mistakes}");
    }
}

#[test]
fn what_a_source_cannot_have_is_told() {
    let source = |verify: &str, secrets: &str, tenant: &str, more: &str| {
        let text = format!(
            "[source.s]\nverify = {verify}\nsecrets = {secrets}\npipeline = \"p\"\n{more}\n\
             [source.s.identity]\ntenant = {tenant}\nreport_id = \"/id\"\nversion = \"event\"\n\
             [source.s.input]\ntext = \"/text\"\n[pipeline.p]\n"
        );
        Sources::parse(&text).map_err(|errors| errors.to_string())
    };
    let (fixed, route) = ("{ value = \"acme\" }", "{ route = true }");
    let derived = "{ derive_from = \"master\" }";
    assert!(source("\"github\"", "[\"a\"]", fixed, "").is_ok());
    assert!(source("\"gitlab-token\"", derived, route, "").is_ok());
    for verify in ["\"discord\"", "{ kind = \"basic\" }"] {
        let mistakes = source(verify, derived, route, "").unwrap_err();
        assert!(mistakes.contains("no secret can be derived"), "{mistakes}");
    }
    let square = "{ preset = \"square\", url = \"https://edge.test/{tenant}\" }";
    assert!(source(square, derived, route, "").is_ok());
    let mistakes = source(square, "[\"a\"]", fixed, "").unwrap_err();
    assert!(
        mistakes.contains("`{tenant}` in the URL needs"),
        "{mistakes}"
    );
    for coding in ["wire", "decoded"] {
        let coding = format!("content_encoding = \"{coding}\"");
        assert!(source("\"github\"", "[\"a\"]", fixed, &coding).is_ok());
    }
    let coding = "content_encoding = \"gzip\"";
    let mistakes = source("\"github\"", "[\"a\"]", fixed, coding).unwrap_err();
    assert!(mistakes.contains("which bytes are signed"), "{mistakes}");
}

#[test]
fn what_does_not_fit_a_preset_is_told() {
    let tables = [
        (
            "kind = \"hmac\", preset = \"gitlab-token\"",
            "in `signature`: the key `encoding` is missing",
        ),
        (
            "kind = \"token\", preset = \"github\"",
            "in `signature.encoding`: this key is not known",
        ),
        (
            "template = \"{body}\", preset = \"gitlab\"",
            "in `id`: it is not used",
        ),
        (
            "form = \"\", preset = \"github\"",
            "`verify.form`: a name of letters",
        ),
        (
            "form = \"a&b\", preset = \"github\"",
            "`verify.form`: a name of letters",
        ),
        (
            "verify_token = \"t_{tenant}\", preset = \"meta\"",
            "the name of a variable",
        ),
    ];
    for (table, told) in tables {
        let mistakes = parse(&format!("{{ {table} }}")).unwrap_err();
        assert!(mistakes.contains(told), "{table}: {mistakes}");
        assert!(
            !mistakes.contains("could not be read"),
            "{table}: {mistakes}"
        );
    }
}

#[test]
fn what_no_delivery_could_fulfil_is_told() {
    let tables = [
        (
            "header = [\"X-Sig\", \"x-sig\"], encoding = \"hex\"",
            "a name stands twice",
        ),
        (
            "header = \"X\", encoding = \"hex\", shape = \"pairs\", key = \"v\", separator = \"=\"",
            "`separator` and `equals` are one character",
        ),
        (
            "header = \"X\", encoding = \"base64\", shape = \"list\", separator = \"/\"",
            "the separator `/` stands in the codes too",
        ),
        (
            "header = \"X\", encoding = \"hex\", shape = \"list\", prefix = \"a,\"",
            "the separator `,` stands in the codes too",
        ),
        (
            "header = \"X\", encoding = \"hex\", shape = \"versioned\", key = \"v1,\"",
            "a name of letters, digits",
        ),
    ];
    for (signature, told) in tables {
        let mistakes = parse(&format!("{{ signature = {{ {signature} }} }}")).unwrap_err();
        assert!(mistakes.contains(told), "{signature}: {mistakes}");
    }
    let pairs = "{ template = \"{timestamp}.{body}\", timestamp = { pair = \"PAIR\", \
                 format = \"unix-seconds\" }, signature = { header = \"X\", encoding = \"hex\", \
                 shape = \"pairs\", key = \"v1\" } }";
    assert!(parse(&pairs.replace("PAIR", "t")).is_ok());
    for (pair, told) in [
        ("v1", "one pair can't hold both"),
        ("t,", "a name of letters, digits"),
    ] {
        let mistakes = parse(&pairs.replace("PAIR", pair)).unwrap_err();
        assert!(mistakes.contains(told), "{pair}: {mistakes}");
    }
}

#[test]
fn a_master_secret_signs_no_delivery_itself() {
    let source = |name: &str, secrets: &str, tenant: &str| {
        format!(
            "[source.{name}]\nverify = \"github\"\nsecrets = {secrets}\npipeline = \"p\"\n\
             [source.{name}.identity]\ntenant = {tenant}\nreport_id = \"/id\"\n\
             version = \"event\"\n[source.{name}.input]\ntext = \"/text\"\n"
        )
    };
    let derived = source("a", "{ derive_from = \"master\" }", "{ route = true }");
    let parse = |other: &str| {
        let text = format!("{derived}{other}[pipeline.p]\n");
        Sources::parse(&text).map_err(|errors| errors.to_string())
    };
    let named = |secret: &str| source("b", &format!("[\"{secret}\"]"), "{ value = \"acme\" }");
    assert!(parse(&named("other")).is_ok());
    assert!(
        parse(&source(
            "b",
            "{ derive_from = \"master\" }",
            "{ route = true }"
        ))
        .is_ok()
    );
    let mistakes = parse(&named("master")).unwrap_err();
    assert!(
        mistakes.contains("with which the source `b` is signed"),
        "{mistakes}"
    );
}
