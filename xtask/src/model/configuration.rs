//! The configuration of the workspace, with the model in the place of the baseline.

use std::path::Path;

use anyhow::{Result, ensure};

/// `shipped`, which stands in `root`, as it has to read in another folder to ask a server there.
pub(crate) fn configuration(shipped: &str, root: &Path, base_url: &str) -> Result<String> {
    let path = |name: &str| quoted(&root.join(name).display().to_string());
    let mut text = shipped.to_owned();
    replace(&mut text, "schema", |name| path(name))?;
    replace(&mut text, "prompt", |name| path(name))?;
    replace(&mut text, "classifier_version", |version| {
        quoted(&format!("{version}-local"))
    })?;
    replace(&mut text, "extractor", |_| quoted("local"))?;
    text.push_str("\n[extractor.local]\nkind = \"openai\"\nmodel = \"smollm2-135m\"\n");
    text.push_str(&format!("base_url = {}\n", quoted(base_url)));
    // Not 0: so small a model would say the same of everything.
    text.push_str("max_output_tokens = 128\ntemperature = 1\n");
    // It answers one at a time; whoever waits for it waits within the time that a call has.
    text.push_str("\n[worker]\nconcurrency = 2\n");
    Ok(text)
}

/// Replaces the value of the one line that gives `key` a text.
fn replace(text: &mut String, key: &str, with: impl Fn(&str) -> String) -> Result<()> {
    let mut found = 0;
    let lines: Vec<String> = text
        .lines()
        .map(|line| match value(line, key) {
            Some(value) => {
                found += 1;
                format!("{key} = {}", with(value))
            }
            None => line.to_owned(),
        })
        .collect();
    ensure!(found == 1, "fencepost.toml has {found} lines with `{key}`");
    *text = lines.join("\n");
    text.push('\n');
    Ok(())
}

fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let value = line.strip_prefix(key)?.strip_prefix(" = \"")?;
    value.strip_suffix('"')
}

/// A text of TOML; of what stands in a path, JSON writes it in the same way.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../../fencepost.toml");

    #[test]
    fn the_shipped_one_asks_the_model() {
        let root = Path::new("/a \"b\"");
        let text = configuration(SHIPPED, root, "http://127.0.0.1:1/v1").unwrap();
        for line in [
            r#"schema = "/a \"b\"/backend/schemas/moderation-v3.json""#,
            r#"extractor = "local""#,
            "[extractor.local]",
            r#"base_url = "http://127.0.0.1:1/v1""#,
            "[worker]",
        ] {
            let found = text.lines().filter(|found| *found == line).count();
            assert_eq!(found, 1, "{line}");
        }
        assert!(!text.contains("extractor = \"baseline\""));
        assert!(text.contains("-local\"\n"));
        // The sources, which the edge reads from the shipped one, are the same.
        let sources = |text: &str| text.split_once("[pipeline.").unwrap().0.to_owned();
        assert_eq!(sources(&text), sources(SHIPPED));
    }

    #[test]
    fn another_shape_is_not_guessed_at() {
        let two = format!("{SHIPPED}\n[pipeline.other]\nschema = \"x\"\n");
        assert!(configuration(&two, Path::new("/"), "http://h").is_err());
    }
}
