//! What an answer is held to.

use serde::Serialize;
use serde_json::Value;

use super::super::{
    projection::{Dialect, Unprojectable, project},
    settings::{BaseUrl, Settings},
};

/// The provider wants a name for a schema; nothing depends on it.
const SCHEMA_NAME: &str = "answer";

/// A schema as a server takes it.
#[derive(Serialize)]
pub(super) struct Constraint {
    name: &'static str,
    strict: bool,
    pub(super) schema: Value,
}

impl Constraint {
    /// `strict` is asked for only where the schema is in the words of the strict dialect: a server
    /// that passes it on to the provider would be refused otherwise.
    pub(super) fn of(settings: &Settings, schema: &Value) -> Result<Self, Unprojectable> {
        let (schema, strict) = match is_the_providers_own(&settings.base_url) {
            true => (project(schema, Dialect::OpenAiStrict)?, true),
            false => {
                let sent = project(schema, Dialect::Lenient)?;
                let strict = project(schema, Dialect::OpenAiStrict);
                let is_strict = strict.is_ok_and(|strict| strict == sent);
                (sent, is_strict)
            }
        };
        Ok(Self {
            name: SCHEMA_NAME,
            strict,
            schema,
        })
    }
}

/// Whether the provider itself is there, or its twin at another vendor: newer models of theirs
/// refuse what every other server understands.
pub(super) fn is_the_providers_own(base_url: &BaseUrl) -> bool {
    let host = base_url.host();
    host == "api.openai.com" || host.ends_with(".openai.azure.com")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use serde_json::json;

    use super::*;

    #[test]
    fn strict_is_what_is_in_the_words_of_the_strict_dialect() {
        let settings = |base_url| Settings {
            model: "m".to_owned(),
            base_url: BaseUrl::new(base_url).unwrap(),
            max_output_tokens: NonZeroU32::MIN,
            temperature: None,
        };
        let bounded = |maximum| {
            json!({
                "type": "object", "additionalProperties": false, "required": ["a"],
                "properties": { "a": { "type": "integer", "maximum": maximum } },
            })
        };
        let unbounded = json!({
            "type": "object", "additionalProperties": false, "required": ["a"],
            "properties": { "a": { "type": "integer" } },
        });
        for (url, schema, strict, kept) in [
            ("https://api.openai.com/v1", bounded(1), true, None),
            (
                "http://127.0.0.1:8000/v1",
                bounded(1),
                false,
                Some(json!(1)),
            ),
            ("http://127.0.0.1:8000/v1", unbounded, true, None),
        ] {
            let sent = Constraint::of(&settings(url), &schema).unwrap();
            let maximum = sent.schema["properties"]["a"].get("maximum").cloned();
            assert_eq!((sent.strict, maximum), (strict, kept), "{url} {schema}");
        }
        let open = json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] });
        assert!(Constraint::of(&settings("https://api.openai.com/v1"), &open).is_err());
        assert!(Constraint::of(&settings("http://127.0.0.1:8000/v1"), &open).is_ok());
    }
}
