//! Whether `spin.toml` gives the edge what the sources of `fencepost.toml` need.

use toml::{Table, Value};

use super::ConfigErrors;

/// Compares a Spin manifest with the secrets that sources name and with the configuration's file
/// name: each secret is a required variable of the application that a component gets, and a
/// component has the file mounted.
#[must_use]
pub fn check_manifest(manifest: &str, secrets: &[String], config_file: &str) -> ConfigErrors {
    let mut errors = ConfigErrors::default();
    let manifest: Table = match manifest.parse() {
        Ok(manifest) => manifest,
        Err(error) => {
            errors.push(format!("the manifest is not TOML: {error}"));
            return errors;
        }
    };
    for secret in secrets {
        if let Some(problem) = problem_of_secret(&manifest, secret) {
            errors.push(problem);
        }
    }
    if !components(&manifest).any(|component| mounts(component, config_file)) {
        errors.push(format!(
            "no component of the manifest has `{config_file}` among its `files`"
        ));
    }
    errors
}

fn problem_of_secret(manifest: &Table, name: &str) -> Option<String> {
    let variable = table(manifest, "variables").and_then(|all| table(all, name));
    let Some(variable) = variable else {
        return Some(format!(
            "a source names the secret `{name}`: no variable of the manifest"
        ));
    };
    if variable.contains_key("default") {
        return Some(format!(
            "variable `{name}`: a secret has no default that stands in a file"
        ));
    }
    if variable.get("required").and_then(Value::as_bool) != Some(true) {
        return Some(format!("variable `{name}`: has to say `required = true`"));
    }
    let template = format!("{{{{ {name} }}}}");
    let passed = components(manifest)
        .filter_map(|component| table(component, "variables"))
        .flat_map(|variables| variables.values())
        .any(|value| value.as_str() == Some(&template));
    (!passed).then(|| format!("variable `{name}`: no component has a variable `{template}`"))
}

fn components(manifest: &Table) -> impl Iterator<Item = &Table> {
    let components = table(manifest, "component")
        .into_iter()
        .flat_map(Table::values);
    components.filter_map(Value::as_table)
}

fn table<'a>(parent: &'a Table, name: &str) -> Option<&'a Table> {
    parent.get(name).and_then(Value::as_table)
}

/// Entries are paths, or tables with `source` and `destination`.
fn mounts(component: &Table, file: &str) -> bool {
    let entries = component
        .get("files")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut sources = entries.filter_map(|entry| match entry {
        Value::String(path) => Some(path.as_str()),
        Value::Table(entry) => entry.get("source").and_then(Value::as_str),
        Value::Integer(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_)
        | Value::Array(_) => None,
    });
    sources.any(|source| source.trim_start_matches("./") == file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        spin_manifest_version = 2
        [variables]
        github_secret = { required = true, secret = true }
        [component.edge]
        files = [{ source = "fencepost.toml", destination = "/fencepost.toml" }]
        [component.edge.variables]
        github_secret = "{{ github_secret }}"
    "#;

    fn errors(manifest: &str) -> Vec<String> {
        let secrets = ["github_secret".to_owned()];
        check_manifest(manifest, &secrets, "fencepost.toml")
            .lines()
            .to_vec()
    }

    #[test]
    fn a_manifest_that_fits_has_no_errors() {
        assert_eq!(errors(GOOD), Vec::<String>::new());
        let short = GOOD.replace(
            r#"{ source = "fencepost.toml", destination = "/fencepost.toml" }"#,
            "'./fencepost.toml'",
        );
        assert_eq!(errors(&short), Vec::<String>::new());
    }

    #[test]
    fn each_gap_is_told() {
        for (from, to, expected) in [
            (
                "github_secret = { required",
                "other = { required",
                "no variable of the manifest",
            ),
            (
                "required = true",
                "required = false",
                "has to say `required = true`",
            ),
            ("required = true", "default = 'x'", "no default"),
            (
                "{{ github_secret }}",
                "{{ other }}",
                "no component has a variable",
            ),
            (
                "source = \"fencepost.toml\"",
                "source = \"x.toml\"",
                "among its `files`",
            ),
            ("[variables]", "[variables", "not TOML"),
        ] {
            let changed = GOOD.replace(from, to);
            assert_ne!(changed, GOOD);
            let errors = errors(&changed);
            assert!(
                errors.len() == 1 && errors[0].contains(expected),
                "{errors:?}"
            );
        }
    }
}
