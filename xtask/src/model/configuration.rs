//! A run's configuration, with the model in the place of the baseline.

use anyhow::{Result, ensure};

/// The pipeline whose questions so small a model can answer at all.
pub(crate) const PIPELINE: &str = "moderation";

/// `text` as it has to read to ask a server there.
pub(crate) fn configuration(text: &str, base_url: &str) -> Result<String> {
    let mut text = text.to_owned();
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

/// Replaces the value of the one line of the section that gives `key` a text.
fn replace(text: &mut String, key: &str, with: impl Fn(&str) -> String) -> Result<()> {
    let wanted = format!("[pipeline.{PIPELINE}]");
    let mut found = 0;
    let mut section = "";
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            if line.starts_with('[') {
                section = line;
            }
            match value(line, key) {
                Some(value) if section == wanted => {
                    found += 1;
                    format!("{key} = {}", with(value))
                }
                Some(_) | None => line.to_owned(),
            }
        })
        .collect();
    ensure!(found == 1, "{wanted} has {found} lines with `{key}`");
    *text = lines.join("\n");
    text.push('\n');
    Ok(())
}

fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let value = line.strip_prefix(key)?.strip_prefix(" = \"")?;
    value.strip_suffix('"')
}

/// A text of TOML; of what stands in a version or an address, JSON writes it in the same way.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../../fencepost.toml");

    #[test]
    fn the_shipped_one_asks_the_model() {
        let other =
            "\n[pipeline.other]\nclassifier_version = \"other-1\"\nextractor = \"baseline\"\n";
        let shipped = format!("{SHIPPED}{other}");
        let text = configuration(&shipped, "http://127.0.0.1:1/v1").unwrap();
        for line in [
            r#"extractor = "local""#,
            "[extractor.local]",
            r#"base_url = "http://127.0.0.1:1/v1""#,
            "[worker]",
        ] {
            let found = text.lines().filter(|found| *found == line).count();
            assert_eq!(found, 1, "{line}");
        }
        assert!(text.contains("-local\"\n"));
        assert!(text.contains(other), "nothing but the one pipeline");
        // The sources, which the edge reads as well, are the same.
        let sources = |text: &str| text.split_once("[pipeline.").unwrap().0.to_owned();
        assert_eq!(sources(&text), sources(SHIPPED));
    }
}
