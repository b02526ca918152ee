mod git;
mod refused;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn shown(revision: &Revision, path: &str) -> Vec<(u32, String)> {
    let lines = revision.file(path).unwrap().lines();
    lines.map(|(number, line)| (number, line.into())).collect()
}

fn paths(revision: &Revision) -> Vec<&str> {
    revision.files().map(|(path, _)| path).collect()
}

const TWO_FILES: &str = "\
diff --git a/src/a.rs b/src/a.rs
index 1111111..2222222 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,4 @@ fn main() {
 one
-two
+ two
+--- a/src/b.rs
 three
@@ -10 +11,3 @@
+++ b/src/b.rs
+@@ -1 +1 @@
+\t two\r
-ten
diff --git a/gone b/gone
deleted file mode 100644
index 1111111..0000000
--- a/gone
+++ /dev/null
@@ -1,2 +0,0 @@
-one
-two
diff --git a/b c b/b c
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/b c\t
@@ -0,0 +1 @@
+only
\\ No newline at end of file
";

#[test]
fn each_line_of_the_new_side_has_its_number() {
    let revision = Revision::of_diff(TWO_FILES).unwrap();
    assert_eq!(paths(&revision), ["b c", "src/a.rs"]);
    let expected = [
        (1, "one"),
        (2, " two"),
        (3, "--- a/src/b.rs"),
        (4, "three"),
        (11, "++ b/src/b.rs"),
        (12, "@@ -1 +1 @@"),
        (13, "\t two\r"),
    ];
    let expected = expected.map(|(number, line)| (number, line.to_owned()));
    assert_eq!(shown(&revision, "src/a.rs"), expected);
    assert_eq!(shown(&revision, "b c"), [(1, "only".to_owned())]);

    let file = revision.file("src/a.rs").unwrap();
    let added: Vec<_> = file.added().map(|(number, _)| number).collect();
    assert_eq!(added, [2, 3, 11, 12, 13]);
    assert_eq!(file.line(4), Some("three"));
    for hidden in [0, 5, 10, 14, u32::MAX] {
        assert_eq!(file.line(hidden), None, "{hidden}");
        assert_eq!(file.occurrence(hidden), None, "{hidden}");
    }
    assert_eq!(revision.file("gone"), None);
}

/// The same text with another indentation or line end is the same line, once more.
#[test]
fn equal_trimmed_lines_are_counted_within_their_file() {
    let revision = Revision::of_diff(TWO_FILES).unwrap();
    let file = revision.file("src/a.rs").unwrap();
    assert_eq!(file.occurrence(2), Some(1));
    assert_eq!(file.occurrence(13), Some(2));
    assert_eq!(revision.file("b c").unwrap().occurrence(1), Some(1));

    let text = "x\n\u{a0}x\u{2003}\r\n y\nx";
    let revision = Revision::of_files(&json!({ "f": text, "g": "x\n" })).unwrap();
    let file = revision.file("f").unwrap();
    let counted: Vec<_> = (1..=5).map(|number| file.occurrence(number)).collect();
    assert_eq!(counted, [Some(1), Some(2), Some(1), Some(3), None]);
    assert_eq!(revision.file("g").unwrap().occurrence(1), Some(1));
}

#[test]
fn whole_files_show_every_line_and_none_as_added() {
    let files = json!({ "./a": "one\r\n\n three\n", "b/c": "", "d": "\n" });
    let revision = Revision::of_files(&files).unwrap();
    assert_eq!(paths(&revision), ["a", "b/c", "d"]);
    let lines = [(1, "one\r"), (2, ""), (3, " three")].map(|(at, line)| (at, line.to_owned()));
    assert_eq!(shown(&revision, "a"), lines);
    assert_eq!(shown(&revision, "b/c"), []);
    assert_eq!(shown(&revision, "d"), [(1, String::new())]);
    assert_eq!(revision.file("a").unwrap().added().count(), 0);
}

#[test]
fn a_diff_without_changes_shows_no_file() {
    for text in ["", "\n", "\r\n\n"] {
        assert_eq!(
            paths(&Revision::of_diff(text).unwrap()),
            [""; 0],
            "{text:?}"
        );
    }
}

#[test]
fn what_only_moved_or_is_binary_is_there_without_lines() {
    let diff = "\
diff --git a/old name b/new\tname
similarity index 100%
rename from old name
rename to ./new name
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/x.png b/x.png
index 1111111..2222222 100644
Binary files a/x.png and b/x.png differ
diff --git a/y.png b/y.png
index 1111111..2222222 100644
GIT binary patch
literal 3
KcmZQzU|?WmU|?WmU|<3M0Pq0-

delta 3
KcmZQzU|?WmU|?WmU|<3M0Pq0-

diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/kind b/kind
deleted file mode 100644
index 1111111..0000000
--- a/kind
+++ /dev/null
@@ -1 +0,0 @@
-text
diff --git a/kind b/kind
new file mode 120000
index 0000000..1111111
--- /dev/null
+++ b/kind
@@ -0,0 +1 @@
+target
\\ No newline at end of file
";
    let revision = Revision::of_diff(diff).unwrap();
    let names = ["empty", "kind", "new name", "run.sh", "x.png", "y.png"];
    assert_eq!(paths(&revision), names);
    for (path, file) in revision.files() {
        assert_eq!(file.lines().count(), usize::from(path == "kind"), "{path}");
    }
}

#[test]
fn a_name_is_read_with_its_quotes_its_prefix_or_none() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    for (header, sides, path) in [
        ("a/x b/x", "--- a/x\n+++ b/x", "x"),
        ("x x", "--- x\n+++ x", "x"),
        ("b/x b/x", "--- b/x\n+++ b/x", "b/x"),
        ("a/b/x b/b/x", "--- a/b/x\n+++ b/b/x", "b/x"),
        ("i/x w/x", "--- i/x\n+++ w/x", "x"),
        ("a/x b/x b/x b/x", "--- a/x b/x\t\n+++ b/x b/x\t", "x b/x"),
        (
            r#""a/\303\244\".rs" "b/\303\244\".rs""#,
            "--- \"a/\\303\\244\\\".rs\"\n+++ \"b/\\303\\244\\\".rs\"",
            "ä\".rs",
        ),
        ("a/ä b/ä", "--- a/ä\n+++ b/ä", "ä"),
    ] {
        let diff = format!("diff --git {header}\nindex 1..2 100644\n{sides}\n{hunk}");
        for diff in [diff.replace('\n', "\r\n"), diff] {
            let revision = Revision::of_diff(&diff).unwrap();
            assert_eq!(paths(&revision), [path], "{diff}");
        }
    }
    for (sides, path) in [
        ("--- a/x\n+++ b/x", "x"),
        ("--- b/x\n+++ b/x", "b/x"),
        (
            "--- x\t2026-01-01 00:00:00\n+++ x\t2026-01-02 00:00:00",
            "x",
        ),
        ("--- /dev/null\n+++ b/x", "x"),
        ("--- x.orig\n+++ x", "x"),
    ] {
        let revision = Revision::of_diff(&format!("{sides}\n{hunk}")).unwrap();
        assert_eq!(paths(&revision), [path], "{sides}");
    }
}

#[test]
fn a_path_has_one_spelling() {
    for (text, path) in [
        ("a", "a"),
        ("./a", "a"),
        ("././a/b", "a/b"),
        (".a/..b/c..", ".a/..b/c.."),
        ("a b/ä", "a b/ä"),
    ] {
        assert_eq!(normalise(text).as_deref(), Ok(path), "{text}");
    }
    for (text, bad) in [
        ("", BadPath::EmptySegment),
        ("./", BadPath::EmptySegment),
        ("a//b", BadPath::EmptySegment),
        (".//a", BadPath::EmptySegment),
        ("a/", BadPath::EmptySegment),
        ("/a", BadPath::Absolute),
        (".", BadPath::Dots),
        ("..", BadPath::Dots),
        ("../a", BadPath::Dots),
        ("./../a", BadPath::Dots),
        ("a/../b", BadPath::Dots),
        ("a/./b", BadPath::Dots),
        ("a\\b", BadPath::Backslash),
        ("a\nb", BadPath::ControlCharacter),
        ("a\u{85}b", BadPath::ControlCharacter),
    ] {
        assert_eq!(normalise(text), Err(bad), "{text:?}");
    }
}

/// Lines that mean something in a diff, in any order.
fn diff_like() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[-+ \\\\]{0,2}[a-c \r]{0,3}",
        "@@ -[0-3](,[0-3])? \\+[0-3](,[0-3])? @@( x)?",
        "--- (a/[xy]|/dev/null|\"a/\\\\[0-9n]{1,3}\"|[xy]\t)",
        "\\+\\+\\+ (b/[xy]|/dev/null|\"b/\\\\[0-9n]{1,3}\"|[xy]\t)",
        "diff --git (a/x b/x|y y|a/x b/y|\"a/\\\\n\" \"b/\\\\n\")",
        "(new|deleted) file mode 100644",
        "rename (from|to) [xy]",
        Just("GIT binary patch".to_owned()),
        "literal [0-9]",
        any::<String>(),
    ];
    proptest::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

fn check_sound(revision: &Revision) {
    for (path, file) in revision.files() {
        assert_eq!(normalise(path).as_deref(), Ok(path));
        let numbers: Vec<u32> = file.lines().map(|(number, _)| number).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b) && !numbers.contains(&0));
        for (number, line) in file.lines() {
            assert_eq!(file.line(number), Some(line));
            let equal =
                |(at, other): &(u32, &str)| *at <= number && trimmed(other) == trimmed(line);
            let count = file.lines().filter(equal).count();
            assert_eq!(file.occurrence(number), Some(u32::try_from(count).unwrap()));
        }
    }
}

proptest! {
    #[test]
    fn whatever_comes_is_read_or_refused(text in prop_oneof![diff_like(), any::<String>()]) {
        if let Ok(revision) = Revision::of_diff(&text) {
            check_sound(&revision);
        }
    }

    #[test]
    fn whole_files_are_counted_alike(lines in "[ab \r\n]{0,20}") {
        let revision = Revision::of_files(&json!({ "a": lines })).unwrap();
        check_sound(&revision);
        let lines: Vec<_> = lines.split_terminator('\n').collect();
        let file = revision.file("a").unwrap();
        prop_assert_eq!(file.lines().map(|(_, line)| line).collect::<Vec<_>>(), lines);
    }
}
