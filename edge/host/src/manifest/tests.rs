use super::*;

const MANIFEST: &str = r#"
spin_manifest_version = 2

[application]
name = "fencepost"
version = "0.1.0"
authors = ["nobody"]

[variables]
backend_url = { default = "http://127.0.0.1:8080" }
edge_secret = { required = true, secret = true }

[[trigger.http]]
route = "/hooks/..."
component = "edge"

[component.edge]
source = "edge.wasm"
allowed_outbound_hosts = ["{{ backend_url }}"]
files = ["schemas", { source = "fencepost.toml", destination = "/fencepost.toml" }]
variables = { edge_secret = "{{ edge_secret }}" }
environment = { MODE = "test" }

[component.edge.build]
command = "cargo build"

[component.unused]
source = "unused.wasm"
"#;

fn parse(text: &str) -> Result<Manifest, ManifestError> {
    Manifest::parse(text, Path::new("/app"), Path::new("spin.toml"))
}

fn message(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn the_component_of_the_triggers_is_taken() {
    let manifest = parse(MANIFEST).unwrap();
    assert_eq!(manifest.folder, Path::new("/app"));
    assert_eq!(manifest.routes, [Route::parse("/hooks/...").unwrap()]);
    assert_eq!(manifest.component.source, Path::new("edge.wasm"));
    assert_eq!(
        manifest.component.allowed_outbound_hosts,
        ["{{ backend_url }}"]
    );
    assert_eq!(manifest.component.environment["MODE"], "test");
    let default = manifest.variables["backend_url"].default.as_deref();
    assert_eq!(default, Some("http://127.0.0.1:8080"));
    assert!(manifest.variables["edge_secret"].required);
}

#[test]
fn files_have_two_forms() {
    let placed = Placement {
        source: "fencepost.toml".into(),
        destination: "/fencepost.toml".to_owned(),
    };
    assert_eq!(
        parse(MANIFEST).unwrap().component.files,
        [
            FileMount::SamePath("schemas".into()),
            FileMount::Placed(placed)
        ]
    );
}

#[test]
fn an_unknown_member_is_named() {
    let text = MANIFEST.replace("environment =", "enviroment =");
    assert!(
        message(&text).contains("unknown field `enviroment`"),
        "{}",
        message(&text)
    );
}

#[test]
fn what_the_host_does_not_have_is_refused() {
    for member in [
        "key_value_stores",
        "sqlite_databases",
        "ai_models",
        "exclude_files",
    ] {
        let text = MANIFEST.replace(
            "environment =",
            &format!("{member} = [\"x\"]\nenvironment ="),
        );
        assert!(message(&text).starts_with(&format!("`{member}` is not offered")));
    }
    let wagi = MANIFEST.replace(
        "component = \"edge\"",
        "component = \"edge\"\nexecutor = { type = \"wagi\" }",
    );
    assert!(message(&wagi).starts_with("an executor other than `http` is not offered"));
    let redis = MANIFEST.replace("trigger.http", "trigger.redis");
    assert!(message(&redis).contains("redis"));
}

#[test]
fn other_versions_are_refused() {
    let text = MANIFEST.replace("spin_manifest_version = 2", "spin_manifest_version = 3");
    assert_eq!(
        message(&text),
        "spin_manifest_version is 3; this host knows version 2"
    );
}

#[test]
fn exactly_one_declared_component_is_served() {
    let second = "[[trigger.http]]\nroute = \"/other\"\ncomponent = \"unused\"\n";
    assert!(matches!(
        parse(&format!("{MANIFEST}\n{second}")),
        Err(ManifestError::NotOneComponent)
    ));
    let undeclared = MANIFEST.replace("component = \"edge\"", "component = \"absent\"");
    assert!(matches!(
        parse(&undeclared),
        Err(ManifestError::NotOneComponent)
    ));
    let two_routes = format!("{MANIFEST}\n{}", second.replace("unused", "edge"));
    assert_eq!(parse(&two_routes).unwrap().routes.len(), 2);
}

#[test]
fn a_missing_file_is_named() {
    let error = Manifest::read(Path::new("/nowhere/spin.toml")).unwrap_err();
    assert!(
        error.to_string().starts_with("/nowhere/spin.toml: "),
        "{error}"
    );
}
