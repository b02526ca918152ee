//! What a person wrote, and how it is looked through.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

pub(crate) struct Source {
    /// Relative to the project, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/")
            || self.path.starts_with("tests/")
            || self.path.ends_with("/tests.rs")
    }

    /// The text before the tests at its end.
    pub(crate) fn without_tests(&self) -> &str {
        self.text.split("\n#[cfg(test)]\nmod tests").next().unwrap()
    }

    pub(crate) fn is_in(&self, place: &str) -> bool {
        let rest = self.path.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Every text file of the project that a person wrote.
pub(crate) fn sources() -> Vec<Source> {
    let mut folders = vec![root()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let skipped = [
                "target",
                ".git",
                ".fencepost",
                ".spin",
                "samples",
                "vectors",
                "Cargo.lock",
            ];
            if skipped.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let path = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_string_lossy()
                    .replace('\\', "/");
                sources.push(Source { path, text });
            }
        }
    }
    assert!(sources.iter().filter(|source| source.is_rust()).count() > 20);
    sources
}

/// Runs a check over every source and fails with all that it finds.
pub(crate) fn check(mut find: impl FnMut(&Source, &mut dyn FnMut(String))) {
    let mut found = String::new();
    for source in sources() {
        find(&source, &mut |finding| {
            writeln!(found, "{}: {finding}", source.path).unwrap()
        });
    }
    assert!(found.is_empty(), "\n{found}");
}

pub(crate) fn is_word(text: &str, word: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-');
    text.match_indices(word).any(|(at, _)| {
        edge(text[..at].chars().next_back()) && edge(text[at + word.len()..].chars().next())
    })
}

/// The modules that a text names as `root::module`, alone or in a group: `root::{a, b::{c}}`.
pub(crate) fn modules_of<'t>(text: &'t str, root: &str) -> Vec<&'t str> {
    let path = format!("{root}::");
    let before = |at: usize| text[..at].chars().next_back();
    let at_edge = |at: usize| before(at).is_none_or(|c| !c.is_alphanumeric() && !"_:".contains(c));
    let places = text.match_indices(&path).filter(|(at, _)| at_edge(*at));
    let mut modules = Vec::new();
    for rest in places.map(|(at, _)| &text[at + path.len()..]) {
        let mut depth = 0;
        let mut begins = true;
        for (at, character) in rest.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => {
                    depth -= 1;
                    begins &= depth > 0;
                }
                ',' if depth == 1 => begins = true,
                _ if character.is_whitespace() => {}
                _ if begins && depth < 2 => {
                    let word = rest[at..].split(|c: char| !c.is_alphanumeric() && c != '_');
                    modules.extend(word.take(1));
                    begins = false;
                }
                _ => {}
            }
            if depth == 0 && !begins {
                break;
            }
        }
    }
    modules
}

#[test]
fn a_module_is_found_alone_and_in_a_group() {
    for (text, expected) in [
        ("use std::io;", vec!["io"]),
        ("std::io::Read", vec!["io"]),
        (
            "use std::{borrow::Cow, io::{self, Read}, fs};",
            vec!["borrow", "io", "fs"],
        ),
        (
            "use std::{\n    fmt,\n    net::IpAddr,\n};",
            vec!["fmt", "net"],
        ),
        ("my_std::io, other::std::io", vec![]),
    ] {
        assert_eq!(modules_of(text, "std"), expected, "{text}");
    }
}

pub(crate) fn code(line: &str) -> &str {
    line.split("//").next().unwrap()
}
