//! What git itself writes about two trees, held against the trees.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use proptest::{collection, prelude::*, sample::select};
use tempfile::TempDir;

use super::super::*;

type Tree = BTreeMap<String, String>;

const WAYS: &[&[&str]] = &[
    &[],
    &["--no-prefix"],
    &["-M", "-C", "--find-copies-harder"],
    &["-U0"],
    &["-U1", "--inter-hunk-context=1"],
    &["-U1000", "--patience", "--function-context"],
    &["--binary", "--full-index"],
    &["--src-prefix=i/", "--dst-prefix=w/", "-B"],
    &["-M10%", "--no-prefix", "-w"],
];

struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(TempDir::new().unwrap());
        repository.git(&["init", "--quiet"]);
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs git as it is without anybody's settings.
    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "core.autocrlf=false"])
            .args(arguments)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .env_remove("GIT_INDEX_FILE")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The name of a tree with these files and no others.
    fn tree(&self, tree: &Tree) -> String {
        self.git(&["read-tree", "--empty"]);
        for entry in fs::read_dir(self.path()).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with(".git") => {}
                true => fs::remove_dir_all(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
        for (name, text) in tree {
            let path = self.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.git(&["add", "--all", "--force"]);
        self.git(&["write-tree"]).trim().to_owned()
    }
}

/// Each shown line is the tree's, the added ones are all that a diff of whole files would add, and
/// no file is shown that is not there.
fn check(repository: &Repository, old: &Tree, new: &Tree) {
    let (before, after) = (repository.tree(old), repository.tree(new));
    for way in WAYS {
        for quoted in ["core.quotePath=true", "core.quotePath=false"] {
            let mut arguments = vec!["-c", quoted, "diff"];
            arguments.extend(*way);
            arguments.extend([before.as_str(), after.as_str()]);
            let diff = repository.git(&arguments);
            let revision = Revision::of_diff(&diff);
            let revision = revision.unwrap_or_else(|error| panic!("{way:?}: {error}\n{diff}"));
            let mut added = 0;
            for (path, file) in revision.files() {
                let lines: Vec<_> = new[path].split_terminator('\n').collect();
                for (number, line) in file.lines() {
                    let index = usize::try_from(number).unwrap() - 1;
                    assert_eq!(lines[index], line, "{way:?}, {path}:{number}\n{diff}");
                }
                added += file.added().count();
            }
            // What git counts, without a word about where.
            arguments.insert(3, "--numstat");
            let counted = repository.git(&arguments);
            let counted = counted.lines().filter_map(|line| line.split('\t').next());
            let counted: usize = counted
                .filter_map(|count| count.parse::<usize>().ok())
                .sum();
            assert_eq!(added, counted, "{way:?}\n{diff}");
        }
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let name = select(vec![
        "a",
        "b/a",
        "b/b",
        "a b",
        "d/a b/a b",
        "ä/ö",
        "q\"uote",
        "x -> y",
        "-",
        "dev/null",
    ]);
    let line = select(vec![
        "",
        " ",
        "one",
        " one",
        "one\t",
        "two",
        "--- a/a",
        "+++ b/a",
        "++ b/a",
        "-- a/a",
        "@@ -1 +1 @@",
        "diff --git a/a b/a",
        "\\ No newline at end of file",
        "\r",
        "one\r",
        "ä",
        "rename to a",
        "{",
        "}",
    ]);
    let text = (
        collection::vec(line, 0..14),
        select(vec!["", "\n", "\r\n", "\n\0"]),
    );
    let text = text.prop_map(|(lines, end)| match lines.is_empty() {
        true => String::new(),
        false => lines.join("\n") + end,
    });
    collection::btree_map(name.prop_map(str::to_owned), text, 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_git_shows_is_what_the_tree_holds(old in tree(), new in tree()) {
        check(&Repository::new(), &old, &new);
    }
}

#[test]
fn a_moved_and_edited_file_keeps_its_numbers() {
    let lines: String = (1..40).map(|number| format!("line {number}\n")).collect();
    let files = |name: &str, text: &str| Tree::from([(name.to_owned(), text.to_owned())]);
    let old = files("old name", &lines);
    let edited = lines.replace("line 20\n", "line 20\nline 20\n--- a/x\n");
    let new = files("new/näme", &edited.replace("line 3\n", ""));
    check(&Repository::new(), &old, &new);
}
