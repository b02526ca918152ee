mod identity;
mod property;
mod refused;

use serde_json::{Value, json};

use super::*;
use fencepost_identity::pointer::Pointer;

/// Three lines of two files; two lines of one of them are equal but for their indentation.
const DIFF: &str = "\
diff --git a/src/a.rs b/src/a.rs
--- a/src/a.rs
+++ b/src/a.rs
@@ -10,2 +10,4 @@
 fn a() {
+    run(input);
+        run(input);
 }
diff --git a/b&c.rs b/b&c.rs
--- a/b&c.rs
+++ b/b&c.rs
@@ -0,0 +1,1 @@
+run(input);
";

fn pointer(text: &str) -> Pointer {
    Pointer::new(text).unwrap()
}

fn rules() -> FindingsRules {
    FindingsRules {
        list: pointer("/findings"),
        rule: pointer("/rule"),
        severity: pointer("/severity"),
        severities: vec!["low".to_owned(), "high".to_owned(), "critical".to_owned()],
        location: Some(Location {
            path: pointer("/path"),
            line: pointer("/line"),
            end_line: Some(pointer("/end_line")),
            revision: RevisionForm::Diff("diff".to_owned()),
        }),
        key: vec![
            KeyField::Rule,
            KeyField::Path,
            KeyField::SourceLine,
            KeyField::Occurrence,
        ],
    }
}

fn finding(rule: &str, severity: &str, path: &str, line: u32) -> Value {
    json!({ "rule": rule, "severity": severity, "path": path, "line": line, "summary": "x" })
}

fn with(mut finding: Value, member: &str, value: impl Into<Value>) -> Value {
    finding[member] = value.into();
    finding
}

fn input_of(diff: &str) -> Vec<u8> {
    json!({ "diff": diff, "text": "t" })
        .to_string()
        .into_bytes()
}

fn read_in(diff: &str, findings: &[Value]) -> Result<Vec<Finding>, Unfit> {
    let answer = json!({ "findings": findings }).to_string();
    rules().read(&answer, &input_of(diff))
}

fn read(findings: &[Value]) -> Result<Vec<Finding>, Unfit> {
    read_in(DIFF, findings)
}

/// The fingerprint of one finding that is taken.
fn print_of(finding: Value) -> Vec<String> {
    let mut read = read(&[finding]).unwrap();
    assert_eq!(read.len(), 1);
    read.remove(0).fingerprint
}

#[test]
fn a_fingerprint_is_rule_path_line_and_occurrence() {
    let print = print_of(finding("sql", "low", "src/a.rs", 12));
    // printf 'run(input);' | sha256sum
    let line = "50042b16fa0b4937b82c76758078e9475d88095e6b15371aa19dfdc3bdd55212";
    assert_eq!(print, ["sql", "src/a.rs", line, "2"]);
}

#[test]
fn members_are_recognized_by_their_canonical_form() {
    let rules = FindingsRules {
        location: None,
        key: vec![
            KeyField::Member(pointer("/order")),
            KeyField::Member(pointer("/note")),
            KeyField::Rule,
        ],
        ..rules()
    };
    let answer = r#"{"findings":[
        {"rule":"late","severity":"low","order":9007199254740993,"note":"1"},
        {"rule":"late","severity":"low","order":9007199254740992,"note":1},
        {"rule":"late","severity":"low","order":{"b":1.0,"a":null}}
    ]}"#;
    let read = rules.read(answer, b"{}").unwrap();
    let prints: Vec<_> = read
        .into_iter()
        .map(|finding| finding.fingerprint)
        .collect();
    assert_eq!(
        prints,
        [
            ["9007199254740993", "\"1\"", "late"],
            ["9007199254740992", "1", "late"],
            [r#"{"a":null,"b":1}"#, "", "late"],
        ]
    );
}

#[test]
fn files_are_a_revision_too() {
    let mut rules = rules();
    rules.location.as_mut().unwrap().revision = RevisionForm::Files("files".to_owned());
    let files = json!({ "files": { "./src/a.rs": "x\r\n\trun(input);\r\n" } }).to_string();
    let answer = json!({ "findings": [finding("sql", "low", "src/a.rs", 2)] }).to_string();
    let read = rules.read(&answer, files.as_bytes()).unwrap();
    let line = &print_of(finding("sql", "low", "src/a.rs", 11))[2];
    assert_eq!(read[0].fingerprint, ["sql", "src/a.rs", line, "1"]);
    let wrong = json!({ "files": { "a.rs": 1 } }).to_string();
    assert_eq!(
        rules.revision(wrong.as_bytes()).unwrap_err().to_string(),
        "the input's `files`: the files: expected a text for each path"
    );
}

#[test]
fn the_value_of_a_finding_is_its_own_canonical_form() {
    let answer = r#"{"findings":[{"severity":"low","rule":"sql","path":"./src/a.rs","line":11}]}"#;
    let read = rules().read(answer, &input_of(DIFF)).unwrap();
    assert_eq!(
        read[0].value,
        r#"{"line":11,"path":"./src/a.rs","rule":"sql","severity":"low"}"#
    );
    assert!(!format!("{read:?}").contains("src"));
}

#[test]
fn other_rules_have_another_fingerprint_and_what_is_usual_has_one() {
    let usual = rules().fingerprint();
    let mut changed = vec![rules(), rules(), rules(), rules()];
    changed[0].key.pop();
    changed[1].key.reverse();
    changed[2].location = None;
    changed[3].location.as_mut().unwrap().revision = RevisionForm::Files("diff".to_owned());
    for other in changed {
        assert_ne!(other.fingerprint(), usual);
    }
}
