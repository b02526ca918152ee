//! The component and the backend derive the same keys, from the same vectors; and the component can
//! do what is listed, no more.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, process::Command};

use fencepost_tests::{Output, Program, run, workspace};
use serde_json::{Value, json};

/// What stands behind a line that not every compiler's standard library brings.
const SOMETIMES: &str = " (with some compilers)";

const FILES: [&str; 3] = ["keys", "payloads", "inputs"];

fn vectors(name: &str) -> Vec<Value> {
    let path = workspace().join(format!("identity/tests/vectors/{name}.json"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn host(arguments: &[&str]) -> Output {
    let mut command = Command::new(Program::Host.path());
    command
        .args(arguments)
        .arg("--component")
        .arg(Program::Component.path());
    run(&mut command)
}

/// A line without the last part of a WASI 0.2 version: a compiler's standard library has its own,
/// and they are one interface.
fn without_patch(line: &str) -> &str {
    match line.rsplit_once('.') {
        Some((rest, _)) if rest.ends_with("@0.2") => rest,
        Some(_) | None => line,
    }
}

#[test]
fn the_component_reproduces_every_vector() {
    let folder = workspace().join("identity/tests/vectors");
    let output = host(&["vectors", folder.to_str().unwrap()]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let summary: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
    for name in FILES {
        let count = vectors(name).len();
        assert!(count > 0);
        assert_eq!(summary[name], count, "{name}: {summary}");
    }
    assert_eq!(summary["failed"], 0, "{summary}");
}

#[test]
fn a_vector_that_is_wrong_is_found() {
    let folder = tempfile::tempdir().unwrap();
    for name in FILES {
        let mut vectors = vectors(name);
        let wrong = Value::from("00".repeat(32));
        match name {
            "keys" => vectors[0]["claim_key"] = wrong,
            "payloads" => vectors[0]["report_key"] = wrong,
            _ => vectors[0]["input_hash"] = wrong,
        }
        let text = Value::from(vectors).to_string();
        fs::write(folder.path().join(format!("{name}.json")), text).unwrap();
    }
    let output = host(&["vectors", folder.path().to_str().unwrap()]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let summary: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(summary["failed"], 3, "{summary}");
}

#[test]
fn both_programs_derive_one_key_of_an_identity() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("identity.json");
    let file = file.to_str().unwrap();
    let derive = |identity: &Value| {
        fs::write(file, identity.to_string()).unwrap();
        let native = run(Command::new(Program::Backend.path()).args(["key", "--identity", file]));
        let component = host(&["key", "--identity", file]);
        assert_eq!(native.code, component.code, "{native:?} {component:?}");
        (native, component)
    };
    for vector in vectors("keys").iter().step_by(3) {
        let (native, component) = derive(&vector["identity"]);
        assert_eq!(native.code, Some(0), "{native:?}");
        assert_eq!(native.json(), component.json());
        assert_eq!(native.json()["report_key"], vector["report_key"]);
    }
    let long = "é".repeat(513);
    for (tenant, id) in [("", "r"), ("a\u{7}", "r"), ("a", &long)] {
        let refused =
            json!({ "tenant": tenant, "namespace": "n", "report_id": id, "version": "event" });
        let (native, component) = derive(&refused);
        assert_eq!(native.code, Some(1), "{native:?}");
        let code = |output: &Output| output.json()["error"]["code"].clone();
        assert!(code(&native).is_string(), "{native:?}");
        assert_eq!(code(&native), code(&component));
    }
}

/// A capability that is new is seen in review: as a change of this file.
#[test]
fn the_component_imports_and_exports_what_is_listed() {
    let output = host(&["describe"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let found: Vec<&str> = output.stdout.lines().map(without_patch).collect();
    let listed = fs::read_to_string(workspace().join("wit/component.txt")).unwrap();
    let allowed = listed
        .lines()
        .map(|line| line.strip_suffix(SOMETIMES).unwrap_or(line));
    let allowed: Vec<&str> = allowed.map(without_patch).collect();
    let more: Vec<_> = found
        .iter()
        .filter(|line| !allowed.contains(line))
        .collect();
    assert!(
        more.is_empty(),
        "the component can do what wit/component.txt doesn't list: {more:?}"
    );
    let always = listed
        .lines()
        .filter(|line| !line.ends_with(SOMETIMES))
        .map(without_patch);
    let less: Vec<_> = always.filter(|line| !found.contains(line)).collect();
    assert!(
        less.is_empty(),
        "wit/component.txt lists what the component doesn't do: {less:?}"
    );
    for capability in [
        "sockets",
        "key-value",
        "sqlite",
        "postgres",
        "mysql",
        "redis",
        "llm",
    ] {
        assert!(!listed.contains(capability), "{capability}");
    }
}
