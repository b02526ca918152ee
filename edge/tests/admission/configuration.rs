//! The sources that deliveries are made for, and the variables that they name.

use std::collections::BTreeMap;

pub(crate) const SECRET: &str = "fp_test_secret_0123456789abcdef";
pub(crate) const META_TOKEN: &str = "fp_meta_token_0123456789abcdef";
pub(crate) const OLD_SECRET: &str = "fp_old_secret_0123456789abcdef";
pub(crate) const EDGE_SECRET: &str = "fp_edge_secret_0123456789abcdef";
pub(crate) const WHSEC: &str = "whsec_ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==";

pub(crate) const CONFIGURATION: &str = r#"
[source.comments]
verify = "github"
secrets = ["github_secret"]
sender = "trusted"
pipeline = "moderation"
filter = { "/action" = ["created", "edited"] }
max_body_bytes = 600

[source.comments.identity]
tenant = { pointer = "/owner/id" }
report_id = "/comment/id"
version = { content = ["/comment/body"] }
order = "/comment/updated_at"

[source.comments.input]
text = "/comment/body"

[source.comments.links]
page = "/comment/html_url"

[source.rotating]
verify = "github"
secrets = ["github_secret", { name = "old_secret", not_after = 2027-01-15T08:00:00Z }]
tenants = ["acme", "7"]
pipeline = "moderation"
ack_deadline_ms = 1234

[source.rotating.identity]
tenant = { pointer = "/tenant" }
report_id = "/id"
version = { revision = "/rev" }

[source.rotating.input]
text = "/text"

[source.events]
verify = "standard-webhooks"
secrets = ["events_secret"]
pipeline = "moderation"

[source.events.identity]
tenant = { value = "acme" }
report_id = "/id"
version = "event"

[source.events.input]
text = "/text"
again = "/text"

[source.derived]
verify = "standard-webhooks"
secrets = { derive_from = "master_secret" }
pipeline = "moderation"

[source.derived.identity]
tenant = { route = true }
report_id = "/id"
version = "event"

[source.derived.input]
text = "/text"

[source.own-secret]
verify = "github"
secrets = ["secret_of_{tenant}"]
pipeline = "moderation"

[source.own-secret.identity]
tenant = { route = true }
report_id = "/id"
version = "event"

[source.own-secret.input]
text = "/text"

[pipeline.moderation]
kind = "classification"
"#;

pub(crate) fn variables() -> BTreeMap<String, String> {
    let variables = [
        ("backend_url", "http://127.0.0.1:8080"),
        ("edge_secret", EDGE_SECRET),
        ("events_secret", WHSEC),
        ("github_secret", SECRET),
        ("master_secret", SECRET),
        ("meta_token", META_TOKEN),
        ("old_secret", OLD_SECRET),
        ("secret", SECRET),
        ("secret_of_acme", SECRET),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    variables.into()
}

/// A file with one more source, at `/hooks/hook`: what is said of it here, `secret` for its secret
/// unless it names others, the tenant acme unless it says another, and `/id` as id and input.
pub(crate) fn with_hook(source: &str) -> String {
    let (own, tables) = match source.find("\n[") {
        Some(at) => source.split_at(at),
        None => (source, ""),
    };
    let secrets = match own.contains("secrets =") {
        true => "",
        false => "secrets = [\"secret\"]",
    };
    let tenant = match own.contains("identity.tenant") {
        true => "",
        false => "identity.tenant = { value = \"acme\" }",
    };
    format!(
        "{CONFIGURATION}\n[source.hook]\n{own}\n{secrets}\n{tenant}\npipeline = \"moderation\"\n\
         identity.report_id = \"/id\"\nidentity.version = \"event\"\ninput.text = \"/id\"\n\
         {tables}"
    )
}
