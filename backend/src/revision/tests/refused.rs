//! What is no diff, or could be read as two.

use serde_json::json;

use super::super::*;

fn check(cases: &[(&str, usize, Expected)]) {
    for (text, line, expected) in cases {
        let (line, expected) = (*line, *expected);
        let refused = Unreadable::Diff { line, expected };
        assert_eq!(Revision::of_diff(text), Err(refused), "{text}");
    }
}

#[test]
fn what_begins_no_section_is_refused_with_its_line() {
    check(&[
        ("hello", 1, Expected::Section),
        ("diff --cc a\nindex 1,2..3", 1, Expected::Section),
        ("From 1 Mon Sep\nSubject: x", 1, Expected::Section),
        ("diff --git a/x b/x\nsurprise", 2, Expected::Section),
        ("diff --git a/x b/y", 1, Expected::Names),
        ("diff --git old/x new/x", 1, Expected::Names),
        (r#"diff --git "a/\377" "b/\377""#, 1, Expected::Names),
        (r#"diff --git "a/\q" "b/\q""#, 1, Expected::Names),
        ("--- a/x\n", 2, Expected::NewName),
        ("--- /dev/null\n+++ /dev/null", 2, Expected::NewName),
    ]);
}

#[test]
fn a_file_that_could_be_another_is_refused() {
    let (dots, control) = (BadPath::Dots, BadPath::ControlCharacter);
    let mode = "diff --git a/x b/x\nold mode 1\n";
    let gone = "diff --git a/x b/x\ndeleted file mode 1\n";
    check(&[
        ("diff --git a/../x b/../x", 1, Expected::Path(dots)),
        (r#"diff --git "a/\n" "b/\n""#, 1, Expected::Path(control)),
        ("diff --git x x\nrename to \"y", 2, Expected::Name),
        (&format!("{gone}rename to y"), 3, Expected::OneChange),
        (&format!("{mode}--- a/x\n+++ b/y"), 4, Expected::NewName),
        (
            &format!("{mode}--- a/x\n+++ /dev/null"),
            4,
            Expected::NewName,
        ),
        (&format!("{gone}--- a/x\n+++ b/x"), 4, Expected::NewName),
        (&format!("{mode}{mode}"), 3, Expected::OtherFile),
        (&format!("{mode}{gone}"), 3, Expected::OtherFile),
    ]);
}

/// Nothing can be found in it, so its name can hide nothing.
#[test]
fn a_file_that_is_gone_may_have_had_any_name() {
    let gone = "diff --git \"a/x\\\\y\" \"b/x\\\\y\"\ndeleted file mode 1\n";
    let diff = format!("{gone}diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -0,0 +1 @@\n+here\n");
    let revision = Revision::of_diff(&diff).unwrap();
    let files: Vec<_> = revision.files().map(|(path, _)| path).collect();
    assert_eq!(files, ["z"]);
}

#[test]
fn a_hunk_that_does_not_fit_is_refused_with_its_line() {
    let hunks = |hunks: &str| format!("--- a/x\n+++ b/x\n{hunks}");
    check(&[
        (&hunks(""), 3, Expected::Hunk),
        (&hunks("@@@ -1 -1 +1 @@@"), 3, Expected::Hunk),
        (&hunks("@@ -1 +1\n-a\n+b"), 3, Expected::Hunk),
        (&hunks("@@ -1 +1 @@x\n-a\n+b"), 3, Expected::Hunk),
        (&hunks("@@ -+1 +1 @@"), 3, Expected::Hunk),
        (&hunks("@@ -1 +0 @@"), 3, Expected::Hunk),
        (&hunks("@@ -1 +4294967295,2 @@"), 3, Expected::Hunk),
        (&hunks("@@ -1 +4294967296 @@"), 3, Expected::Hunk),
        (&hunks("@@ -1 +1 @@\n-a"), 5, Expected::HunkLine),
        (&hunks("@@ -1 +1 @@\n-a\n-b"), 5, Expected::HunkLine),
        (&hunks("@@ -1 +1 @@\nä"), 4, Expected::HunkLine),
        (&hunks("@@ -1 +1 @@\n\\ No"), 4, Expected::HunkLine),
        (&hunks("@@ -1 +1 @@\n-a\n+b\n+c"), 6, Expected::Section),
        (
            &hunks("@@ -3 +3 @@\n a\n@@ -3,0 +3 @@\n+b"),
            5,
            Expected::LaterHunk,
        ),
        (
            &hunks("@@ -3 +3 @@\n a\n@@ -2 +4 @@\n a"),
            5,
            Expected::LaterHunk,
        ),
        (
            "--- a/x\n+++ /dev/null\n@@ -1 +1 @@\n a",
            3,
            Expected::EmptiedFile,
        ),
    ]);
}

#[test]
fn a_binary_patch_that_does_not_end_is_refused() {
    let patch = |lines: &str| format!("diff --git x x\nGIT binary patch\n{lines}");
    check(&[
        (&patch(""), 3, Expected::BinaryPatch),
        (&patch("literal 1\nAAAA"), 5, Expected::BinaryPatch),
        (
            &patch("literal 1\ndiff --git y y\n"),
            4,
            Expected::BinaryPatch,
        ),
    ]);
}

#[test]
fn what_holds_no_files_is_refused() {
    for (value, expected) in [
        (json!("a"), Expected::Object),
        (json!(["a"]), Expected::Object),
        (json!({ "a": 1 }), Expected::Text),
        (json!({ "a": "", "./a": "" }), Expected::OtherFile),
        (json!({ "a\\b": "" }), Expected::Path(BadPath::Backslash)),
    ] {
        assert_eq!(Revision::of_files(&value), Err(Unreadable::Files(expected)));
    }
}

/// What was read may be anything: it is never told.
#[test]
fn a_refusal_tells_the_line_and_what_was_expected() {
    let refused = Revision::of_diff("--- a/canary\n+++ b/canary\n@@ canary @@").unwrap_err();
    let told = "line 3 of the diff: expected `@@ -a,b +c,d @@`";
    assert_eq!(refused.to_string(), told);
    let refused = Revision::of_diff("\ndiff --git a/canary/ b/canary/").unwrap_err();
    let told =
        "line 2 of the diff: expected a path inside the tree, and a path has an empty segment";
    assert_eq!(refused.to_string(), told);
    let revision = Revision::of_files(&json!({ "canary": "canary" })).unwrap();
    let debug = format!("{revision:?}{:?}", revision.file("canary"));
    assert!(!debug.contains("canary"), "{debug}");
}
