//! The variables of `spin.toml`: read, and added to where sources need more secrets.

use anyhow::{Result, ensure};

/// The one that is no sender's.
const EDGE: &str = "edge_secret";
const DECLARED: &str = "[variables]";
const PASSED_ON: &str = "[component.edge.variables]";

/// The manifest with these secrets in both places, as far as they aren't there.
pub(crate) fn with_secrets(manifest: &str, names: &[&str]) -> Result<String> {
    let known: Vec<&str> = declared_secrets(manifest).collect();
    let new = || names.iter().filter(|name| !known.contains(*name));
    let mut text = String::new();
    let mut places = 0;
    for line in manifest.lines() {
        text.extend([line, "\n"]);
        match line {
            DECLARED => text.extend(
                new().map(|name| format!("{name} = {{ required = true, secret = true }}\n")),
            ),
            PASSED_ON => text.extend(new().map(|name| format!("{name} = \"{{{{ {name} }}}}\"\n"))),
            _ => continue,
        }
        places += 1;
    }
    ensure!(
        places == 2,
        "spin.toml has {places} of {DECLARED} and {PASSED_ON}"
    );
    Ok(text)
}

/// The variables with what senders sign with.
pub(crate) fn senders_secrets(manifest: &str) -> impl Iterator<Item = &str> {
    declared_secrets(manifest).filter(|name| *name != EDGE)
}

fn declared_secrets(manifest: &str) -> impl Iterator<Item = &str> {
    let table = manifest
        .lines()
        .skip_while(|line| *line != DECLARED)
        .skip(1);
    let table = table.take_while(|line| !line.starts_with('['));
    table.filter_map(|line| {
        let (name, declaration) = line.split_once(" = ")?;
        declaration.contains("secret = true").then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../../spin.toml");

    #[test]
    fn a_secret_that_is_missing_is_declared_and_passed_on() {
        let text = with_secrets(SHIPPED, &["github_secret", "acme_secret"]).unwrap();
        let added: Vec<&str> = text
            .lines()
            .filter(|line| !SHIPPED.lines().any(|shipped| shipped == *line))
            .collect();
        let expected = [
            "acme_secret = { required = true, secret = true }",
            "acme_secret = \"{{ acme_secret }}\"",
        ];
        assert_eq!(added, expected);
        assert_eq!(text.lines().count(), SHIPPED.lines().count() + 2);
        assert!(senders_secrets(&text).any(|name| name == "acme_secret"));
    }

    #[test]
    fn of_the_shipped_secrets_all_but_the_edges_are_senders() {
        let found: Vec<&str> = senders_secrets(SHIPPED).collect();
        assert!(found.contains(&"github_secret") && found.contains(&"reports_master_secret"));
        assert!(!found.contains(&EDGE) && !found.contains(&"backend_url"));
    }

    #[test]
    fn a_manifest_without_the_two_tables_is_refused() {
        with_secrets("[variables]\n", &["acme_secret"]).unwrap_err();
    }
}
