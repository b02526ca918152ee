//! The real component: its keys, and what it can do at all.

use crate::support::{self, component};
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &[&str]) -> support::Output {
    let file = component().to_str().unwrap();
    support::run(&[arguments, &["--component", file]].concat())
}

fn key(identity: &str) -> support::Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("identity.json");
    std::fs::write(&file, identity).unwrap();
    run(&["key", "--identity", file.to_str().unwrap()])
}

/// What an edge downloads and keeps in memory, on many machines.
const COMPONENT_BYTES_MAX: u64 = 1024 * 1024;

#[test]
fn the_component_is_small() {
    let bytes = std::fs::metadata(component()).unwrap().len();
    assert!(bytes <= COMPONENT_BYTES_MAX, "{bytes} bytes");
}

#[test]
fn the_component_derives_what_an_independent_program_derives() {
    let vectors = workspace().join("identity/tests/vectors");
    let output = run(&["vectors", vectors.to_str().unwrap()]);
    let expected = "{\"keys\":19,\"payloads\":60,\"inputs\":6,\"failed\":0}\n";
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), expected),
        "{}",
        output.stderr
    );
}

#[test]
fn a_vector_that_differs_is_shown_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["keys.json", "payloads.json", "inputs.json"] {
        let text = std::fs::read_to_string(workspace().join("identity/tests/vectors").join(name));
        // The first input's hash, with another first digit.
        let text = text
            .unwrap()
            .replace("08801df8fbeaffec", "18801df8fbeaffec");
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let output = run(&["vectors", folder.path().to_str().unwrap()]);
    assert_eq!(output.code, Some(1));
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", output.stdout);
    assert!(
        lines[0].contains("\"name\":\"one text\",\"what\":\"input_hash\""),
        "{}",
        lines[0]
    );
    assert_eq!(
        lines[1],
        "{\"keys\":19,\"payloads\":60,\"inputs\":6,\"failed\":1}"
    );
}

#[test]
fn a_key_is_printed_with_its_identity() {
    let identity =
        r#"{"tenant":"acme","namespace":"zendesk","report_id":"8812","version":{"revision":1}}"#;
    let output = key(identity);
    let expected = format!(
        "{{\"identity\":{identity},\"report_key\":\
         \"db21f8e956c77e35cf261bb0da65b672d5c886bd477593e09d0958cd899a1c51\"}}\n"
    );
    assert_eq!(
        (output.code, output.stdout),
        (Some(0), expected),
        "{}",
        output.stderr
    );
}

#[test]
fn a_refused_identity_says_why() {
    let identity = r#"{"tenant":"","namespace":"a","report_id":"1","version":"event"}"#;
    let output = key(identity);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(
        output
            .stdout
            .starts_with("{\"error\":{\"code\":\"empty_field\""),
        "{}",
        output.stdout
    );
}

#[test]
fn an_identity_of_another_form_is_a_mistake_of_usage() {
    let output = key(r#"{"tenant":"a"}"#);
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""));
    assert!(output.stderr.contains("missing field"), "{}", output.stderr);
}
