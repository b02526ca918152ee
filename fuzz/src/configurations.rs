//! Configuration files.

use std::collections::BTreeSet;

use fencepost_identity::config::{Sources, preset_names, preset_text};

use crate::Choices;

/// A file: read whole or refused with reasons, and no source of it is forgotten on the way.
pub fn configurations(data: &[u8]) {
    let mut choices = Choices::new(data);
    let text = match choices.below(3) {
        0 => String::from_utf8_lossy(choices.rest()).into_owned(),
        _ => composed(&mut choices),
    };
    match Sources::parse(&text) {
        Ok(sources) => {
            let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{error}"));
            let tables = table.get("source").and_then(toml::Value::as_table);
            let expected: BTreeSet<&str> = tables
                .iter()
                .flat_map(|table| table.keys())
                .map(String::as_str)
                .collect();
            let read: BTreeSet<&str> = sources.iter().map(|source| source.name.as_str()).collect();
            assert_eq!(read, expected, "a source is gone:\n{text}");
        }
        Err(errors) => {
            assert!(!errors.0.is_empty(), "refused without a reason");
            let lines = text.split('\n').count();
            for error in &errors.0 {
                assert!((1..=lines).contains(&error.line), "{error}");
                assert!(!error.message.is_empty(), "{error}");
                assert!(!error.message.contains("could not be read"), "{text}");
            }
        }
    }
}

/// A whole file whose one source has a composed `verify`.
pub(crate) fn composed(choices: &mut Choices<'_>) -> String {
    // Mostly what goes together, so that what is told is a mistake of `verify`.
    let usual = [
        ("{ value = \"t\" }", "[\"s\"]", ""),
        ("{ route = true }", "[\"s_{tenant}\"]", ""),
        ("{ route = true }", "{ derive_from = \"m\" }", ""),
        ("{ pointer = \"/t\" }", "[\"s\"]", "sender = \"trusted\""),
    ];
    let odd = [
        (
            "{ value = \"t\" }",
            "[\"s\", { name = \"o\", not_after = 2027-01-15 }]",
            "",
        ),
        ("{ value = \"t\" }", "{ derive_from = \"m_{tenant}\" }", ""),
        ("{ value = \"t\" }", "[]", "sender = \"trusted\""),
        ("{ pointer = \"/t\" }", "[\"s\"]", ""),
        ("{ route = true }", "[\"{tenant}\"]", "tenants = [\"t\"]"),
    ];
    let (tenant, secrets, rest) = match choices.once_in(8) {
        true => choices.of(&odd),
        false => choices.of(&usual),
    };
    let encoding = match choices.below(8) {
        0 => "content_encoding = \"wire\"",
        1 => "content_encoding = 1",
        _ => "",
    };
    let verify = verify(choices);
    format!(
        "[pipeline.p]\n[source.s]\nsecrets = {secrets}\npipeline = \"p\"\n{rest}\n{encoding}\n\
         verify = {verify}\ninput = {{ id = \"/id\" }}\n\
         identity = {{ tenant = {tenant}, report_id = \"/id\", version = \"event\" }}\n"
    )
}

/// Each key with values that it may have, and some that it may not.
const KEYS: &[(&str, &[&str])] = &[
    (
        "kind",
        &[
            "\"hmac\"",
            "\"ed25519\"",
            "\"token\"",
            "\"basic\"",
            "\"rsa\"",
        ],
    ),
    (
        "algorithm",
        &["\"sha256\"", "\"sha512\"", "\"sha1\"", "\"md5\""],
    ),
    ("allow_weak", &["true", "false", "1"]),
    (
        "template",
        &[
            "\"{body}\"",
            "\"{timestamp}.{body}\"",
            "\"{id}.{body}\"",
            "\"{url}{body}\"",
            "\"x\"",
        ],
    ),
    (
        "tolerance_seconds",
        &[
            "300",
            "{ past = 1, future = 2 }",
            "\"off\"",
            "0",
            "{ past = 1 }",
        ],
    ),
    (
        "url",
        &[
            "\"https://edge.test/hook\"",
            "\"https://edge.test/{tenant}\"",
            "\"x\"",
        ],
    ),
    ("form", &["\"payload\"", "\"\"", "1"]),
    (
        "handshake",
        &[
            "\"slack\"",
            "\"meta\"",
            "\"microsoft-graph\"",
            "\"zoom\"",
            "\"dropbox\"",
            "\"x\"",
        ],
    ),
    ("verify_token", &["\"t\"", "\"t_{tenant}\"", "\"T\""]),
    (
        "signature",
        &[
            "{ header = \"X-S\", encoding = \"hex\" }",
            "{ header = [\"X-S\", \"X-T\"], encoding = \"base64\" }",
            "{ header = \"X-S\", encoding = \"hex\", shape = \"prefix\", prefix = \"p=\" }",
            "{ header = \"X-S\", encoding = \"hex\", shape = \"pairs\", key = \"v1\" }",
            "{ header = \"X-S\", encoding = \"hex\", shape = \"versioned\", key = \"v1\" }",
            "{ header = \"X-S\", encoding = \"hex\", shape = \"list\" }",
            "{ header = \"X-S\" }",
            "{ pointer = \"/token\" }",
        ],
    ),
    (
        "timestamp",
        &[
            "{ header = \"X-T\", format = \"unix-seconds\" }",
            "{ header = [\"X-T\", \"X-U\"], format = \"rfc3339\" }",
            "{ pair = \"t\", format = \"unix-milliseconds\" }",
            "{ pointer = \"/at\", format = \"unix-seconds\" }",
            "{ header = \"X-T\" }",
        ],
    ),
    (
        "id",
        &[
            "{ header = \"X-I\" }",
            "{ header = [\"X-I\", \"X-J\"] }",
            "{}",
        ],
    ),
    (
        "secret",
        &[
            "{ encoding = \"hex\" }",
            "{ prefix = \"whsec_\" }",
            "{ encoding = \"x\" }",
        ],
    ),
    ("unknown", &["1"]),
];

fn verify(choices: &mut Choices<'_>) -> String {
    let presets: Vec<&str> = preset_names().collect();
    let mut entries = Vec::new();
    if choices.below(2) == 0 {
        entries.push(format!("preset = \"{}\"", choices.of(&presets)));
    }
    // One key more or two, so that they seldom hide each other's mistakes, or any number.
    let often = choices.below(4) == 0;
    let few = [choices.below(KEYS.len()), choices.below(KEYS.len())];
    for (at, (key, values)) in KEYS.iter().enumerate() {
        if few.contains(&at) || often && choices.below(3) == 2 {
            entries.push(format!("{key} = {}", choices.of(values)));
        }
    }
    format!("{{ {} }}", entries.join(", "))
}

/// Texts to start from: the presets, and files with them.
pub(crate) fn texts() -> impl Iterator<Item = String> {
    preset_names().map(|name| {
        let preset = preset_text(name).unwrap_or_default();
        let nested = preset.replace("\n[", "\n[source.s.verify.");
        format!(
            r#"
[pipeline.p]
[source.s]
secrets = ["s"]
pipeline = "p"
input = {{ id = "/id" }}
identity = {{ tenant = {{ value = "t" }}, report_id = "/id", version = "event" }}
[source.s.verify]
{nested}"#
        )
    })
}
