//! The shape of the code, held by a test: what stands where, who may name whom, and how long.

#![expect(
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

const COLUMNS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

/// A word, where alone it may stand, and why.
const WALLS: &[(&str, &[&str], &str)] = &[
    (
        "sqlx",
        &["backend/src/store", "backend/tests/store"],
        "only store speaks to a database",
    ),
    (
        "axum",
        &["backend/src/http", "backend/src/app"],
        "only http knows the web framework",
    ),
    (
        "spin_sdk",
        &["edge/src/component.rs"],
        "one file knows Spin",
    ),
    ("wasmtime", &["edge/host"], "only the host runs components"),
    (
        "aws_sdk_bedrockruntime",
        &["backend/src/extractor/bedrock"],
        "one provider's library stays with it",
    ),
    (
        "google_cloud_auth",
        &["backend/src/extractor/gemini"],
        "one provider's library stays with it",
    ),
    (
        "aws_config",
        &["backend/src/extractor/bedrock"],
        "one provider's library stays with it",
    ),
    (
        "reqwest",
        &[
            "backend/src/extractor",
            "backend/src/fetch",
            "backend/src/outbound",
            "backend/src/cli/send",
            "backend/src/cli/probe",
        ],
        "models are asked by extractor, content is fetched by fetch; send and probe speak to us",
    ),
    (
        "SystemTime::now",
        &["backend/src/clock.rs", "edge/src/component.rs"],
        "time is an argument",
    ),
];

/// A folder or file of the backend and the modules that it must not name.
const BACKEND_WALLS: &[(&str, &[&str])] = &[
    (
        "report",
        &["store", "worker", "http", "extractor", "app", "cli"],
    ),
    (
        "store",
        &["worker", "http", "extractor", "schema", "app", "cli"],
    ),
    (
        "findings",
        &[
            "store",
            "worker",
            "http",
            "extractor",
            "schema",
            "judge",
            "config",
            "app",
            "cli",
        ],
    ),
    ("http", &["extractor", "worker", "app", "cli"]),
    ("extractor", &["store", "worker", "http", "app", "cli"]),
    (
        "schema",
        &["store", "worker", "http", "extractor", "app", "cli"],
    ),
    (
        "judge",
        &["store", "worker", "http", "extractor", "app", "cli"],
    ),
    (
        "fetch",
        &["store", "worker", "http", "extractor", "app", "cli"],
    ),
    ("replay", &["worker", "http", "extractor", "app", "cli"]),
    ("retry", &["store", "worker", "http", "app", "cli"]),
    (
        "revision",
        &[
            "store",
            "worker",
            "http",
            "extractor",
            "judge",
            "config",
            "app",
            "cli",
        ],
    ),
    ("worker", &["http", "app", "cli"]),
];

/// What stands nowhere, spelled so that this file doesn't contain it.
const BANNED: &[(&str, &str)] = &[
    (
        concat!("TO", "DO"),
        "finish it or say in the documentation that it is not there",
    ),
    (concat!("FIX", "ME"), "fix it"),
    (concat!("todo", "!("), "finish it"),
    (concat!("unimplemented", "!("), "finish it"),
    (concat!("dbg", "!("), "a leftover"),
    (
        concat!("#[ign", "ore"),
        "a test that is not run proves nothing",
    ),
    (
        concat!("thread::sl", "eep"),
        "wait for a condition, not for a time",
    ),
    (
        concat!("crates", ".io/"),
        "no address of a package registry",
    ),
    (
        concat!("registry", ".npmjs"),
        "no address of a package registry",
    ),
    (concat!("py", "pi.org"), "no address of a package registry"),
    (
        concat!("deb", ".debian.org"),
        "no address of a package registry",
    ),
];

struct Source {
    /// Relative to the project, with `/`.
    path: String,
    text: String,
}

impl Source {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_test(&self) -> bool {
        self.path.contains("/tests/")
            || self.path.starts_with("tests/")
            || self.path.ends_with("/tests.rs")
    }

    /// The text before the tests at its end.
    fn without_tests(&self) -> &str {
        self.text.split("\n#[cfg(test)]\nmod tests").next().unwrap()
    }

    fn is_in(&self, place: &str) -> bool {
        let rest = self.path.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Every text file of the project that a person wrote.
fn sources() -> Vec<Source> {
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
fn check(mut find: impl FnMut(&Source, &mut dyn FnMut(String))) {
    let mut found = String::new();
    for source in sources() {
        find(&source, &mut |finding| {
            writeln!(found, "{}: {finding}", source.path).unwrap()
        });
    }
    assert!(found.is_empty(), "\n{found}");
}

fn is_word(text: &str, word: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-');
    text.match_indices(word).any(|(at, _)| {
        edge(text[..at].chars().next_back()) && edge(text[at + word.len()..].chars().next())
    })
}

/// The modules that a text names as `root::module`, alone or in a group: `root::{a, b::{c}}`.
fn modules_of<'t>(text: &'t str, root: &str) -> Vec<&'t str> {
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

fn code(line: &str) -> &str {
    line.split("//").next().unwrap()
}

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

/// What the shipped pipelines are about. The code knows kinds of pipelines, and none of these.
const SUBJECTS: &[&str] = &[
    "moderation",
    "moderator",
    "code review",
    "code-review",
    "code_review",
    "codereview",
    "review finding",
    "review-finding",
    "review_finding",
    "reviewfinding",
    "code-changes",
];

/// Where code names a shipped pipeline all the same, and why.
const SUBJECTS_STAND: &[(&str, &str)] = &[
    (
        "conformance/src/configuration.rs",
        "cases for the shipped sources",
    ),
    (
        "xtask/src/real_model.rs",
        "a model is measured with a shipped pipeline",
    ),
];

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
/// What identity takes of `std` all the same, where, and why that is no I/O.
const IDENTITY_TAKES: &[(&str, &str)] = &[
    // The decoder of gzip is a reader of bytes in memory.
    ("identity/src/admission/body.rs", "io"),
];

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
