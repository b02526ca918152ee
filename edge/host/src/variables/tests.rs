use super::*;
use std::path::Path;

fn manifest(variables: &str, component: &str) -> (tempfile::TempDir, Manifest) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spin.toml");
    let text = format!(
        "spin_manifest_version = 2\n[application]\nname = \"x\"\n[variables]\n{variables}\n\
         [[trigger.http]]\nroute = \"/...\"\ncomponent = \"x\"\n\
         [component.x]\nsource = \"x.wasm\"\n[component.x.variables]\n{component}\n"
    );
    std::fs::write(&path, text).unwrap();
    let manifest = Manifest::read(Path::new(&path)).unwrap();
    (folder, manifest)
}

fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn error(variables: &str, component: &str) -> VariablesError {
    let (_folder, manifest) = manifest(variables, component);
    match Variables::resolve(&manifest, &given(&[]), |_| None) {
        Ok(_) => panic!("resolved"),
        Err(error) => error,
    }
}

#[test]
fn the_command_line_goes_before_the_environment_before_the_default() {
    let (_folder, manifest) = manifest(
        "a = { default = \"1\" }\nb = { default = \"1\" }\nc = { default = \"1\" }",
        "all = \"{{ a }}{{ b }}{{ c }}\"",
    );
    let environment = |name: &str| match name {
        "SPIN_VARIABLE_A" | "SPIN_VARIABLE_B" => Some("2".to_owned()),
        _ => None,
    };
    let given = given(&[("a", "3"), ("unknown", "x")]);
    let variables = Variables::resolve(&manifest, &given, environment).unwrap();
    assert_eq!(variables.get("all"), Ok("321"));
}

#[test]
fn every_missing_variable_is_named() {
    let required = "first = { required = true }\nsecond = { required = true, secret = true }";
    let error = error(required, "");
    assert_eq!(
        error.to_string(),
        "no value for the required variable(s) first, second"
    );
}

#[test]
fn a_required_variable_takes_no_default() {
    let error = error("a = { required = true, default = \"1\" }", "");
    assert_eq!(error, VariablesError::Missing(vec!["a".to_owned()]));
}

#[test]
fn the_component_sees_what_it_lists_and_nothing_else() {
    let (_folder, manifest) = manifest("hidden = { default = \"1\" }", "seen = \"x\"");
    let variables = Variables::resolve(&manifest, &given(&[]), |_| None).unwrap();
    assert_eq!(variables.get("seen"), Ok("x"));
    assert_eq!(variables.get("hidden"), Err(NoValue::Undefined));
    assert!(matches!(
        variables.get("Not-A-Name"),
        Err(NoValue::InvalidName(_))
    ));
}

#[test]
fn faults_of_the_manifest_are_told_apart() {
    assert_eq!(
        error("a = {}", ""),
        VariablesError::NeitherForm("a".to_owned())
    );
    assert!(matches!(
        error("", "x = \"{{ a }}\""),
        VariablesError::Undeclared { .. }
    ));
    assert!(matches!(
        error("", "x = \"{{ a\""),
        VariablesError::Template(_)
    ));
    assert!(matches!(
        error("A = { default = \"\" }", ""),
        VariablesError::Name { .. }
    ));
}

#[test]
fn names_fit_environment_variables() {
    for name in ["a", "a1", "a_b", "github_secret"] {
        assert_eq!(name_fault(name), None, "{name}");
    }
    for name in ["", "_a", "1a", "A", "a__b", "a_", "a-b", "ä"] {
        assert!(name_fault(name).is_some(), "{name}");
    }
}
