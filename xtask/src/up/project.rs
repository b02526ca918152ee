//! The folder of a run, made like a user's: the shipped configuration with every ready source
//! pasted into it, the manifest with what these need, and what both name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::deliver::names_in;
use super::manifest;

/// The folders that relative paths of the configuration and the manifest lead to.
const NAMED: [&str; 2] = ["backend", "target"];

/// The shipped configuration with every source of examples/ at its end.
pub(crate) fn configuration(root: &Path) -> Result<String> {
    let mut text = read(&root.join("fencepost.toml"))?;
    let examples = root.join("examples");
    for name in names_in(&examples)? {
        text.push('\n');
        text.push_str(&read(&examples.join(name))?);
    }
    Ok(text)
}

/// Lays it out in `folder`.
pub(crate) fn write(root: &Path, folder: &Path, configuration: &str) -> Result<()> {
    let shipped = read(&root.join("spin.toml"))?;
    let manifest = manifest::with_secrets(&shipped, &secrets_of(configuration))?;
    fs::write(folder.join("fencepost.toml"), configuration)?;
    fs::write(folder.join("spin.toml"), manifest)?;
    for name in NAMED {
        symlink(root.join(name), folder.join(name))?;
    }
    Ok(())
}

/// The variables that lines like `secrets = ["acme_secret"]` name, each once.
fn secrets_of(configuration: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for line in configuration.lines() {
        let list = line.strip_prefix("secrets = [\"");
        if let Some(name) = list.and_then(|list| list.strip_suffix("\"]"))
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("no {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    #[test]
    fn every_ready_source_is_in_it_and_every_secret_in_the_manifest() {
        let folder = tempfile::tempdir().unwrap();
        let text = configuration(root()).unwrap();
        write(root(), folder.path(), &text).unwrap();
        let manifest = read(&folder.path().join("spin.toml")).unwrap();
        for source in ["zendesk", "intercom", "sentry"] {
            assert!(text.contains(&format!("\n[source.{source}]\n")), "{source}");
            let name = format!("{source}_secret");
            let declared = format!("{name} = {{ required = true, secret = true }}");
            let passed = format!("{name} = \"{{{{ {name} }}}}\"");
            for line in [declared, passed] {
                let found = manifest.lines().filter(|found| *found == line).count();
                assert_eq!(found, 1, "{line}");
            }
        }
        for named in ["backend/schemas/moderation-v3.json", "backend/prompts"] {
            assert!(folder.path().join(named).exists(), "{named}");
        }
    }

    #[test]
    fn a_secret_of_two_sources_is_named_once() {
        let text = "secrets = [\"a\"]\nsecrets = { derive_from = \"m\" }\nsecrets = [\"b\"]\n\
                    secrets = [\"a\"]\n# secrets = [\"c\"]\n";
        assert_eq!(secrets_of(text), ["a", "b"]);
    }
}
