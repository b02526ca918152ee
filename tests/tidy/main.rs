//! The shape of the code, held by a test: what stands where, who may name whom, and how long.

#![expect(
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod source;
mod walls;

use std::fs;

use source::{check, code, is_word, modules_of, root};
use walls::{BACKEND_WALLS, BANNED, IDENTITY_TAKES, SUBJECTS, SUBJECTS_STAND, WALLS};

const COLUMNS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

#[test]
fn lines_and_files_are_short() {
    check(|source, report| {
        let wide = [".rs", ".toml", ".wit", ".sql", ".yaml", ".sh"];
        if wide.iter().any(|ending| source.path.ends_with(ending)) {
            for (index, line) in source.text.lines().enumerate() {
                if line.chars().count() > COLUMNS_MAX {
                    report(format!("line {} is over {COLUMNS_MAX} columns", index + 1));
                }
            }
        }
        let lines = source.without_tests().lines().count();
        if source.is_rust() && !source.is_test() && lines > FILE_LINES_MAX {
            report(format!("{lines} lines, over {FILE_LINES_MAX}"));
        }
    });
}

#[test]
fn functions_are_short() {
    check(|source, report| {
        if !source.is_rust() {
            return;
        }
        let lines: Vec<&str> = source.text.lines().collect();
        for (start, line) in lines.iter().enumerate() {
            let is_function = is_word(code(line), "fn") && code(line).trim_end().ends_with('{');
            let indent = line.len() - line.trim_start().len();
            // Formatted code closes a function at the column that it began in.
            let end = format!("{}}}", " ".repeat(indent));
            let length = lines[start..]
                .iter()
                .position(|line| *line == end)
                .unwrap_or(0);
            if is_function && length > FUNCTION_LINES_MAX {
                report(format!("line {}: a function of {length} lines", start + 1));
            }
        }
    });
}

#[test]
fn files_are_named_for_what_happens_in_them() {
    check(|source, report| {
        let name = source.path.rsplit('/').next().unwrap();
        let stem = name.split('.').next().unwrap();
        if source.is_rust()
            && ["mod", "util", "utils", "common", "helper", "helpers"].contains(&stem)
        {
            report("a name that says nothing".into());
        }
    });
}

#[test]
fn nothing_is_left_unfinished() {
    check(|source, report| {
        // The list of banned calls has to name them.
        let is_ban = source.path == "clippy.toml";
        for (word, reason) in BANNED {
            if source.text.contains(word) && !is_ban {
                report(format!("`{word}`: {reason}"));
            }
        }
        if source.is_rust() && !source.is_test() {
            for call in [concat!(".unw", "rap()"), concat!(".exp", "ect(")] {
                let body = source.without_tests();
                for line in body.lines().filter(|line| code(line).contains(call)) {
                    // A parser's own method of that name returns a result and is no panic.
                    if !line.contains("self.expect(b") {
                        report(format!("`{call}` outside tests"));
                    }
                }
            }
        }
    });
}

#[test]
fn no_path_of_a_machine_stands_anywhere() {
    check(|source, report| {
        let roots =
            ["/work", "/root", "/farm", "/home", "/tmp/bash"].map(|root| format!("{root}/"));
        for root in &roots {
            for (at, _) in source.text.match_indices(root.as_str()) {
                let before = source.text[..at].chars().next_back();
                if before.is_none_or(|c| !c.is_alphanumeric() && !"_.}-".contains(c)) {
                    report(format!("`{root}` is a path of some machine"));
                }
            }
        }
    });
}

#[test]
fn walls_stand() {
    check(|source, report| {
        if !source.is_rust() || source.is_test() {
            return;
        }
        for (word, places, reason) in WALLS {
            let path = format!("{word}::");
            let named = source.text.lines().any(|line| {
                let code = code(line);
                is_word(code, word) && (word.contains("::") || code.contains(&path))
            });
            if named && !places.iter().any(|place| source.is_in(place)) {
                report(format!("`{word}`: {reason}"));
            }
        }
        for (place, modules) in BACKEND_WALLS {
            let place = format!("backend/src/{place}");
            if !source.is_in(&place) {
                continue;
            }
            let named = modules_of(source.without_tests(), "crate");
            for module in modules.iter().filter(|module| named.contains(module)) {
                report(format!("must not name `{module}`"));
            }
        }
    });
}

#[test]
fn only_store_writes_sql() {
    check(|source, report| {
        let statement = [
            "SELECT ",
            "INSERT INTO ",
            "UPDATE ",
            "DELETE FROM ",
            "PRAGMA ",
        ];
        let is_backend = source.path.starts_with("backend/src/") && source.is_rust();
        let in_store = source.is_in("backend/src/store");
        if is_backend && !in_store && statement.iter().any(|word| source.text.contains(word)) {
            report("SQL outside store".into());
        }
    });
}

#[test]
fn the_code_knows_no_pipeline() {
    check(|source, report| {
        let endings = [".rs", ".sql", ".wit"];
        let is_code = endings.iter().any(|ending| source.path.ends_with(ending));
        let may = SUBJECTS_STAND.iter().any(|(place, _)| source.is_in(place));
        if !is_code || source.is_test() || may {
            return;
        }
        let text = source.without_tests().to_lowercase();
        for word in SUBJECTS.iter().filter(|word| text.contains(**word)) {
            report(format!(
                "`{word}`: the code knows no pipeline; configuration does"
            ));
        }
    });
}

#[test]
fn crates_depend_in_one_direction() {
    let manifest = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let identity = manifest("identity/Cargo.toml");
    for other in [
        "fencepost",
        "tokio",
        "spin-sdk",
        "sqlx",
        "reqwest",
        "rand",
        "getrandom",
    ] {
        let names = |line: &&str| line.starts_with(&format!("{other}."));
        assert_eq!(identity.lines().find(names), None, "identity does no I/O");
    }
    let backend = manifest("backend/Cargo.toml");
    assert!(
        !backend.contains("fencepost-edge"),
        "edge → identity ← backend"
    );
    let edge = manifest("edge/Cargo.toml");
    assert!(
        !edge.lines().any(|line| line.starts_with("fencepost.")),
        "edge → identity ← backend"
    );
}

#[test]
fn the_image_is_built_from_every_crate() {
    let file = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let manifest = file("Cargo.toml");
    let members = manifest.split_once("members = [").unwrap().1;
    let members = members.split_once(']').unwrap().0.split('"');
    let ignored = file(".dockerignore");
    let mut crates = 0;
    for member in members.skip(1).step_by(2) {
        let folder = member.split('/').next().unwrap();
        let taken = ignored.lines().any(|line| line == format!("!{folder}"));
        assert!(taken, ".dockerignore: `!{folder}` is missing");
        crates += 1;
    }
    assert!(crates > 5, "the members were not found");
}

/// Whoever runs the image need not know what a program can be built without, and all of it is
/// tested.
#[test]
fn the_image_and_the_tests_have_every_provider() {
    let file = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let manifest = file("backend/Cargo.toml");
    let features = manifest.split_once("[features]").unwrap().1;
    let features = features.split_once("\n[").unwrap().0;
    let named = features.lines().filter_map(|line| line.split_once(" = ["));
    let providers: Vec<_> = named
        .map(|(name, _)| name)
        .filter(|name| *name != "failpoints")
        .collect();
    assert!(!providers.is_empty(), "the features were not found");
    let image = format!("--features {} ", providers.join(","));
    assert!(file("deploy/Containerfile").contains(&image), "{image}");
    let tested: Vec<_> = providers
        .iter()
        .map(|name| format!("fencepost/{name}"))
        .collect();
    let tested = format!("FEATURES: &str = \"{}\";", tested.join(","));
    assert!(file("xtask/src/programs.rs").contains(&tested), "{tested}");
}

#[test]
fn identity_does_no_io() {
    check(|source, report| {
        if !source.is_in("identity/src") {
            return;
        }
        let banned = ["env", "fs", "io", "net", "process", "thread", "time"];
        for module in modules_of(&source.text, "std") {
            let taken = IDENTITY_TAKES.contains(&(source.path.as_str(), module));
            if banned.contains(&module) && !taken {
                report(format!("`std::{module}`: identity does no I/O"));
            }
        }
        for word in ["SystemTime", "Instant", "RandomState"] {
            if source.text.contains(word) {
                report(format!("`{word}`: identity does no I/O"));
            }
        }
    });
}
